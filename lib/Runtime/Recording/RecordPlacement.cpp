//===- RecordPlacement.cpp - Recording concat and insert ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "RecordingTables.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

/// The extent of all parts along `dim`.
static int64_t addExtents(llvm::ArrayRef<Node *> parts, int64_t dim) {
  llvm::ArrayRef<int64_t> first = parts.front()->shape();
  int64_t total = 0;
  for (auto [number, part] : llvm::enumerate(parts)) {
    llvm::ArrayRef<int64_t> shape = part->shape();
    bool fits = shape.size() == first.size();
    for (size_t k = 0; fits && k < shape.size(); ++k)
      fits = static_cast<int64_t>(k) == dim || shape[k] == first[k];
    if (!fits)
      fail(ErrorKind::Value,
           "concat: shapes " + formatShape(first) + " and " +
               formatShape(shape) + " (of part " + llvm::Twine(number) +
               ") differ in another dimension than " + llvm::Twine(dim));
    if (llvm::AddOverflow(total, shape[dim], total))
      fail(ErrorKind::Value, "concat: the extents along dimension " +
                                 llvm::Twine(dim) + " add up to 2^63 or more");
  }
  return total;
}

/// A dimension counted from the start.
static int64_t normalizeDim(llvm::StringRef what, int64_t dim, int64_t rank) {
  return normalizeDims(what, dim, rank).front();
}

static DType promoteParts(llvm::ArrayRef<Node *> parts) {
  DType dtype = parts.front()->dtype;
  for (Node *part : parts)
    dtype = promote(dtype, part->dtype);
  return dtype;
}

Node *Recorder::recordConcat(llvm::ArrayRef<Value> parts,
                             llvm::ArrayRef<int64_t> shape, int64_t dim) {
  if (parts.size() == 1)
    return graph.getNode(parts.front());
  auto type = RankedTensorType::get(
      shape, getElementTypeOrSelf(parts.front().getType()));
  return adopt(metaop::ConcatOp::create(at(), line, type, parts, dim));
}

Node *Recorder::concat(llvm::ArrayRef<Node *> parts, int64_t dim) {
  if (parts.empty())
    fail(ErrorKind::Value, "concat: no tensors given, expected at least one");
  dim = normalizeDim("concat", dim, parts.front()->rank());
  llvm::SmallVector<int64_t> shape(parts.front()->shape());
  shape[dim] = addExtents(parts, dim);
  checkShape("concat", shape);
  DType dtype = promoteParts(parts);
  llvm::SmallVector<Value> values;
  for (Node *part : parts)
    values.push_back(recordCast(part, dtype)->value());
  return recordConcat(values, shape, dim);
}

/// Shorter runs are not worth copying one by one, in bytes: then the parts are
/// put one after the other, and what reads them transposes.
static constexpr int64_t kShortRun = 64;

Node *Recorder::stack(llvm::ArrayRef<Node *> parts, int64_t dim) {
  if (parts.empty())
    fail(ErrorKind::Value, "stack: no tensors given, expected at least one");
  llvm::ArrayRef<int64_t> shape = parts.front()->shape();
  for (auto [number, part] : llvm::enumerate(parts))
    if (part->shape() != shape)
      fail(ErrorKind::Value, "stack: shapes " + formatShape(shape) + " and " +
                                 formatShape(part->shape()) + " (of part " +
                                 llvm::Twine(number) + "), expected one shape");
  dim = normalizeDim("stack", dim, shape.size() + 1);
  DType dtype = promoteParts(parts);
  int64_t run = getNumElements(shape.drop_front(dim)) * sizeOf(dtype);
  int64_t axis = run < kShortRun ? 0 : dim;
  llvm::SmallVector<int64_t> one(shape), all;
  one.insert(one.begin() + axis, 1);
  llvm::SmallVector<Value> values;
  for (Node *part : parts)
    values.push_back(recordReshape(recordCast(part, dtype), one)->value());
  all = one;
  all[axis] = parts.size();
  checkShape("stack", all);
  Node *rows = recordConcat(values, all, axis);
  if (axis == dim)
    return rows;
  llvm::SmallVector<int64_t> permutation;
  for (int64_t k = 1; k <= dim; ++k)
    permutation.push_back(k);
  permutation.push_back(0);
  for (int64_t k = dim + 1, rank = all.size(); k < rank; ++k)
    permutation.push_back(k);
  return transpose(rows, llvm::ArrayRef<int64_t>(permutation));
}

//===----------------------------------------------------------------------===//
// Slices of a concat
//===----------------------------------------------------------------------===//

/// Of so many parts the one that a slice is of is looked for.
static constexpr size_t kMaxSearchedParts = 1024;

std::pair<Node *, int64_t>
Recorder::findPart(Node *node, int64_t dim, int64_t first, int64_t last) const {
  auto concat = dyn_cast<metaop::ConcatOp>(node->op);
  if (!concat || node->isLeaf() ||
      static_cast<int64_t>(concat.getDim()) != dim ||
      concat.getParts().size() > kMaxSearchedParts)
    return {nullptr, 0};
  int64_t begin = 0;
  for (Value value : concat.getParts()) {
    Node *part = graph.getNode(value);
    int64_t end = begin + part->shape()[dim];
    if (first >= begin && last < end)
      return {part, begin};
    begin = end;
  }
  return {nullptr, 0};
}
