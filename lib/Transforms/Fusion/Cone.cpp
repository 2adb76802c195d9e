//===- Cone.cpp - What a value of a kernel is computed from ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cone.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Simplify/Producers.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::metaop;

/// Larger cones only cost compile time: of operations for each element, and of
/// all together.
static constexpr size_t kMaxElementOps = 16, kMaxConeOps = 64;

FusedOp metaop::getOnlyStage(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  auto fused = dyn_cast<FusedOp>(body.front());
  bool isWhole = fused && kernel.getYield().getOperands() == fused.getResults();
  return isWhole && fused->getNextNode() == kernel.getYield().getOperation()
             ? fused
             : FusedOp();
}

SmallVector<ElementwiseOpInterface> Cone::getElementOps() const {
  llvm::SmallPtrSet<Operation *, 16> broadcasts;
  SmallVector<ElementwiseOpInterface> result;
  for (Operation *op : ops) {
    auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
    if (elementwise && !llvm::all_of(op->getOperands(), [&](Value operand) {
          return operand.getDefiningOp() &&
                 broadcasts.contains(operand.getDefiningOp());
        }))
      result.push_back(elementwise);
    else
      broadcasts.insert(op);
  }
  return result;
}

int64_t Cone::getPrice() const {
  int64_t price = 0;
  for (ElementwiseOpInterface op : getElementOps())
    price += *getElementPrice(op);
  return price;
}

static int64_t countPlannedBytes(Value value, const VaryingExtents &varying) {
  auto type = cast<RankedTensorType>(value.getType());
  return multiplyCounts(varying.countElements(type.getShape()),
                        getElementBytes(type));
}

/// Returns whether the op may be in a cone: a broadcast of something much
/// smaller, or element-wise, or a constant.
static bool isConeOp(Operation *op, int64_t bytes,
                     const VaryingExtents &varying) {
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
    return getElementPrice(elementwise).has_value();
  if (auto reindex = dyn_cast<ReindexOpInterface>(op))
    return countPlannedBytes(reindex.getSource(), varying) <=
           bytes / kBroadcastRatio;
  return isCheapGenerator(op);
}

std::optional<Cone> Cone::find(Value value, const VaryingExtents &varying) {
  int64_t bytes = countPlannedBytes(value, varying);
  llvm::SmallSetVector<Operation *, 8> found;
  Cone cone;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op) {
      cone.leaves.insert(next);
      continue;
    }
    if (!isConeOp(op, bytes, varying))
      return std::nullopt;
    if (!found.insert(op))
      continue;
    if (found.size() > kMaxConeOps)
      return std::nullopt;
    llvm::append_range(open, op->getOperands());
  }
  cone.ops = found.takeVector();
  llvm::sort(cone.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  if (cone.getElementOps().size() > kMaxElementOps)
    return std::nullopt;
  return cone;
}
