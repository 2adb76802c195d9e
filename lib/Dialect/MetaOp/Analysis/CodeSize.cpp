//===- CodeSize.cpp - How much code an operation becomes ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel's code is its body times the copies that tiles, unrolled loops and
// rests make of it, and LLVM takes about 50 us per instruction of a loop body.
// Fusion and scheduling bound that product, so they count the same way, here:
// in instructions that one vector of results takes. Functions without a vector
// form are a call for each lane.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/CodeSize.h"

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"

using namespace mlir;
using namespace mlir::metaop;

/// An instruction, or a call with its moves, for each of 16 lanes.
static constexpr int64_t kPerLane = 48;
/// Loads and stores with their addresses.
static constexpr int64_t kAccess = 3;

/// A step of a prefix.
static constexpr int64_t kStep = 2;

static int64_t estimateElementwise(ElementwiseOpInterface op) {
  switch (op.getElementWork()) {
  case ElementWork::Arithmetic:
    return 1;
  case ElementWork::Division:
    return 4;
  case ElementWork::Exponential:
  case ElementWork::Logarithm:
    return 20;
  case ElementWork::Tanh:
  case ElementWork::Erf:
    return 30;
  case ElementWork::Call:
    return kPerLane;
  }
  llvm_unreachable("all kinds of work are handled");
}

int64_t metaop::estimateAccessCode(int64_t numChecks) {
  return kAccess * (1 + numChecks);
}

int64_t metaop::estimateCodeSize(Operation *op) {
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
    return estimateElementwise(elementwise);
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return kPerLane + getCombinerInfo(scatter.getReduceKind()).extraCode;
  if (isa<IndirectOpInterface>(op))
    return kPerLane;
  if (auto prefix = dyn_cast<PrefixOp>(op))
    return kStep + getCombinerInfo(prefix.getKind()).extraCode;
  if (isa<RandomOp>(op))
    return 80;
  auto count = [](IndexAccess access, bool isChecked) {
    int64_t conditions =
        access.conditions ? access.conditions.getNumConstraints() : 0;
    return estimateAccessCode(conditions +
                              (isChecked ? access.map.getNumResults() : 0));
  };
  if (auto reindex = dyn_cast<ReindexOpInterface>(op))
    return count(reindex.getIndexAccess(), !isInBounds(reindex));
  if (auto reduce = dyn_cast<ReindexReduceOpInterface>(op))
    return count(reduce.getIndexAccess(), /*isChecked=*/false) +
           getCombinerInfo(reduce.getReduceKind()).extraCode;
  return 1;
}
