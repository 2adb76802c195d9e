//===- GrowthWatch.cpp - Which programs are growing -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop that generates a sequence runs a program for each length. They are of
// one kind: their leaves differ in extents only, and they have the same kinds
// of operators. (How many there are may differ, as a length of 1 needs no
// broadcast.) A dimension is growing where, since the
// last program of the kind that was compiled, some extents are longer, none is
// shorter, and
//
//   * each has grown by one, as when a token is added, or
//   * all have grown as they had before: by 16 and 16 again.
//
// Other programs over leaves of the same extents, such as a second one in the
// body of the loop, follow the first.
//
// A training loop may as well begin at a length that is one more than that of
// an earlier one. Its program then has kernels for all lengths, until it has
// run kSettledRuns times without one of another length.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Programs/GrowthWatch.h"

#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace metaops;

/// Runs in a row after which compiling kernels for one length is worth it.
static constexpr unsigned kSettledRuns = 16;
/// Kinds of programs to remember.
static constexpr size_t kMaxKinds = 1024;

/// Which operators a program has, those in regions included, however often: but
/// for broadcasts and views, which a length of 1 may do without.
static uint64_t hashOperators(const Slice &slice) {
  llvm::SmallDenseSet<const void *> names;
  uint64_t sum = 0;
  for (const Node *node : slice.ops)
    node->op->walk([&](Operation *op) {
      if (!isa<metaop::BroadcastOp, metaop::ViewOpInterface>(op))
        if (names.insert(op->getName().getAsOpaquePointer()).second)
          sum += llvm::hash_value(op->getName().getAsOpaquePointer());
    });
  return sum;
}

static uint64_t hashKind(const Slice &slice) {
  llvm::hash_code hash = hashOperators(slice);
  for (const Node *leaf : slice.leaves)
    if (!leaf->shape().empty())
      hash = llvm::hash_combine(hash, leaf->dtype, leaf->shape().size());
  return hash;
}

std::vector<GrowingDim> GrowthWatch::note(const Slice &slice) {
  std::vector<int64_t> extents;
  std::vector<GrowingDim> dims;
  for (auto [argument, leaf] : llvm::enumerate(slice.leaves))
    for (auto [dimension, extent] : llvm::enumerate(leaf->shape())) {
      extents.push_back(extent);
      dims.push_back({unsigned(argument), unsigned(dimension)});
    }
  if (kinds.size() >= kMaxKinds)
    kinds.clear();
  Kind &kind = kinds[hashKind(slice)];
  if (kind.extents.size() != extents.size()) {
    kind = {std::move(extents), {}, {}};
    return {};
  }
  if (extents == kind.extents)
    return kind.growing;

  std::vector<int64_t> steps;
  for (auto [now, before] : llvm::zip_equal(extents, kind.extents))
    steps.push_back(now - before);
  bool isGrowing =
      llvm::all_of(steps, [](int64_t step) { return step >= 0; }) &&
      (llvm::all_of(steps, [](int64_t step) { return step <= 1; }) ||
       steps == kind.steps);
  kind.growing.clear();
  for (auto [step, dim] : llvm::zip_equal(steps, dims))
    if (isGrowing && step > 0)
      kind.growing.push_back(dim);
  kind.extents = std::move(extents);
  kind.steps = std::move(steps);
  return kind.growing;
}

bool GrowthWatch::hasSettled(const ProgramKey &key) {
  if (rows.size() >= kMaxKinds)
    rows.clear();
  Row &row = rows[llvm::hash_combine_range(key.skeleton)];
  if (row.numbers != key.numbers)
    row = {key.numbers, 0};
  return ++row.runs >= kSettledRuns;
}
