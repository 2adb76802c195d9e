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
// lowest and the highest become outputs of the next program that runs, whatever
// it is for, and are compared with the extent when it has run. If one is out of
// range, the run has failed.
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

Var Session::checkIndices(const Var &given, int64_t dim, int64_t extent) {
  checkIndexType("an index", given.dtype());
  Node *indices = recordCast(given.node, DType::I64);
  if (given.numElements() > 0) {
    Node *flat = recordReshape(indices, given.numElements());
    Node *lowest =
        recordReduce(metaop::ReduceKind::Min, flat, 0, /*keepDims=*/false);
    Node *highest =
        recordReduce(metaop::ReduceKind::Max, flat, 0, /*keepDims=*/false);
    graph.pin(lowest);
    graph.pin(highest);
    unchecked.push_back({lowest, highest, dim, extent});
  }
  if (isUnsignedInt(given.dtype()))
    return wrap(indices);
  llvm::ArrayRef<int64_t> shape = indices->shape();
  Node *isNegative = adopt(metaop::CmpOp::create(
      at(), line, typeOf(shape, DType::Bool), metaop::ComparePredicate::Lt,
      indices->value(),
      recordSplat(shape, at().getI64IntegerAttr(0))->value()));
  Node *fromEnd = recordElementwise(
      lookUpElementwise("add", 2).name,
      {indices, recordSplat(shape, at().getI64IntegerAttr(extent))});
  return wrap(recordSelect(isNegative, fromEnd, indices));
}

/// What is to be computed so that indices can be checked. Those that no program
/// can compute any more are given up.
std::vector<Node *> Session::takeCheckable() {
  std::vector<Node *> nodes;
  llvm::erase_if(unchecked, [&](const UncheckedIndices &indices) {
    Node *ends[] = {indices.lowest, indices.highest};
    if (llvm::any_of(ends, [](Node *node) { return node->isLeaf(); }) ||
        (graph.getNumDonated() > 0 && findOverwritten(graph, ends))) {
      llvm::for_each(ends, [&](Node *node) { graph.unpin(node); });
      return true;
    }
    if (indices.lowest->generation <= flushes)
      nodes.insert(nodes.end(), std::begin(ends), std::end(ends));
    return false;
  });
  return nodes;
}

/// The checks that the outputs of the slice are for.
std::vector<IndexCheck> Session::describeChecks() const {
  std::vector<IndexCheck> checks;
  for (const UncheckedIndices &indices : unchecked) {
    auto lowest = llvm::find(slice.outputs, indices.lowest);
    auto highest = llvm::find(slice.outputs, indices.highest);
    if (lowest == slice.outputs.end() || highest == slice.outputs.end())
      continue;
    checks.push_back({unsigned(lowest - slice.outputs.begin()),
                      unsigned(highest - slice.outputs.begin()), indices.dim,
                      indices.extent, indices.lowest->op->getLoc()});
  }
  return checks;
}

void Session::dropCheckedIndices() {
  llvm::erase_if(unchecked, [&](const UncheckedIndices &indices) {
    if (!indices.lowest->isLeaf() || !indices.highest->isLeaf())
      return false;
    graph.unpin(indices.lowest);
    graph.unpin(indices.highest);
    return true;
  });
}
