//===- SharedLoops.cpp - Values inside of shared loops --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An iteration of shared loops finds complete what it reads of an earlier stage
// if the shared loops number the same dimensions of the tensor in both stages,
// and no other dimension depends on them.
//
// Of such a tensor an iteration sees one index along each of these dimensions.
// A loop that is several collapsed dimensions is written as 0 along all but the
// last of them, so that dimensions of index 0 before the last are the loop's,
// or have extent 1.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "MetaOps/Dialect/MetaOp/Analysis/LinearForm.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

Value metaop::getOuterValue(FusedOp op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != op)
    return nullptr;
  return op.getInputs()[argument.getArgNumber()];
}

Operation *metaop::getOuterProducer(FusedOp op, Value value) {
  Value outer = getOuterValue(op, value);
  return outer ? outer.getDefiningOp() : nullptr;
}

/// The depth of the loop that an index is, if it is one of the shared ones.
static std::optional<unsigned> getSharedDepth(AffineExpr index,
                                              ArrayRef<int64_t> shared) {
  auto loop = dyn_cast<AffineDimExpr>(index);
  const auto *found =
      loop ? llvm::find(shared, loop.getPosition()) : shared.end();
  if (found == shared.end())
    return std::nullopt;
  return found - shared.begin();
}

static bool dependsOn(AffineExpr index, ArrayRef<int64_t> shared) {
  return llvm::any_of(
      shared, [&](int64_t loop) { return index.isFunctionOfDim(loop); });
}

bool metaop::staysInIteration(const StageWrite &write,
                              ArrayRef<int64_t> writerLoops,
                              const StageRead &read,
                              ArrayRef<int64_t> readerLoops) {
  if (!write.isProjection)
    return false;
  llvm::SmallBitVector numbering(writerLoops.size());
  for (auto [written, used] :
       llvm::zip_equal(write.map.getResults(), read.map.getResults())) {
    if (!dependsOn(written, writerLoops) && !dependsOn(used, readerLoops))
      continue;
    auto depth = getSharedDepth(written, writerLoops);
    if (!depth || depth != getSharedDepth(used, readerLoops))
      return false;
    numbering.set(*depth);
  }
  return numbering.all();
}

SmallVector<AffineExpr> metaop::getLocalShape(const StageWrite &write,
                                              ArrayRef<int64_t> loops) {
  AffineExpr one = getAffineConstantExpr(1, write.place.offset.getContext());
  SmallVector<AffineExpr> shape(write.shape);
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (!getSharedDepth(write.map.getResult(dim), loops))
      continue;
    shape[dim] = one;
    for (unsigned outer = dim; outer-- > 0;) {
      if (write.map.getResult(outer) != 0)
        break;
      shape[outer] = one;
    }
  }
  return shape;
}

AffineExpr metaop::getLocalOffset(AffineMap map, ArrayRef<AffineExpr> shape,
                                  ArrayRef<int64_t> loops) {
  MLIRContext *ctx = map.getContext();
  SmallVector<AffineExpr> inside;
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    inside.push_back(llvm::is_contained(loops, loop)
                         ? getAffineConstantExpr(0, ctx)
                         : getAffineDimExpr(loop, ctx));
  AffineExpr offset = getAffineConstantExpr(0, ctx);
  for (auto [index, extent] : llvm::zip_equal(map.getResults(), shape))
    offset = offset * extent + index.replaceDims(inside);
  return flattenExpr(offset, map.getNumDims(), map.getNumSymbols());
}

std::optional<int64_t> metaop::getNumElements(ArrayRef<AffineExpr> shape) {
  int64_t elements = 1;
  for (AffineExpr extent : shape) {
    auto constant = dyn_cast<AffineConstantExpr>(extent);
    if (!constant || llvm::MulOverflow(elements, constant.getValue(), elements))
      return std::nullopt;
  }
  return elements;
}
