//===- RecomputeValues.cpp - Compute cheap values again -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rematerialisation between kernels. A normalisation computes `x - mean` for
// the variance, and again for its result. Between the two lies a reduction, so
// by Rule 2 they are in two kernels, and fusion lets the first write the
// difference to memory. Reading x once more instead costs the second nothing
// that reading the difference did not, and the write is saved, and so is the
// memory.
//
// Values that kernels give to other kernels are taken in program order. The
// *cone* of a value is what its kernel computes it from: element-wise ops,
// broadcasts and constants back to the kernel's inputs. If every reader uses
// the value element by element, the cone may be copied into each of them:
//
//   saved = bytes of the value * (1 + readers)
//   added = for each reader, the bytes of inputs that it does not read yet, and
//           the price of the cone's ops
//
// It is copied if more is saved than added, and no reader becomes too much code
// or reads too many tensors for one kernel by it. A store reads its cache line
// before; that is saved, too, but counts only where memory is: if the inputs
// that have to live on have no more bytes than the value. Then, as much may be
// added as is saved. The kernel that computed the value no longer returns it.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/CodeSize.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Fusion/Passes.h"
#include "MetaOps/Transforms/Simplify/Producers.h"

#include "Cone.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_RECOMPUTEVALUESPASS
#include "MetaOps/Transforms/Fusion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Bytes this many times fewer than the value's decide nothing.
static constexpr int64_t kTieRatio = 64;
/// Tensors that a kernel that computes a cone may read.
static constexpr size_t kMaxInputs = 64;

//===----------------------------------------------------------------------===//
// New kernels
//===----------------------------------------------------------------------===//

/// Builds a kernel of one stage in place of another: with other inputs, of
/// which `start` makes what stands for the old ones, and with those results
/// only that `keeps` names. What is computed twice, or for nothing, goes.
static void
rebuild(KernelOp kernel, ArrayRef<Value> inputs, ArrayRef<unsigned> keeps,
        llvm::function_ref<void(OpBuilder &, ValueRange, IRMapping &)> start) {
  FusedOp fused = getOnlyStage(kernel);
  OpBuilder builder(kernel);
  SmallVector<Type> types;
  for (unsigned result : keeps)
    types.push_back(kernel.getType(result));
  KernelOp newKernel = buildStageKernel(
      builder, kernel.getLoc(), types, inputs, [&](ValueRange arguments) {
        IRMapping mapping;
        start(builder, arguments, mapping);
        for (Operation &op : fused.getBody().front().without_terminator())
          builder.clone(op, mapping);
        SmallVector<Value> yielded;
        for (unsigned result : keeps)
          yielded.push_back(
              mapping.lookup(fused.getYield().getOperand(result)));
        return yielded;
      });
  for (auto [i, result] : llvm::enumerate(keeps))
    kernel.getResult(result).replaceAllUsesWith(newKernel.getResult(i));
  inheritRewrites(kernel, newKernel, /*andForced=*/true);
  IRRewriter rewriter(newKernel.getContext());
  DominanceInfo dominance(newKernel);
  eliminateCommonSubExpressions(rewriter, dominance, newKernel);
}

/// Instructions, about, of some operations.
template <typename Range> static int64_t getCode(Range &&ops) {
  int64_t code = 0;
  for (Operation *op : ops)
    code += estimateCodeSize(op);
  return code;
}

/// Returns whether a kernel stays small with the cone in it.
static bool hasRoom(KernelOp reader, const Cone &cone) {
  Block &body = getOnlyStage(reader).getBody().front();
  return reader.getInputs().size() + cone.leaves.size() <= kMaxInputs &&
         getCode(llvm::make_pointer_range(body)) + getCode(cone.ops) <=
             kMaxBodyCode;
}

namespace {

class Recomputer {
public:
  explicit Recomputer(Block &block) : block(block), varying(block) {}
  LogicalResult run();

private:
  bool recompute(OpResult value);
  void copyInto(KernelOp reader, OpResult value, const Cone &cone);
  void dropUnread(KernelOp kernel);

  Block &block;
  VaryingExtents varying;
};

} // namespace

/// The kernels that read a value, if these are all, in its own block, and use
/// it point by point.
static std::optional<SmallVector<KernelOp>> getReaders(Value value) {
  llvm::SmallSetVector<Operation *, 4> readers;
  for (OpOperand &use : value.getUses()) {
    auto reader = dyn_cast<KernelOp>(use.getOwner());
    FusedOp fused = reader ? getOnlyStage(reader) : FusedOp();
    if (!fused || reader->getBlock() != value.getParentBlock())
      return std::nullopt;
    Value inner = fused.getBody().front().getArgument(use.getOperandNumber());
    if (!llvm::all_of(inner.getUses(), isPointwiseUse))
      return std::nullopt;
    readers.insert(reader);
  }
  if (readers.empty())
    return std::nullopt;
  return llvm::map_to_vector(readers,
                             [](Operation *op) { return cast<KernelOp>(op); });
}

