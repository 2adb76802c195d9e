//===- SlicedFactors.cpp - Factors that begin at an operand ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlicedFactors.h"
#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::metaop;

/// Products of an element of a slice that are worth its copy. A tile takes
/// about a seventh of the time of a loop with tests; a copy takes as long as
/// three products of the latter.
static constexpr int64_t kMinProductsOfElement = 8;
/// Products of all that are worth compiling a tile: where a slice has another
/// length in each step of a loop, and no argument tells, there is one for each.
static constexpr int64_t kMinAllProducts = 1 << 24;

bool metaop::isWorthSlicing(const Stage &stage,
                            const Contraction &contraction) {
  int64_t all = 1;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
    all = multiplyCounts(all, stage.getClassExtent(loop));
  if (all < kMinAllProducts)
    return false;
  bool readsSlices = false;
  for (const Contraction::Factor &factor : contraction.factors)
    for (const StageRead *read : factor.reads) {
      auto op = read->value.getDefiningOp<ReindexOpInterface>();
      if (!op || op.getIndexAccess().symbols.empty())
        continue;
      readsSlices = true;
      llvm::SmallBitVector loops = stage.getLoopsOf(read->value);
      loops.resize(stage.getNumLoops());
      int64_t products = 1;
      for (unsigned loop : loops.flip().set_bits())
        products = multiplyCounts(products, stage.getClassExtent(loop));
      if (products < kMinProductsOfElement)
        return false;
    }
  return readsSlices;
}

static bool usesSymbols(AffineExpr expr, unsigned numSymbols) {
  return llvm::any_of(llvm::seq(numSymbols), [&](unsigned symbol) {
    return expr.isFunctionOfSymbol(symbol);
  });
}

namespace {
/// A read, the tensor that its slice is copied to, the places of the elements
/// of that in the source, and how it is read instead.
struct SlicedRead {
  ReindexOp read;
  RankedTensorType type;
  IndexAccess inSource;
  IndexAccess inCopy;
};
} // namespace

/// Returns a condition on the iteration as one on the element of the copy that
/// the iteration reads, if it is that of an index.
static AffineExpr toElement(AffineExpr condition, ArrayRef<AffineExpr> inCopy,
                            unsigned numDims, unsigned numSymbols) {
  for (auto [position, index] : llvm::enumerate(inCopy))
    for (int64_t sign : {1, -1}) {
      AffineExpr rest =
          simplifyAffineExpr(condition - index * sign, numDims, numSymbols);
      if (isa<AffineConstantExpr>(rest))
        return getAffineDimExpr(position, condition.getContext()) * sign + rest;
    }
  return {};
}

/// Returns conditions on iterations as conditions on elements of a copy, if all
/// of them are such.
static std::optional<IntegerSet> toElements(IntegerSet conditions,
                                            ArrayRef<AffineExpr> inCopy,
                                            unsigned numSymbols) {
  if (!conditions)
    return conditions;
  SmallVector<AffineExpr> ofElements;
  for (AffineExpr condition : conditions.getConstraints()) {
    AffineExpr ofElement =
        toElement(condition, inCopy, conditions.getNumDims(), numSymbols);
    if (!ofElement)
      return std::nullopt;
    ofElements.push_back(ofElement);
  }
  return IntegerSet::get(inCopy.size(), numSymbols, ofElements,
                         conditions.getEqFlags());
}

/// Returns the slice that a read is of, if its starts are added to functions of
/// the iteration.
static std::optional<SlicedRead> findSlice(ReindexOp read) {
  auto source = dyn_cast<BlockArgument>(read.getSource());
  auto space = cast<RankedTensorType>(read.getType());
  if (!source || !space.hasStaticShape() || space.getNumElements() == 0)
    return std::nullopt;
  AffineMap map = read.getMap();
  MLIRContext *ctx = read.getContext();
  unsigned numDims = map.getNumDims(), numSymbols = map.getNumSymbols();
  SmallVector<AffineExpr> zeros(numDims, getAffineConstantExpr(0, ctx));
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> inSource, inCopy;
  for (AffineExpr index : map.getResults()) {
    AffineExpr start = index.replaceDims(zeros);
    AffineExpr moved = simplifyAffineExpr(index - start, numDims, numSymbols);
    IndexInterval range = getInterval(moved, space.getShape());
    if (usesSymbols(moved, numSymbols) || !range.lower || !range.upper)
      return std::nullopt;
    inSource.push_back(start + *range.lower +
                       getAffineDimExpr(shape.size(), ctx));
    inCopy.push_back(
        simplifyAffineExpr(moved - *range.lower, numDims, /*numSymbols=*/0));
    shape.push_back(*range.upper - *range.lower + 1);
  }
  auto conditions =
      toElements(read.getWhere().value_or(IntegerSet()), inCopy, numSymbols);
  if (!conditions)
    return std::nullopt;
  auto getMap = [&](unsigned dims, unsigned symbols, ArrayRef<AffineExpr> at) {
    return AffineMap::get(dims, symbols, at, ctx);
  };
  return SlicedRead{
      read,
      cast<RankedTensorType>(source.getType()).clone(shape),
      {getMap(shape.size(), numSymbols, inSource),
       {},
       *conditions,
       read.getFill()},
      {getMap(numDims, 0, inCopy), {}, IntegerSet(), read.getFill()}};
}

