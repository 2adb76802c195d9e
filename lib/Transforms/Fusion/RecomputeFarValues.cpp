//===- RecomputeFarValues.cpp - Compute values again when needed ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rematerialisation in time. What a forward pass computes lives until its
// gradient reads it, though some of that costs little to compute again from
// what lives as long anyway: probabilities from the exponentials and their sum,
// normalised values from what was normalised.
//
// The readers of a value, in program order, have a *gap* where the kernels
// between one and the next write many times the value's bytes. If its cone
// (Cone.h) is cheap, and is computed from
//  * arguments of the program,
//  * what is much smaller than the value, or
//  * what others read behind a gap, too (the late readers of both need not come
//    in this order: `metaop-order-steps` brings them near each other),
// then a kernel in front of the first reader behind the gap computes it again,
// for all readers behind. It stays a kernel of its own: in one that has the
// value for its near readers, nothing would be gained.
//
// Large values are left alone, since to write and read them once more takes
// time that memory alone does not pay.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Fusion/Passes.h"

#include "Cone.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <functional>
#include <tuple>

namespace mlir::metaop {
#define GEN_PASS_DEF_RECOMPUTEFARVALUESPASS
#include "MetaOps/Transforms/Fusion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// The sizes of values that are worth it.
static constexpr int64_t kLeastBytes = int64_t(1) << 16, kMostBytes = int64_t(1)
                                                                      << 20;
/// The bytes that a gap writes, over the value's.
static constexpr int64_t kGapRatio = 8;
/// Of the cone; that of a division.
static constexpr int64_t kMaxPrice = 1;

namespace {

/// A use of a value or of a view of it.
struct FarUse {
  OpOperand *use;
  /// The number in the block of the operation that the use is in, and how many
  /// uses had been met before.
  unsigned number, met;
};

class FarRecomputer {
public:
  explicit FarRecomputer(Block &block);
  void run();

private:
  /// The uses of a value and of its views, in program order; none if the block
  /// yields one.
  std::optional<SmallVector<FarUse>> getUses(Value value) const;
  bool isGap(unsigned from, unsigned to, int64_t bytes) const;
  bool livesLong(Value leaf, unsigned from, int64_t bytes) const;
  FarUse *findFar(SmallVector<FarUse> &uses, int64_t bytes) const;
  void redirect(ArrayRef<FarUse> uses, Value value, Value again,
                OpBuilder &builder);
  bool recompute(OpResult value);

  Block &block;
  VaryingExtents varying;
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> numbers;
  /// The bytes that the operations before each one write.
  SmallVector<int64_t> written;
  /// Views that have been copied; erased in the end, as numbers are by address.
  llvm::SetVector<Operation *> copied;
};

} // namespace

FarRecomputer::FarRecomputer(Block &block) : block(block), varying(block) {
  written.push_back(0);
  for (Operation &op : block) {
    numbers[&op] = ops.size();
    ops.push_back(&op);
    int64_t bytes = written.back();
    if (isa<KernelOp>(op))
      for (Type type : op.getResultTypes())
        bytes = addCounts(bytes, countBytes(type));
    written.push_back(bytes);
  }
}

std::optional<SmallVector<FarUse>> FarRecomputer::getUses(Value value) const {
  SmallVector<FarUse> uses;
  SmallVector<Value> open = {value};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      auto number = numbers.find(block.findAncestorOpInBlock(*user));
      // A value that has been made since is no use of before.
      if (number == numbers.end())
        continue;
      if (user->hasTrait<OpTrait::IsTerminator>())
        return std::nullopt;
      if (isa<ViewOpInterface>(user))
        open.push_back(user->getResult(0));
      else
        uses.push_back({&use, number->second, unsigned(uses.size())});
    }
  llvm::sort(uses, [](const FarUse &a, const FarUse &b) {
    return std::tie(a.number, a.met) < std::tie(b.number, b.met);
  });
  return uses;
}

/// Returns whether the operations between two write much.
bool FarRecomputer::isGap(unsigned from, unsigned to, int64_t bytes) const {
  return to > from &&
         written[to] - written[from + 1] >= multiplyCounts(kGapRatio, bytes);
}

