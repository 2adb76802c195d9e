//===- PullThroughReindex.cpp - Producers move through reindexes ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// reindex(f(a, b)) becomes f(reindex(a), reindex(b)), for chains of
// element-wise ops f. The reindex then reads what f reads, and f fuses with the
// consumer. That is exact where the reindex is in bounds; elsewhere it would
// give f(fill) in place of the fill.
//
// It is done in three cases:
//  * f's space is much smaller than that of the reindex, as in the sqrt(var +
//    eps) of a normalisation, so that f's own kernel costs more than f does.
//    Not done where the result goes into a contraction: f would be computed
//    again for each product (a ReLU before a matrix product, say). Divisions
//    and functions need a larger ratio than windows have, and a loop inside of
//    them: where the reindex moves along the innermost dimension, the mean of
//    columns would be divided again for each row. A single element is computed
//    outside of all loops and moves in any case.
//  * f's value is expanded, and the reindex makes it no larger, as in the
//    transpose of an outer product: its copy is cheaper than its memory.
//  * f's value is read by reindexes alone, which together read no more elements
//    than it has, as a transpose or the parts of a split do: f is computed no
//    more often than before, and not in a kernel of its own. Not where it goes
//    into a contraction, which packs what it reads.
//
// A value that is materialised for another reason stays, as does a chain that
// is too long. After each sweep the dialect's patterns put a reindex of a
// reindex into one, which may give the next sweep something to do.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Simplify/CloneProducers.h"
#include "MetaOps/Transforms/Simplify/ExpandedValues.h"
#include "MetaOps/Transforms/Simplify/Producers.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::metaop;

/// So many times larger has the reindex of a division or a function to be.
static constexpr int64_t kDearFactor = 4;

static int64_t elementsOf(Value value) {
  return countElements(cast<RankedTensorType>(value.getType()).getShape());
}

/// Returns whether the value has to exist in memory even if no reindex reads
/// it.
static bool isKeptFor(Value value) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    return use.getOwner()->getBlock() != value.getParentBlock() ||
           (!isPointwiseUse(use) && !isReindexSourceUse(use));
  });
}

namespace {
/// Remembers during a sweep, in which no use goes away, which values are kept:
/// a value may have very many uses, each of which asks.
class KeptValues {
public:
  bool contains(Value value) {
    auto [entry, isNew] = kept.try_emplace(value, false);
    if (isNew)
      entry->second = isKeptFor(value);
    return entry->second;
  }

private:
  llvm::DenseMap<Value, bool> kept;
};
} // namespace

/// The op of a chain that can move: element-wise, in the same block.
static Operation *getMovable(Value value, Block *block, KeptValues &kept) {
  auto meta = dyn_cast_or_null<MetaOpInterface>(value.getDefiningOp());
  if (!meta || meta.getMetaOpClass() != MetaOpClass::Elementwise ||
      meta->getBlock() != block || kept.contains(value))
    return nullptr;
  return meta;
}

