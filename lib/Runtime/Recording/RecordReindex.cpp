//===- RecordReindex.cpp - Recording one-to-many ops ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "RecordingTables.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

Node *Recorder::recordBroadcast(Node *x, llvm::ArrayRef<int64_t> shape,
                                llvm::ArrayRef<int64_t> dimensions) {
  if (x->shape() == shape)
    return x;
  return adopt(metaop::BroadcastOp::create(at(), line, typeOf(shape, x->dtype),
                                           x->value(), ValueRange(),
                                           dimensions));
}

Node *Recorder::recordBroadcast(Node *x, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 8> dimensions;
  for (size_t dim = shape.size() - x->shape().size(); dim < shape.size(); ++dim)
    dimensions.push_back(dim);
  return recordBroadcast(x, shape, dimensions);
}

llvm::SmallVector<int64_t> metaops::normalizeDims(llvm::StringRef what,
                                                  llvm::ArrayRef<int64_t> dims,
                                                  int64_t rank) {
  llvm::SmallVector<int64_t> result;
  for (int64_t dim : dims) {
    if (dim < -rank || dim >= rank)
      fail(ErrorKind::Value, what + ": dimension " + llvm::Twine(dim) +
                                 " is out of range for a tensor of " +
                                 llvm::Twine(rank) + " dimensions");
    result.push_back(dim < 0 ? dim + rank : dim);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    fail(ErrorKind::Value,
         what + ": a dimension is given twice in " + formatShape(dims));
  return result;
}

Node *Recorder::broadcast(Operand operand, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<int64_t> newDims) {
  checkShape("broadcast", shape);
  Node *x = operand.isNumber()
                ? scalar(operand.getNumber(), operand.getNumber().getDType())
                : operand.getNode();
  auto absent = normalizeDims("broadcast", newDims, shape.size());
  llvm::SmallVector<int64_t> dimensions;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (!llvm::is_contained(absent, dim))
      dimensions.push_back(dim);

  llvm::ArrayRef<int64_t> source = x->shape();
  auto failMismatch = [&] {
    fail(ErrorKind::Value,
         "broadcast: a tensor of shape " + formatShape(source) +
             " does not broadcast to " + formatShape(shape) +
             (newDims.empty()
                  ? std::string()
                  : " with new dimensions " + formatShape(newDims)));
  };
  if (source.size() > dimensions.size())
    failMismatch();
  dimensions.erase(dimensions.begin(),
                   dimensions.end() - static_cast<ptrdiff_t>(source.size()));
  for (auto [extent, dim] : llvm::zip_equal(source, dimensions))
    if (extent != 1 && extent != shape[dim])
      failMismatch();
  return recordBroadcast(x, shape, dimensions);
}

//===----------------------------------------------------------------------===//
// Reshape, transpose, pad
//===----------------------------------------------------------------------===//

Node *Recorder::recordReshape(Node *x, llvm::ArrayRef<int64_t> shape) {
  if (x->shape() == shape)
    return x;
  return adopt(metaop::ReshapeOp::create(at(), line, typeOf(shape, x->dtype),
                                         x->value(), ValueRange()));
}

Node *Recorder::reshape(Node *x, llvm::ArrayRef<int64_t> asked) {
  llvm::SmallVector<int64_t> shape(asked);
  int64_t elements = getNumElements(x->shape()), known = 1;
  int64_t *open = nullptr;
  for (int64_t &extent : shape) {
    if (extent != -1)
      known = metaop::multiplyCounts(known, extent);
    else if (std::exchange(open, &extent))
      fail(ErrorKind::Value,
           "reshape: shape " + formatShape(asked) + " has more than one -1");
  }
  if (open && known > 0 && elements % known == 0)
    *open = elements / known;
  if (!open || *open != -1)
    checkShape("reshape", shape);
  if ((open && *open == -1) || getNumElements(shape) != elements)
    fail(ErrorKind::Value,
         "reshape: a tensor of shape " + formatShape(x->shape()) + " has " +
             llvm::Twine(elements) + " elements, which do not fit the shape " +
             formatShape(asked));
  return recordReshape(x, shape);
}

Node *Recorder::transpose(Node *x,
                          std::optional<llvm::ArrayRef<int64_t>> given) {
  int64_t rank = x->rank();
  llvm::SmallVector<int64_t> permutation;
  if (given) {
    permutation.assign(given->begin(), given->end());
    for (int64_t &dim : permutation)
      dim = dim < 0 ? dim + rank : dim;
    llvm::SmallVector<int64_t> sorted(permutation);
    llvm::sort(sorted);
    if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
      fail(ErrorKind::Value, "transpose: " + formatShape(*given) +
                                 " is no permutation of the " +
                                 llvm::Twine(rank) + " dimensions of shape " +
                                 formatShape(x->shape()));
  } else {
    permutation = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  }
  if (llvm::is_sorted(permutation))
    return x;
  llvm::SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(x->shape()[dim]);
  return adopt(metaop::TransposeOp::create(at(), line, typeOf(shape, x->dtype),
                                           x->value(), permutation));
}

Node *Recorder::pad(Node *x, llvm::ArrayRef<int64_t> low,
                    llvm::ArrayRef<int64_t> high, Number fill) {
  size_t rank = x->shape().size();
  if (low.size() != rank || high.size() != rank)
    fail(ErrorKind::Value, "pad: given " + llvm::Twine(low.size()) + " and " +
                               llvm::Twine(high.size()) +
                               " widths, expected one on each side of the " +
                               llvm::Twine(rank) + " dimensions of shape " +
                               formatShape(x->shape()));
  llvm::SmallVector<int64_t> shape(x->shape());
  for (size_t dim = 0; dim < rank; ++dim) {
    auto failWidths = [&](llvm::StringRef why) {
      fail(ErrorKind::Value, "pad: widths " + llvm::Twine(low[dim]) + " and " +
                                 llvm::Twine(high[dim]) + why + " the extent " +
                                 llvm::Twine(x->shape()[dim]) +
                                 " of dimension " + llvm::Twine(dim));
    };
    // Of two that overflow together, neither counterweighs the other.
    int64_t widths;
    bool overflows = llvm::AddOverflow(low[dim], high[dim], widths);
    if (overflows ? low[dim] < 0 : widths < -shape[dim])
      failWidths(" remove more than");
    if (overflows || llvm::AddOverflow(shape[dim], widths, shape[dim]))
      failWidths(" make too much (expected fewer than 2**60 elements) of");
  }
  checkShape("pad", shape);
  return adopt(metaop::PadOp::create(at(), line, typeOf(shape, x->dtype),
                                     x->value(), low, high,
                                     fillOf(fill, x->dtype)));
}

/// Both ends are read from x and one is chosen, so that a kernel that reads the
/// result can do so itself. The shift is an operand: another one makes no new
/// program.
Node *Recorder::roll(Node *x, int64_t shift, int64_t dim) {
  dim = normalizeDims("roll", dim, x->rank()).front();
  int64_t extent = x->shape()[dim];
  if (extent < 2)
    return x;
  // Places that fit are counted in 32 bits: as many lanes as floats have.
  DType dtype = llvm::isInt<32>(extent) ? DType::I32 : DType::I64;
  int64_t places = (shift % extent + extent) % extent;
  Node *start = recordInteger(places);
  metaop::IndexAccess access;
  access.symbols.push_back(start->value());
  access.fill = fillOf(Number::ofInt(0), x->dtype);
  auto move = [&](int64_t turns) {
    auto results =
        llvm::map_to_vector(llvm::seq<unsigned>(0, x->rank()), [&](unsigned k) {
          return getAffineDimExpr(k, context);
        });
    results[dim] =
        results[dim] - getAffineSymbolExpr(0, context) + turns * extent;
    access.map = AffineMap::get(x->rank(), 1, results, context);
    return adopt(
        metaop::ReindexOp::create(at(), line, x->type(), x->value(), access));
  };
  Node *isInside =
      compare("ge", iota(x->shape(), dim, dtype), recordCast(start, dtype));
  return recordSelect(isInside, move(/*turns=*/0), move(/*turns=*/1));
}

//===----------------------------------------------------------------------===//
// Index strings
//===----------------------------------------------------------------------===//

AffineMap metaops::toSymbols(AffineMap map, unsigned numDims) {
  unsigned numSymbols = map.getNumDims() - numDims;
  llvm::SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
    dims.push_back(dim < numDims
                       ? getAffineDimExpr(dim, map.getContext())
                       : getAffineSymbolExpr(dim - numDims, map.getContext()));
  return map.replaceDimsAndSymbols(dims, {}, numDims, numSymbols);
}

llvm::SmallVector<Value> metaops::valuesOf(llvm::ArrayRef<Node *> nodes) {
  return llvm::map_to_vector(nodes, [](Node *node) { return node->value(); });
}

const Recorder::ParsedAccess &
Recorder::parseAccess(llvm::StringRef what, llvm::ArrayRef<int64_t> iteration,
                      llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> y,
                      llvm::ArrayRef<std::string> indexes,
                      llvm::ArrayRef<std::string> conditions,
                      llvm::ArrayRef<Node *> extras) {
  std::string key = (what + formatShape(x) + formatShape(y)).str();
  llvm::SmallVector<unsigned> extraRanks;
  for (Node *extra : extras) {
    extraRanks.push_back(extra->rank());
    key += "@" + std::to_string(extra->rank());
  }
  for (const std::string &text : indexes)
    key += text + ",";
  for (const std::string &text : conditions)
    key += "?" + text;
  auto &accesses = tables->accesses;
  if (auto it = accesses.find(key); it != accesses.end())
    return *it->second;

  ParsedAccess parsed;
  IndexContext names{iteration, x, y, context, extraRanks, &parsed.computed};
  llvm::SmallVector<AffineExpr> results;
  for (const std::string &text : indexes)
    results.push_back(
        check(parseIndexExpression(text, names), ErrorKind::Value));
  llvm::SmallVector<AffineExpr> constraints;
  llvm::SmallVector<bool> equalities;
  for (const std::string &text : conditions) {
    ConditionResult result =
        check(parseOverflowCondition(text, names), ErrorKind::Value);
    for (const IndexConstraint &constraint : result.constraints) {
      constraints.push_back(constraint.expr);
      equalities.push_back(constraint.isEquality);
    }
    if (result.tree)
      parsed.trees.push_back(std::move(*result.tree));
  }
  unsigned numDims = iteration.size(), numComputed = parsed.computed.size();
  parsed.map = AffineMap::get(numDims + numComputed, 0, results, context);
  if (numComputed > 0) {
    parsed.map = toSymbols(parsed.map, numDims);
    for (auto [expr, isEquality] : llvm::zip_equal(constraints, equalities))
      parsed.trees.push_back({isEquality ? ConditionTree::Kind::Zero
                                         : ConditionTree::Kind::NonNegative,
                              expr,
                              {}});
  } else if (!constraints.empty()) {
    parsed.conditions = IntegerSet::get(numDims, 0, constraints, equalities);
  }

  // Strings made of changing numbers must not fill the memory.
  if (accesses.size() >= 4096)
    accesses.clear();
  auto &entry = accesses[key];
  entry = std::make_unique<ParsedAccess>(std::move(parsed));
  return *entry;
}

static void checkIndexCount(llvm::StringRef what, size_t given,
                            llvm::ArrayRef<int64_t> shape,
                            llvm::StringRef tensor) {
  if (given != shape.size())
    fail(ErrorKind::Value, what + ": given " + llvm::Twine(given) +
                               " index expressions, expected " +
                               llvm::Twine(shape.size()) +
                               ", one for each dimension of the " + tensor +
                               " of shape " + formatShape(shape));
}

Node *Recorder::reindex(Node *x, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<std::string> indexes, Number fill,
                        llvm::ArrayRef<std::string> overflowConditions,
                        llvm::ArrayRef<Node *> extras) {
  checkShape("reindex", shape);
  checkIndexCount("reindex", indexes.size(), x->shape(), "operand");
  const ParsedAccess &parsed = parseAccess("reindex", shape, x->shape(), shape,
                                           indexes, overflowConditions, extras);
  llvm::SmallVector<Node *> computed = recordComputed(parsed, shape, extras);
  metaop::IndexAccess access;
  access.map = parsed.map;
  access.conditions = parsed.conditions;
  access.fill = fillOf(fill, x->dtype);
  RankedTensorType type = typeOf(shape, x->dtype);
  Node *result = computed.empty()
                     ? adopt(metaop::ReindexOp::create(at(), line, type,
                                                       x->value(), access))
                     : adopt(metaop::GatherOp::create(
                           at(), line, type, x->value(), valuesOf(computed),
                           access.map, access.fill));
  if (!parsed.trees.empty())
    result = recordSelect(recordMasks(parsed.trees, shape, computed), result,
                          recordSplat(shape, access.fill));
  return result;
}

Node *Recorder::reindexReduce(Node *x, llvm::StringRef kindName,
                              llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<std::string> indexes,
                              llvm::ArrayRef<std::string> overflowConditions,
                              llvm::ArrayRef<Node *> extras) {
  checkShape("reindex_reduce", shape);
  metaop::Combiner kind =
      parseCombiner("reindex_reduce", metaop::CombinerUse::Reduction, kindName,
                    x->dtype, context);
  checkIndexCount("reindex_reduce", indexes.size(), shape, "result");
  const ParsedAccess &parsed =
      parseAccess("reindex_reduce", x->shape(), x->shape(), shape, indexes,
                  overflowConditions, extras);
  llvm::SmallVector<Node *> computed =
      recordComputed(parsed, x->shape(), extras);
  Node *source = x;
  if (!parsed.trees.empty()) {
    // An iteration that a condition excludes counts as the identity, which
    // changes nothing.
    TypedAttr identity =
        metaop::getIdentity(kind, toElementType(x->dtype, context));
    source = recordSelect(recordMasks(parsed.trees, x->shape(), computed),
                          source, recordSplat(x->shape(), identity));
  }
  metaop::IndexAccess access;
  access.map = parsed.map;
  access.conditions = parsed.conditions;
  if (!computed.empty())
    return adopt(metaop::ScatterOp::create(
        at(), line, typeOf(shape, x->dtype), kind, source->value(),
        valuesOf(computed), ValueRange(), access.map));
  return adopt(metaop::ReindexReduceOp::create(
      at(), line, typeOf(shape, x->dtype), kind, source->value(), access));
}