/// Returns whether a leaf of a value is small, or lives across a gap from
/// `from` on, too.
bool FarRecomputer::livesLong(Value leaf, unsigned from, int64_t bytes) const {
  Value root = leaf;
  while (root.getDefiningOp<ViewOpInterface>())
    root = root.getDefiningOp()->getOperand(0);
  if (isa<BlockArgument>(root) ||
      countBytes(leaf.getType()) <= bytes / kBroadcastRatio)
    return true;
  std::optional<SmallVector<FarUse>> uses = getUses(root);
  return !uses || (!uses->empty() && isGap(from, uses->back().number, bytes));
}

/// Finds the first use behind a gap; the end if there is none.
FarUse *FarRecomputer::findFar(SmallVector<FarUse> &uses, int64_t bytes) const {
  auto *far = uses.begin();
  while (far != uses.end() &&
         (far == uses.begin() || !isGap((far - 1)->number, far->number, bytes)))
    ++far;
  return far;
}

/// Computes the cone of what a kernel yields in another kernel.
static KernelOp copyCone(OpBuilder &builder, KernelOp kernel, const Cone &cone,
                         Value inner, RankedTensorType type) {
  SmallVector<Value> inputs;
  for (Value leaf : cone.leaves)
    inputs.push_back(getOuter(kernel, leaf));
  KernelOp again = buildStageKernel(
      builder, kernel.getLoc(), type, inputs, [&](ValueRange arguments) {
        IRMapping mapping;
        mapping.map(cone.leaves.getArrayRef(), arguments);
        for (Operation *op : cone.ops)
          builder.clone(*op, mapping);
        return SmallVector<Value>{mapping.lookup(inner)};
      });
  inheritRewrites(kernel, again, /*andForced=*/false);
  forbid(again, kJoinStages);
  return again;
}

/// Has uses of a value and of its views read another one and copies of these.
void FarRecomputer::redirect(ArrayRef<FarUse> uses, Value value, Value again,
                             OpBuilder &builder) {
  IRMapping views;
  views.map(value, again);
  std::function<Value(Value)> copyView = [&](Value viewed) -> Value {
    if (Value copy = views.lookupOrNull(viewed))
      return copy;
    Operation *view = viewed.getDefiningOp();
    copyView(view->getOperand(0));
    copied.insert(view);
    return builder.clone(*view, views)->getResult(0);
  };
  for (const FarUse &use : uses)
    use.use->set(copyView(use.use->get()));
}

/// Has uses behind the first gap read another kernel's result.
bool FarRecomputer::recompute(OpResult value) {
  auto kernel = cast<KernelOp>(value.getOwner());
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bytes = type.hasStaticShape() ? countBytes(type) : 0;
  if (bytes < kLeastBytes || bytes > kMostBytes)
    return false;
  Value inner =
      getOnlyStage(kernel).getYield().getOperand(value.getResultNumber());
  std::optional<SmallVector<FarUse>> uses = getUses(value);
  if (!uses || !isa_and_nonnull<ElementwiseOpInterface>(inner.getDefiningOp()))
    return false;
  FarUse *far = findFar(*uses, bytes);
  if (far == uses->end())
    return false;
  std::optional<Cone> cone = Cone::find(inner, varying);
  if (!cone || cone->getPrice() > kMaxPrice ||
      !llvm::all_of(cone->leaves, [&](Value leaf) {
        return livesLong(getOuter(kernel, leaf), uses->front().number, bytes);
      }))
    return false;
  OpBuilder builder(ops[far->number]);
  KernelOp again = copyCone(builder, kernel, *cone, inner, type);
  redirect(ArrayRef<FarUse>(far, uses->end()), value, again->getResult(0),
           builder);
  return true;
}

void FarRecomputer::run() {
  for (Operation *op : ops) {
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel || !getOnlyStage(kernel) ||
        isForbidden(kernel, kRecomputeValues))
      continue;
    for (OpResult value : kernel->getResults())
      recompute(value);
  }
  for (Operation *view : llvm::reverse(copied))
    if (isOpTriviallyDead(view))
      view->erase();
}

namespace {
struct RecomputeFarValues
    : metaop::impl::RecomputeFarValuesPassBase<RecomputeFarValues> {
  void runOnOperation() override {
    walkBlocks(getOperation().getBody(),
               [](Block &block) { FarRecomputer(block).run(); });
  }
};
} // namespace