/// The chain of element-wise ops that ends in `value`, producers first; empty
/// if there is none, or it is longer than `limit`.
static SmallVector<Operation *> collectChain(Value value, Block *block,
                                             unsigned limit, KeptValues &kept) {
  llvm::SetVector<Operation *> chain;
  if (Operation *op = getMovable(value, block, kept))
    chain.insert(op);
  for (unsigned next = 0; next < chain.size(); ++next) {
    if (chain.size() > limit)
      return {};
    for (Value operand : chain[next]->getOperands())
      if (Operation *op = getMovable(operand, block, kept))
        chain.insert(op);
  }
  SmallVector<Operation *> sorted = chain.takeVector();
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

/// Returns whether a chain of divisions or functions would be computed for each
/// element that the reindex makes, or for windows, which are few times as large
/// as what they are of.
static bool isTooDear(ReindexOpInterface reindex, ArrayRef<Operation *> chain,
                      const PullOptions &options) {
  int64_t before = elementsOf(reindex.getSource());
  auto type = cast<RankedTensorType>(reindex->getResult(0).getType());
  if (before <= 1 || llvm::none_of(chain, [](Operation *op) {
        return getElementPrice(cast<ElementwiseOpInterface>(op)) != int64_t(0);
      }))
    return false;
  int64_t last = type.getRank() - 1;
  return reindex.getIndexAccess().map.isFunctionOfDim(last) ||
         elementsOf(reindex->getResult(0)) / before / kDearFactor <
             options.smallProducerRatio;
}

/// Returns whether a value is read by reindexes alone that together read no
/// more elements than it has, and the chain is for nothing else.
static bool isReadInParts(Value value, ArrayRef<Operation *> chain) {
  int64_t left = elementsOf(value);
  for (OpOperand &use : value.getUses()) {
    auto reindex = dyn_cast<ReindexOpInterface>(use.getOwner());
    if (!reindex || !isReindexSourceUse(use) || !isInBounds(reindex))
      return false;
    left -= std::min(elementsOf(reindex->getResult(0)), left + 1);
  }
  return left >= 0 && llvm::all_of(chain, [&](Operation *op) {
           return op == value.getDefiningOp() ||
                  llvm::all_of(op->getUsers(), [&](Operation *user) {
                    return llvm::is_contained(chain, user);
                  });
         });
}

static bool isWorthwhile(ReindexOpInterface reindex,
                         ArrayRef<Operation *> chain,
                         const ExpandedValues &values,
                         const PullOptions &options) {
  Value source = reindex.getSource();
  Value result = reindex->getResult(0);
  int64_t before = elementsOf(source), after = elementsOf(result);
  if (values.isExpanded(source) && after <= before)
    return true;
  if (isReadInParts(source, chain))
    return !values.feedsContraction(result);
  if (after / std::max<int64_t>(options.smallProducerRatio, 1) < before ||
      isTooDear(reindex, chain, options))
    return false;
  return before <= 1 || !values.feedsContraction(result);
}

/// iota read through a map whose result is one dim is an iota along that dim.
static Value reindexIota(OpBuilder &builder, IotaOp iota,
                         ReindexOpInterface reindex, RankedTensorType type) {
  auto dim = dyn_cast<AffineDimExpr>(reindex.getIndexAccess().map.getResult(
      static_cast<unsigned>(iota.getDimension())));
  if (!dim)
    return nullptr;
  return IotaOp::create(builder, iota.getLoc(), type,
                        static_cast<int64_t>(dim.getPosition()),
                        getExtentOperands(reindex));
}

/// One reindex for `outer`, which is in bounds, of `inner`: the guards and the
/// fill are those of `inner`.
static Value compose(OpBuilder &builder, ReindexOpInterface outer,
                     ReindexOpInterface inner, RankedTensorType type) {
  IndexAccess first = outer.getIndexAccess(), second = inner.getIndexAccess();
  unsigned numDims = first.map.getNumDims();
  unsigned numSymbols = first.map.getNumSymbols() + second.symbols.size();
  SmallVector<AffineExpr> symbols;
  for (unsigned symbol = 0; symbol < second.symbols.size(); ++symbol)
    symbols.push_back(
        builder.getAffineSymbolExpr(first.map.getNumSymbols() + symbol));

  ArrayRef<AffineExpr> dims = first.map.getResults();
  IndexAccess access;
  access.map =
      second.map.replaceDimsAndSymbols(dims, symbols, numDims, numSymbols);
  if (second.conditions)
    access.conditions = second.conditions.replaceDimsAndSymbols(
        dims, symbols, numDims, numSymbols);
  access.symbols = first.symbols;
  access.symbols.append(second.symbols);
  access.fill = second.fill;
  return ReindexOp::create(builder, outer.getLoc(), type, inner.getSource(),
                           access, getExtentOperands(outer));
}

/// `source` read as `reindex`, which is in bounds, reads its own.
static Value reindexLike(OpBuilder &builder, ReindexOpInterface reindex,
                         Value source) {
  auto result = cast<RankedTensorType>(reindex->getResult(0).getType());
  Type element = cast<RankedTensorType>(source.getType()).getElementType();
  RankedTensorType type = result.clone(element);
  if (auto iota = source.getDefiningOp<IotaOp>())
    if (Value value = reindexIota(builder, iota, reindex, type))
      return value;
  if (auto inner = source.getDefiningOp<ReindexOpInterface>())
    return compose(builder, reindex, inner, type);

  bool hasFillOfType = reindex->getAttr("fill") && type != result;
  if (!hasFillOfType) {
    Operation *copy = builder.clone(*reindex);
    copy->replaceUsesOfWith(reindex.getSource(), source);
    copy->getResult(0).setType(type);
    return copy->getResult(0);
  }
  IndexAccess access = reindex.getIndexAccess();
  access.fill = cast<TypedAttr>(builder.getZeroAttr(element));
  return ReindexOp::create(builder, reindex.getLoc(), type, source, access,
                           getExtentOperands(reindex));
}

/// Returns whether the op says its dynamic extents, which another op in its
/// place would have to say: a transpose does not.
static bool hasExtents(ReindexOpInterface reindex) {
  auto type = cast<RankedTensorType>(reindex->getResult(0).getType());
  return getExtentOperands(reindex).size() ==
         static_cast<size_t>(type.getNumDynamicDims());
}

/// Puts a reindex of a reindex into one. The dialect's patterns do so too, but
/// cannot tell that dynamic extents agree.
static bool skipReindex(ReindexOpInterface reindex) {
  auto inner = reindex.getSource().getDefiningOp<ReindexOpInterface>();
  if (!inner || !hasExtents(reindex) || !isInBounds(reindex))
    return false;
  OpBuilder builder(reindex);
  Value result = reindex->getResult(0);
  result.replaceAllUsesWith(compose(builder, reindex, inner,
                                    cast<RankedTensorType>(result.getType())));
  return true;
}

static bool pull(ReindexOpInterface reindex, const ExpandedValues &values,
                 KeptValues &kept, const PullOptions &options) {
  SmallVector<Operation *> chain = collectChain(
      reindex.getSource(), reindex->getBlock(), options.maxClonedOps, kept);
  // A symbol that is the source itself would be replaced with it.
  if (chain.empty() || !hasExtents(reindex) ||
      !isWorthwhile(reindex, chain, values, options) ||
      llvm::count(reindex->getOperands(), Value(reindex.getSource())) != 1 ||
      !isInBounds(reindex))
    return false;

  OpBuilder builder(reindex);
  IRMapping mapping;
  auto result = cast<RankedTensorType>(reindex->getResult(0).getType());
  for (Operation *op : chain) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, reindexLike(builder, reindex, operand));
    Operation *copy = builder.clone(*op, mapping);
    Type element =
        cast<RankedTensorType>(copy->getResult(0).getType()).getElementType();
    copy->getResult(0).setType(result.clone(element));
  }
  reindex->replaceAllUsesWith(ValueRange{mapping.lookup(reindex.getSource())});
  return true;
}

static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void metaop::pullThroughReindexes(
    Block &block, const PullOptions &options,
    const FrozenRewritePatternSet &canonicalization) {
  constexpr unsigned maxSweeps = 8;
  for (unsigned sweep = 0; sweep < maxSweeps; ++sweep) {
    ExpandedValues values(block, options.expandedRatio);
    KeptValues kept;
    unsigned pulled = 0;
    for (auto reindex : llvm::to_vector(block.getOps<ReindexOpInterface>()))
      pulled += !reindex->use_empty() &&
                (skipReindex(reindex) || pull(reindex, values, kept, options));
    if (pulled == 0)
      break;
    eraseDeadOps(block);
    canonicalizeOps(block.getParentOp(), canonicalization);
  }
}
