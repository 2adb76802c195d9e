//===- RecordPlacement.cpp - Recording concat and insert ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A concat of values that are in memory is copies and nothing else. For it no
// program is compiled, or kept: lists of tensors grow, and each length would
// make a program of its own.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "RecordingTables.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

/// The extent of all parts along `dim`.
static int64_t addExtents(llvm::ArrayRef<const Var *> parts, int64_t dim) {
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

static DType promoteParts(llvm::ArrayRef<const Var *> parts) {
  DType dtype = parts.front()->dtype();
  for (const Var *part : parts)
    dtype = promote(dtype, part->dtype());
  return dtype;
}

Node *Session::recordConcat(llvm::ArrayRef<Value> parts,
                            llvm::ArrayRef<int64_t> shape, int64_t dim) {
  if (parts.size() == 1)
    return graph.getNode(parts.front());
  auto type = RankedTensorType::get(
      shape, getElementTypeOrSelf(parts.front().getType()));
  return adopt(metaop::ConcatOp::create(at(), line, type, parts, dim));
}

Var Session::concat(llvm::ArrayRef<const Var *> parts, int64_t dim) {
  if (parts.empty())
    fail(ErrorKind::Value, "concat: no tensors given, expected at least one");
  dim = normalizeDim("concat", dim, parts.front()->rank());
  llvm::SmallVector<int64_t> shape(parts.front()->shape());
  shape[dim] = addExtents(parts, dim);
  checkShape("concat", shape);
  DType dtype = promoteParts(parts);
  llvm::SmallVector<Value> values;
  for (const Var *part : parts)
    values.push_back(recordCast(part->node, dtype)->value());
  return wrap(recordConcat(values, shape, dim));
}

/// Shorter runs are not worth copying one by one, in bytes: then the parts are
/// put one after the other, and what reads them transposes.
static constexpr int64_t kShortRun = 64;

Var Session::stack(llvm::ArrayRef<const Var *> parts, int64_t dim) {
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
  int64_t run = countElements(shape.drop_front(dim)) * sizeOf(dtype);
  int64_t axis = run < kShortRun ? 0 : dim;
  llvm::SmallVector<int64_t> one(shape), all;
  one.insert(one.begin() + axis, 1);
  llvm::SmallVector<Value> values;
  for (const Var *part : parts)
    values.push_back(
        recordReshape(recordCast(part->node, dtype), one)->value());
  all = one;
  all[axis] = parts.size();
  checkShape("stack", all);
  Var rows = wrap(recordConcat(values, all, axis));
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
Session::findPart(Node *node, int64_t dim, int64_t first, int64_t last) const {
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

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

Node *Session::skipViews(Node *node) const {
  while (!node->isLeaf() && graph.getInfo(node).isView)
    node = graph.getNode(node->op->getOperand(0));
  return node;
}

/// The step of copies that a concat of leaves is, but for what it writes. False
/// if it is not.
bool Session::addCopies(Node *output,
                        const llvm::DenseMap<Node *, unsigned> &arguments,
                        Step &step) const {
  auto concat = dyn_cast<metaop::ConcatOp>(skipViews(output)->op);
  if (!concat)
    return false;
  int64_t dim = concat.getDim(), elementBytes = sizeOf(output->dtype);
  llvm::ArrayRef<int64_t> whole = concat.getType().getShape();
  Copies &copies = step.action.emplace<Copies>();
  copies.reserve(concat.getParts().size());
  int64_t begin = 0;
  for (Value value : concat.getParts()) {
    Node *part = graph.getNode(value);
    auto argument = arguments.find(skipViews(part));
    if (argument == arguments.end())
      return false;
    Copy &copy = copies.emplace_back();
    copy.source = step.buffers.size();
    step.buffers.push_back(
        {argument->second, 0, countBytes(part->shape(), part->dtype)});
    copy.elementBytes = elementBytes;
    for (auto [k, extents] : llvm::enumerate(llvm::zip(part->shape(), whole))) {
      auto [extent, room] = extents;
      copy.dims.push_back(
          {extent, room, static_cast<int64_t>(k) == dim ? begin : 0, -1});
    }
    begin += part->shape()[dim];
  }
  step.numInputs = step.buffers.size();
  return true;
}

std::shared_ptr<const CachedProgram> Session::makeCopies() {
  if (useInterpreter || !llvm::all_of(slice.ops, [&](Node *node) {
        return isa<metaop::ConcatOp>(node->op) || graph.getInfo(node).isView;
      }))
    return nullptr;
  ProgramData data;
  llvm::DenseMap<Node *, unsigned> arguments;
  for (Node *leaf : slice.leaves) {
    arguments[leaf] = data.arguments.size();
    data.arguments.push_back(countBytes(leaf->shape(), leaf->dtype));
  }
  for (auto [number, output] : llvm::enumerate(slice.outputs)) {
    Step &step = data.steps.emplace_back();
    if (!addCopies(output, arguments, step))
      return nullptr;
    int64_t bytes = countBytes(output->shape(), output->dtype);
    data.results.push_back({data.getResult(number), bytes});
    step.buffers.push_back({data.getResult(number), 0, bytes});
  }

  ProgramInfo info;
  info.metaOps = slice.ops.size();
  for (const ResultPlace &result : data.results) {
    KernelInfo &call = info.calls.emplace_back();
    call.name = "copy";
    call.isCopy = true;
    call.operators = {"concat"};
    for (auto [number, node] : llvm::enumerate(slice.ops))
      if (isa<metaop::ConcatOp>(node->op))
        call.nodes.push_back(number);
    call.bytesRead = call.bytesWritten = result.bytes;
    call.maxThreads = getMaxCopyThreads(result.bytes);
  }
  auto cached = std::make_shared<CachedProgram>();
  cached->program =
      check(CompiledProgram::create(std::move(data), std::move(info)));
  cached->slice = writeSlice(graph, slice);
  cached->options = options;
  return cached;
}