bool Recomputer::recompute(OpResult value) {
  auto kernel = cast<KernelOp>(value.getOwner());
  FusedOp fused = getOnlyStage(kernel);
  auto readers = getReaders(value);
  if (!readers)
    return false;
  Value inner = fused.getYield().getOperand(value.getResultNumber());
  if (!isa_and_nonnull<ElementwiseOpInterface>(inner.getDefiningOp()))
    return false;
  std::optional<Cone> cone = Cone::find(inner, varying);
  if (!cone || !llvm::all_of(*readers, [&](KernelOp reader) {
        return hasRoom(reader, *cone);
      }))
    return false;

  int64_t bytes = countBytes(value.getType()), saved = bytes, added = 0;
  llvm::SetVector<Value> fresh;
  int64_t price = multiplyCounts(cone->getPrice(), bytes);
  for (KernelOp reader : *readers) {
    saved = addCounts(saved, bytes);
    added = addCounts(added, price);
    for (Value leaf : cone->leaves)
      if (Value outer = getOuter(kernel, leaf);
          !llvm::is_contained(reader.getInputs(), outer)) {
        added = addCounts(added, countBytes(outer.getType()));
        fresh.insert(outer);
      }
  }
  int64_t kept = 0;
  for (Value outer : fresh)
    kept = addCounts(kept, countBytes(outer.getType()));
  int64_t tie = bytes / kTieRatio;
  bool frees = kept - bytes <= tie;
  bool isWorthIt = frees ? added - saved <= bytes + tie : added < saved;
  bool isForced = metaop::isForced(kernel, kRecomputeValues);
  if (!isWorthIt && !isForced)
    return false;
  for (KernelOp reader : *readers) {
    // A kernel that a user has named may be gone otherwise.
    if (isForced)
      reader->setLoc(FusedLoc::get(reader.getContext(),
                                   {reader.getLoc(), kernel.getLoc()}));
    copyInto(reader, value, *cone);
  }
  return true;
}

void Recomputer::copyInto(KernelOp reader, OpResult value, const Cone &cone) {
  auto kernel = cast<KernelOp>(value.getOwner());
  llvm::SetVector<Value> inputs;
  for (Value input : reader.getInputs())
    if (input != value)
      inputs.insert(input);
  for (Value leaf : cone.leaves)
    inputs.insert(getOuter(kernel, leaf));

  SmallVector<unsigned> all =
      llvm::to_vector(llvm::seq<unsigned>(0, reader.getNumResults()));
  Block &oldBody = getOnlyStage(reader).getBody().front();
  rebuild(reader, inputs.getArrayRef(), all,
          [&](OpBuilder &builder, ValueRange arguments, IRMapping &mapping) {
            auto find = [&](Value outer) {
              return arguments[std::distance(inputs.begin(),
                                             llvm::find(inputs, outer))];
            };
            IRMapping cloned;
            for (Value leaf : cone.leaves)
              cloned.map(leaf, find(getOuter(kernel, leaf)));
            for (Operation *op : cone.ops)
              builder.clone(*op, cloned);
            Value again =
                cloned.lookup(getOnlyStage(kernel).getYield().getOperand(
                    value.getResultNumber()));
            for (auto [argument, input] :
                 llvm::zip_equal(oldBody.getArguments(), reader.getInputs()))
              mapping.map(argument, input == value ? again : find(input));
          });
  reader.erase();
}

/// Leaves out the results that nothing reads any more, and what only they need.
void Recomputer::dropUnread(KernelOp kernel) {
  SmallVector<unsigned> keeps;
  for (OpResult result : kernel->getResults())
    if (!result.use_empty())
      keeps.push_back(result.getResultNumber());
  if (keeps.size() == kernel.getNumResults())
    return;
  if (!keeps.empty()) {
    SmallVector<Value> inputs(kernel.getInputs());
    rebuild(kernel, inputs, keeps,
            [&](OpBuilder &, ValueRange arguments, IRMapping &mapping) {
              mapping.map(getOnlyStage(kernel).getBody().front().getArguments(),
                          arguments);
            });
  }
  kernel.erase();
}

LogicalResult Recomputer::run() {
  // Copying replaces readers, which stand further behind.
  for (Operation *op = &block.front(); op;) {
    auto kernel = dyn_cast<KernelOp>(op);
    op = op->getNextNode();
    if (!kernel || !getOnlyStage(kernel) ||
        isForbidden(kernel, kRecomputeValues))
      continue;
    bool changed = false;
    for (OpResult value : kernel->getResults())
      changed |= recompute(value);
    if (!changed && isForced(kernel, kRecomputeValues))
      return emitCannotForce(kernel, kRecomputeValues)
             << "none of its values is element-wise, cheap to compute from its "
                "inputs, and read element by element by kernels alone";
    op = kernel->getNextNode();
    if (changed)
      dropUnread(kernel);
  }
  return success();
}

namespace {
struct RecomputeValues
    : metaop::impl::RecomputeValuesPassBase<RecomputeValues> {
  void runOnOperation() override {
    if (failed(walkBlocks(getOperation().getBody(), [](Block &block) {
          return Recomputer(block).run();
        })))
      signalPassFailure();
  }
};
} // namespace
