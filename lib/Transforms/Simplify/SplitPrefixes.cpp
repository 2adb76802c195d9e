//===- SplitPrefixes.cpp - Blocks of long prefixes side by side -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A prefix goes through each line in blocks, and each step waits for the one
// before it. Where lines are long and few, that leaves vectors and threads with
// nothing to do beside. But what the elements of a block make depends on the
// block alone, so blocks can be lines of their own:
//
//   s[b, k] = x[b * B + k]
//   local = prefix(s) along k
//   carry = exclusive prefix(local[b, B - 1]) along b
//   result[b * B + k] = combine(carry[b], local[b, k])
//
// which are the steps that the one loop does (Prefixes.cpp of the lowering),
// and the same bits. What does not fill a block is a line at the end, whose
// carry is the last result of the others. Products have no blocks.
//
// Backwards, blocks are counted from the end of the line. Of an exclusive
// prefix, `local` is one, and what a block makes takes one step more. Prefixes
// of half floats are computed in f32 all the way.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Prefix.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SPLITPREFIXESPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// So many lines are enough chains side by side.
static constexpr int64_t kManyLines = 16;
/// Fewer blocks are not worth further kernels.
static constexpr int64_t kFewBlocks = 8;

namespace {

/// The prefixes of some lines, or of blocks of them, each from its own first
/// element on.
struct Prefixes {
  Value source;
  Value local;
};

class Splitter {
public:
  explicit Splitter(PrefixOp op)
      : op(op), b(op), loc(op.getLoc()), shape(op.getType().getShape()),
        dim(op.getDim()), extent(shape[dim]) {
    Type element = op.getType().getElementType();
    bool isHalf = element.isF16() || element.isBF16();
    computed = isHalf ? b.getF32Type() : element;
  }

  static bool isWorthIt(PrefixOp op);
  Value build();

private:
  bool isReverse() { return op.getReverse(); }
  /// The number of the last one of `count` elements, in their order.
  int64_t getLast(int64_t count) { return isReverse() ? 0 : count - 1; }

  Value read(int64_t begin, int64_t count, int64_t blocks);
  Value take(Value source, unsigned along, int64_t index);
  Value spread(Value source, Value like);
  Value prefix(Value source, unsigned along, bool exclusive);
  Value combine(Value before, Value x);

  Prefixes makePrefixes(Value source, unsigned along);
  Value getTotal(const Prefixes &prefixes, unsigned along);
  Value addCarry(Value carry, const Prefixes &prefixes);
  Value buildBlocks(int64_t begin);
  Value buildRest(int64_t begin, int64_t count);
  Value flatten(Value value, int64_t count);

  PrefixOp op;
  OpBuilder b;
  Location loc;
  ArrayRef<int64_t> shape;
  unsigned dim;
  int64_t extent;
  Type computed;
  /// Of each block, what comes before it, and what it makes.
  Value carry, total;
};

} // namespace

bool Splitter::isWorthIt(PrefixOp op) {
  RankedTensorType type = op.getType();
  if (!type.hasStaticShape() || !op.getBlock())
    return false;
  int64_t extent = type.getDimSize(op.getDim());
  return extent >= kFewBlocks * kPrefixBlock &&
         type.getNumElements() / extent < kManyLines;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// `blocks` times `count` elements, from `begin` on; one block has no dimension
/// of its own.
Value Splitter::read(int64_t begin, int64_t count, int64_t blocks) {
  SmallVector<int64_t> extents(shape);
  extents[dim] = count;
  bool hasBlocks = blocks > 1;
  if (hasBlocks)
    extents.insert(extents.begin() + dim, blocks);
  SmallVector<AffineExpr> places;
  for (unsigned i = 0; i < shape.size(); ++i)
    places.push_back(b.getAffineDimExpr(i >= dim && hasBlocks ? i + 1 : i));
  places[dim] = places[dim] + begin;
  if (hasBlocks)
    places[dim] = places[dim] + b.getAffineDimExpr(dim) * count;
  IndexAccess access;
  access.map = AffineMap::get(extents.size(), 0, places, b.getContext());
  Type element = op.getType().getElementType();
  access.fill = getNumberAttr(element, 0.0);
  Value part =
      ReindexOp::create(b, loc, RankedTensorType::get(extents, element),
                        op.getSource(), access, ValueRange());
  if (element == computed)
    return part;
  return CastOp::create(b, loc, RankedTensorType::get(extents, computed), part);
}

/// One element along a dimension, which stays.
Value Splitter::take(Value source, unsigned along, int64_t index) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> extents(type.getShape());
  extents[along] = 1;
  IndexAccess access;
  access.map = b.getMultiDimIdentityMap(extents.size())
                   .replace(b.getAffineDimExpr(along),
                            b.getAffineConstantExpr(index), extents.size(), 0);
  access.fill = getNumberAttr(type.getElementType(), 0.0);
  return ReindexOp::create(b, loc, type.clone(extents), source, access,
                           ValueRange());
}

