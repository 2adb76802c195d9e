//===- RecordIndirect.cpp - Indices out of tensors ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An extra is read by a reindex to the iteration space, which fuses with the
// gather or scatter that it is for.
//
// Whether the indices of x[i] are in range is known when they are computed. The
// lowest and the highest become outputs of the next program that computes what
// is asked for, and are compared with the extent when it has run. If one is out
// of range, the run has failed. Labels of classes are checked likewise. Of few
// indices that were given as data, the ends are known without a program.
//
// An update may write over what a parameter was, so the indices that it depends
// on are checked by a program of their own, which runs before. A program that
// uses indices whose check has failed does not start: parameters keep their
// values.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "RecordingTables.h"

using namespace mlir;
using namespace metaops;

/// What an extra gives outside of its own range: an index that no affine
/// expression brings into the range of a tensor.
static constexpr int64_t kNowhere = -(int64_t(1) << 60);

static void checkIndexType(llvm::StringRef what, DType dtype) {
  if (!isSignedInt(dtype) && !isUnsignedInt(dtype))
    fail(ErrorKind::Type,
         what + " is " + nameOf(dtype) + ", expected integers");
}

llvm::SmallVector<Node *>
Session::recordReads(const ParsedAccess &parsed,
                     llvm::ArrayRef<int64_t> iteration,
                     llvm::ArrayRef<const Var *> extras) {
  llvm::SmallVector<Node *> nodes;
  for (const ExtraRead &read : parsed.reads) {
    const Var &extra = *extras[read.extra];
    checkIndexType("extra " + std::to_string(read.extra), extra.dtype());
    Node *indices = recordCast(extra.node, DType::I64);
    metaop::IndexAccess access;
    access.map = AffineMap::get(iteration.size(), 0, read.indices, &context);
    access.fill = at().getI64IntegerAttr(kNowhere);
    if (!access.map.isIdentity() || extra.shape() != iteration)
      indices = adopt(metaop::ReindexOp::create(
          at(), line, typeOf(iteration, DType::I64), indices->value(), access));
    nodes.push_back(indices);
  }
  return nodes;
}

template <typename T>
static bool areInRange(const Buffer &buffer, int64_t count, IndexRange range) {
  llvm::ArrayRef<T> elements(static_cast<const T *>(buffer.data()), count);
  return llvm::all_of(elements, [&](T element) {
    return range.contains(static_cast<int64_t>(element));
  });
}

/// Whether indices are data that was given and does not change, and in range.
/// What is computed does not count, even if it happens to be there already: the
/// programs that are made do not depend on time.
static bool areKnownInRange(const Node &node, int64_t count, IndexRange range) {
  constexpr int64_t kMostRead = 1 << 16;
  if (!isa<metaop::BufferOp>(node.op) || !node.buffer || node.ready != 0 ||
      node.buffer->isForeign() || node.buffer->exported() || count > kMostRead)
    return false;
  switch (node.dtype) {
  case DType::I8:
    return areInRange<int8_t>(*node.buffer, count, range);
  case DType::I16:
    return areInRange<int16_t>(*node.buffer, count, range);
  case DType::I32:
    return areInRange<int32_t>(*node.buffer, count, range);
  case DType::I64:
    return areInRange<int64_t>(*node.buffer, count, range);
  case DType::U8:
    return areInRange<uint8_t>(*node.buffer, count, range);
  case DType::U16:
    return areInRange<uint16_t>(*node.buffer, count, range);
  case DType::U32:
    return areInRange<uint32_t>(*node.buffer, count, range);
  case DType::U64:
    return areInRange<uint64_t>(*node.buffer, count, range);
  default:
    return false;
  }
}

/// What of the indices has to be in range.
Node *Session::recordChecked(Node *indices, IndexRange range) {
  if (!range.ignored)
    return indices;
  llvm::ArrayRef<int64_t> shape = indices->shape();
  Node *ignored = recordSplat(shape, at().getI64IntegerAttr(*range.ignored));
  Node *isIgnored = adopt(metaop::CmpOp::create(
      at(), line, typeOf(shape, DType::Bool), metaop::ComparePredicate::Eq,
      indices->value(), ignored->value()));
  return recordSelect(isIgnored, recordSplat(shape, at().getI64IntegerAttr(0)),
                      indices);
}

