//===- ExtentWatch.cpp - Extents that vary --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of one kind have leaves that differ in extents only, and the same
// kinds of operators. (How many there are may differ, as a length of 1 needs no
// broadcast.) The first has kernels for its extents alone. When another comes
// whose leaves have other extents, the dimensions that have differed are
// marked: kernels of this program, and of all later ones, are for any extent of
// a class.
//
// Of a program that has run kSettledRuns times, and of whose skeleton there are
// kFewLengths at most in use, compiling for its length alone is worth it: the
// usual batch beside the last one of an epoch, or one of the few widths of a
// model's layers. As many lengths of a skeleton settle at most: sentences that
// come by length would settle without end.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Programs/ExtentWatch.h"

#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace metaops;

/// Runs after which compiling kernels for one length is worth it, and lengths
/// among which they are counted.
static constexpr unsigned kSettledRuns = 16;
static constexpr size_t kFewLengths = 4;
/// Kinds of programs, and skeletons, to remember.
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

/// Marks the extents that have grown since the last program of the kind, if
/// none is shorter, and each has grown by one, or all as they had before.
void ExtentWatch::markGrowing(Kind &kind, llvm::ArrayRef<int64_t> extents) {
  if (extents == llvm::ArrayRef(kind.last))
    return;
  std::vector<int64_t> steps;
  for (auto [now, before] : llvm::zip_equal(extents, kind.last))
    steps.push_back(now - before);
  bool isGrowing =
      llvm::all_of(steps, [](int64_t step) { return step >= 0; }) &&
      (llvm::all_of(steps, [](int64_t step) { return step <= 1; }) ||
       steps == kind.steps);
  for (auto [i, step] : llvm::enumerate(steps))
    kind.isShared[i] = isGrowing && step > 0;
  kind.last = extents.vec();
  kind.steps = std::move(steps);
}

std::vector<VaryingDim> ExtentWatch::note(const Slice &slice,
                                          KernelSharing sharing) {
  if (sharing == KernelSharing::None)
    return {};
  std::vector<int64_t> extents;
  std::vector<VaryingDim> dims;
  for (auto [argument, leaf] : llvm::enumerate(slice.leaves))
    for (auto [dimension, extent] : llvm::enumerate(leaf->shape())) {
      extents.push_back(extent);
      dims.push_back({unsigned(argument), unsigned(dimension)});
    }
  if (kinds.size() >= kMaxKinds)
    kinds.clear();
  Kind &kind = kinds[llvm::hash_combine(hashKind(slice), unsigned(sharing))];
  if (kind.first.size() != extents.size()) {
    kind = {extents, extents, {}, std::vector<bool>(extents.size())};
    return {};
  }
  if (sharing == KernelSharing::Growing)
    markGrowing(kind, extents);
  std::vector<VaryingDim> shared;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (sharing == KernelSharing::Varying && extents[i] != kind.first[i])
      kind.isShared[i] = true;
    if (kind.isShared[i])
      shared.push_back(dims[i]);
  }
  return shared;
}

bool ExtentWatch::hasSettled(const ProgramKey &key) {
  if (skeletons.size() >= kMaxKinds)
    skeletons.clear();
  auto &[lengths, numSettled] =
      skeletons[llvm::hash_combine_range(key.skeleton)];
  if (numSettled >= kFewLengths)
    return false;
  auto *found = llvm::find_if(
      lengths, [&](const Length &each) { return each.numbers == key.numbers; });
  if (found == lengths.end()) {
    if (lengths.size() >= kFewLengths)
      lengths.clear();
    lengths.push_back({key.numbers, 0});
    found = &lengths.back();
  }
  if (++found->runs < kSettledRuns)
    return false;
  ++numSettled;
  return true;
}
