//===- Latency.cpp - Latency of a stage's body ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function of an element is a polynomial, each of whose steps waits for the
// one before it: the latency of a body is its longest path, in cycles. While a
// vector waits, a processor works on later ones, but looks no further ahead
// than some hundred instructions. A path that is longer than these take leaves
// its units idle, whatever their number, unless vectors are computed side by
// side (UnrolledLoop.cpp).
//
// The cycles are those of usual processors, to a quarter or so: they choose
// between few numbers of vectors, and are no fact of the machine.
//
//===----------------------------------------------------------------------===//

#include "Latency.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"

using namespace mlir;
using namespace mlir::metaop;

/// Ten rounds of Philox, each of which multiplies and mixes.
static constexpr int64_t kRandomCycles = 120;

/// Returns the cycles of an operation on a vector, or none where it is called
/// for each lane.
static std::optional<int64_t> estimateCycles(Operation *op) {
  if (isa<RandomOp>(op))
    return kRandomCycles;
  switch (classifyOperation(op)) {
  case WorkClass::Arithmetic:
    return 4;
  case WorkClass::Divide:
    return 16;
  case WorkClass::Exponential:
    return 50;
  case WorkClass::Logarithm:
    return 60;
  case WorkClass::Tanh:
    return 70;
  case WorkClass::Erf:
    return 80;
  case WorkClass::Move:
  case WorkClass::Scattered:
  case WorkClass::LibraryCall:
    return std::nullopt;
  }
  llvm_unreachable("all classes of work are handled");
}

int64_t metaop::estimateLatency(const Stage &stage, unsigned loop) {
  llvm::SmallDenseMap<Value, int64_t> known;
  int64_t longest = 0;
  for (Operation *op : stage.body) {
    Value result = op->getResult(0);
    if (isa<IndirectOpInterface>(op))
      return 0;
    if (isa<ConstantOp>(op) || !stage.getLoopsOf(result).test(loop))
      continue;
    std::optional<int64_t> cycles = estimateCycles(op);
    if (!cycles)
      return 0;
    int64_t start = 0;
    for (Value operand : op->getOperands())
      start = std::max(start, known.lookup(operand));
    longest = std::max(longest, known[result] = start + *cycles);
  }
  return longest;
}