/// Creates a kernel that copies a slice. `outside` leads from the arguments of
/// the stage to what they are.
static KernelOp buildCopy(OpBuilder &b, const SlicedRead &slice,
                          const IRMapping &outside) {
  ReindexOp read = slice.read;
  SmallVector<Value> inputs{outside.lookup(read.getSource())};
  for (Value symbol : read.getSymbols())
    inputs.push_back(outside.lookup(symbol));
  return buildStageKernel(
      b, read.getLoc(), slice.type, inputs, [&](ValueRange arguments) {
        IndexAccess access = slice.inSource;
        access.symbols = llvm::to_vector(arguments.drop_front());
        return SmallVector<Value>{ReindexOp::create(
            b, read.getLoc(), slice.type, arguments[0], access)};
      });
}

/// Creates a kernel of the stage that reads copies.
static KernelOp buildRest(OpBuilder &b, KernelOp kernel, FusedOp fused,
                          ArrayRef<SlicedRead> slices, ValueRange copies,
                          const IRMapping &outside) {
  auto findCopy = [&](Operation &op) {
    return llvm::find_if(
        slices, [&](const SlicedRead &slice) { return slice.read == &op; });
  };
  SmallVector<Value> kept, inputs;
  for (Value argument : fused.getBody().getArguments())
    if (llvm::any_of(argument.getUsers(), [&](Operation *user) {
          return findCopy(*user) == slices.end();
        })) {
      kept.push_back(argument);
      inputs.push_back(outside.lookup(argument));
    }
  inputs.append(copies.begin(), copies.end());
  KernelOp rest = buildStageKernel(
      b, kernel.getLoc(), kernel.getResultTypes(), inputs,
      [&](ValueRange arguments) {
        IRMapping mapping;
        mapping.map(kept, arguments.take_front(kept.size()));
        ValueRange copied = arguments.drop_front(kept.size());
        for (Operation &op : fused.getBody().front().without_terminator()) {
          const SlicedRead *slice = findCopy(op);
          if (slice == slices.end()) {
            b.clone(op, mapping);
            continue;
          }
          mapping.map(op.getResult(0),
                      ReindexOp::create(
                          b, op.getLoc(),
                          cast<RankedTensorType>(op.getResult(0).getType()),
                          copied[slice - slices.begin()], slice->inCopy)
                          .getResult());
        }
        return llvm::map_to_vector(
            fused.getYield().getOperands(),
            [&](Value value) { return mapping.lookup(value); });
      });
  if (Attribute varying = fused->getAttr(kVaryingAttr))
    (*rest.getBody().getOps<FusedOp>().begin())->setAttr(kVaryingAttr, varying);
  return rest;
}

SmallVector<KernelOp> metaop::copySlices(KernelOp kernel, FusedOp fused) {
  SmallVector<SlicedRead> slices;
  for (auto read : fused.getBody().getOps<ReindexOp>())
    if (!read.getSymbols().empty()) {
      std::optional<SlicedRead> slice = findSlice(read);
      if (!slice)
        return {};
      slices.push_back(*slice);
    }
  IRMapping outside;
  for (auto [argument, inner] :
       llvm::zip_equal(fused.getBody().getArguments(), fused.getInputs()))
    outside.map(argument,
                kernel.getInputs()[cast<BlockArgument>(inner).getArgNumber()]);
  OpBuilder b(kernel);
  SmallVector<KernelOp> built;
  SmallVector<Value> copies;
  for (const SlicedRead &slice : slices) {
    built.push_back(buildCopy(b, slice, outside));
    inheritRewrites(kernel, built.back(), /*andForced=*/false);
    copies.push_back(built.back().getResult(0));
  }
  built.push_back(buildRest(b, kernel, fused, slices, copies, outside));
  inheritRewrites(kernel, built.back(), /*andForced=*/true);
  return built;
}