/// What is read by the indices is read by a node of their own, which may be
/// unchecked.
Node *Session::recordFromStart(Node *indices, IndexRange range) {
  llvm::ArrayRef<int64_t> shape = indices->shape();
  Node *zero = recordSplat(shape, at().getI64IntegerAttr(0));
  if (!range.hasNegative)
    return recordElementwise(lookUpElementwise("max", 2).name, {indices, zero});
  Node *isNegative = adopt(metaop::CmpOp::create(
      at(), line, typeOf(shape, DType::Bool), metaop::ComparePredicate::Lt,
      indices->value(), zero->value()));
  Node *fromEnd = recordElementwise(
      lookUpElementwise("add", 2).name,
      {indices, recordSplat(shape, at().getI64IntegerAttr(range.extent))});
  return recordSelect(isNegative, fromEnd, indices);
}

Var Session::checkIndices(const Var &given, IndexRange range) {
  checkIndexType(range.dim ? "an index" : "a label", given.dtype());
  bool isKnown = areKnownInRange(*given.node, given.numElements(), range);
  Node *indices = recordCast(given.node, DType::I64);
  UncheckedIndices entry{nullptr, nullptr, nullptr, range, nullptr};
  if (given.numElements() > 0 && !isKnown) {
    Node *flat =
        recordReshape(recordChecked(indices, range), given.numElements());
    entry.lowest =
        recordReduce(metaop::ReduceKind::Min, flat, 0, /*keepDims=*/false);
    entry.highest =
        recordReduce(metaop::ReduceKind::Max, flat, 0, /*keepDims=*/false);
  }
  Node *result = recordFromStart(indices, range);
  if (entry.lowest) {
    graph.pin(entry.lowest);
    graph.pin(entry.highest);
    result->isUnchecked = true;
    entry.indices = result;
    entry.outcome = std::make_shared<CheckOutcome>();
    unchecked.push_back(std::move(entry));
  }
  return wrap(result);
}

/// What is to be computed so that indices can be checked; not of those that no
/// program can compute any more.
std::vector<Node *> Session::takeCheckable() {
  std::vector<Node *> nodes;
  for (const UncheckedIndices &entry : unchecked) {
    Node *ends[] = {entry.lowest, entry.highest};
    if (entry.lowest->isLeaf() || entry.lowest->generation > flushes ||
        (graph.getNumDonated() > 0 && findOverwritten(graph, ends)))
      continue;
    nodes.insert(nodes.end(), std::begin(ends), std::end(ends));
  }
  return nodes;
}

/// Computes the checks of indices that the planned slice uses, and those that
/// it would compute along. False if there are none.
bool Session::computeChecks(RunKind kind) {
  std::vector<Node *> nodes;
  for (const UncheckedIndices &entry : unchecked) {
    bool isUsed = slice.computes(entry.indices);
    bool isAlong = kind != RunKind::Checks && slice.computes(entry.lowest);
    if (!entry.lowest->isLeaf() && (isUsed || isAlong))
      nodes.insert(nodes.end(), {entry.lowest, entry.highest});
  }
  if (nodes.empty())
    return false;
  // These may use indices themselves, which are then checked before.
  compute(nodes, RunKind::Checks);
  return true;
}

/// The checks that the outputs of the slice are for.
std::vector<IndexCheck> Session::describeChecks() const {
  std::vector<IndexCheck> checks;
  for (const UncheckedIndices &entry : unchecked) {
    auto lowest = llvm::find(slice.outputs, entry.lowest);
    auto highest = llvm::find(slice.outputs, entry.highest);
    if (lowest == slice.outputs.end() || highest == slice.outputs.end())
      continue;
    checks.push_back({unsigned(lowest - slice.outputs.begin()),
                      unsigned(highest - slice.outputs.begin()), entry.range,
                      entry.lowest->op->getLoc(), entry.outcome});
  }
  return checks;
}

/// What earlier runs find of indices that the slice uses.
std::vector<std::shared_ptr<const CheckOutcome>>
Session::findRequiredChecks() const {
  std::vector<std::shared_ptr<const CheckOutcome>> required;
  for (const UncheckedIndices &entry : unchecked)
    if (entry.lowest->isLeaf() && slice.computes(entry.indices))
      required.push_back(entry.outcome);
  return required;
}

/// Forgets what has been checked and is in range.
void Session::dropCheckedIndices() {
  llvm::erase_if(unchecked, [&](const UncheckedIndices &entry) {
    if (!entry.lowest->isLeaf() || !queue->isDone(entry.lowest->ready) ||
        entry.outcome->failure)
      return false;
    entry.indices->isUnchecked = false;
    graph.unpin(entry.lowest);
    graph.unpin(entry.highest);
    return true;
  });
}

/// Nothing is read by these indices any more.
void Session::forgetIndices(Node *indices) {
  llvm::erase_if(unchecked, [&](const UncheckedIndices &entry) {
    if (entry.indices != indices)
      return false;
    graph.unpin(entry.lowest);
    graph.unpin(entry.highest);
    return true;
  });
}