/// The source, whose extents are those of `like` or 1, in that shape.
Value Splitter::spread(Value source, Value like) {
  auto from = cast<RankedTensorType>(source.getType());
  auto to = cast<RankedTensorType>(like.getType());
  SmallVector<AffineExpr> places;
  for (int64_t i = 0; i < to.getRank(); ++i)
    places.push_back(from.getDimSize(i) == 1 ? b.getAffineConstantExpr(0)
                                             : b.getAffineDimExpr(i));
  IndexAccess access;
  access.map = AffineMap::get(to.getRank(), 0, places, b.getContext());
  access.fill = getNumberAttr(from.getElementType(), 0.0);
  return ReindexOp::create(b, loc, from.clone(to.getShape()), source, access,
                           ValueRange());
}

Value Splitter::prefix(Value source, unsigned along, bool exclusive) {
  return PrefixOp::create(b, loc, source.getType(), op.getKind(), source,
                          /*factors=*/Value(), along, isReverse(), exclusive,
                          /*serial=*/true);
}

Value Splitter::combine(Value before, Value x) {
  metaop::detail::TensorEmitter emit(b, loc);
  return getCombinerInfo(op.getKind()).emitTensors(emit, before, x);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Prefixes Splitter::makePrefixes(Value source, unsigned along) {
  return {source, prefix(source, along, op.getExclusive())};
}

/// Returns the prefix of all elements of each line.
Value Splitter::getTotal(const Prefixes &prefixes, unsigned along) {
  int64_t count =
      cast<RankedTensorType>(prefixes.source.getType()).getDimSize(along);
  Value last = take(prefixes.local, along, getLast(count));
  if (!op.getExclusive())
    return last;
  return combine(last, take(prefixes.source, along, getLast(count)));
}

Value Splitter::addCarry(Value carry, const Prefixes &prefixes) {
  return combine(spread(carry, prefixes.local), prefixes.local);
}

/// The blocks, without what is left over, as one dimension.
Value Splitter::buildBlocks(int64_t begin) {
  int64_t blocks = extent / kPrefixBlock;
  unsigned within = dim + 1;
  Prefixes prefixes = makePrefixes(read(begin, kPrefixBlock, blocks), within);
  total = getTotal(prefixes, within);
  carry = prefix(total, dim, /*exclusive=*/true);
  return flatten(addCarry(carry, prefixes), blocks * kPrefixBlock);
}

/// Builds what does not fill a block.
Value Splitter::buildRest(int64_t begin, int64_t count) {
  int64_t last = getLast(extent / kPrefixBlock);
  Value before = combine(take(carry, dim, last), take(total, dim, last));
  return addCarry(flatten(before, 1),
                  makePrefixes(read(begin, count, /*blocks=*/1), dim));
}

/// The value with both dimensions of the blocks as one.
Value Splitter::flatten(Value value, int64_t count) {
  SmallVector<int64_t> extents(shape);
  extents[dim] = count;
  return ReshapeOp::create(b, loc, RankedTensorType::get(extents, computed),
                           value, ValueRange());
}

Value Splitter::build() {
  int64_t rest = extent % kPrefixBlock;
  Value result = buildBlocks(isReverse() ? rest : 0);
  if (rest > 0) {
    SmallVector<Value> parts{result,
                             buildRest(isReverse() ? 0 : extent - rest, rest)};
    if (isReverse())
      std::swap(parts[0], parts[1]);
    result = ConcatOp::create(b, loc, RankedTensorType::get(shape, computed),
                              parts, dim);
  }
  if (result.getType() != op.getType())
    result = CastOp::create(b, loc, op.getType(), result);
  return result;
}

namespace {
struct SplitPrefixesPass
    : metaop::impl::SplitPrefixesPassBase<SplitPrefixesPass> {
  void runOnOperation() override {
    SmallVector<PrefixOp> prefixes;
    getOperation().walk([&](PrefixOp op) {
      if (Splitter::isWorthIt(op))
        prefixes.push_back(op);
    });
    for (PrefixOp op : prefixes) {
      op.replaceAllUsesWith(Splitter(op).build());
      op.erase();
    }
  }
};
} // namespace
