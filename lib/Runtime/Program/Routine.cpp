//===- Routine.cpp - Prefixes and sorts of tensors in memory --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/Routine.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace metaops;

/// What an element takes, in picoseconds: 0.5 ns in a prefix, and each of the
/// rounds of a sort 2 ns.
static constexpr int64_t kPrefixWork = 500;
static constexpr int64_t kSortWork = 2000;
/// A thread is worth its start if it has so much to do: 8 us.
static constexpr int64_t kWorkPerThread = 8'000'000;
/// So many elements are gathered at once.
static constexpr int64_t kGatherGrain = int64_t(1) << 13;

Routine Routine::of(metaop::RoutineOpInterface op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  Routine routine;
  routine.dtype = *fromElementType(type.getElementType());
  ArrayRef<int64_t> shape = type.getShape();
  routine.outer = metaops::countElements(shape.take_front(op.getDim()));
  routine.extent = shape[op.getDim()];
  routine.inner = metaops::countElements(shape.drop_front(op.getDim() + 1));
  if (auto prefix = dyn_cast<metaop::PrefixOp>(*op)) {
    routine.kind = Kind::Prefix;
    routine.prefix = prefix.getKind();
    routine.isReverse = prefix.getReverse();
    routine.isExclusive = prefix.getExclusive();
  } else {
    auto sort = cast<metaop::SortOp>(*op);
    routine.kind = Kind::Sort;
    routine.isReverse = sort.getDescending();
    routine.givesValues = !sort.getValues().use_empty();
    routine.givesIndices = !sort.getIndices().use_empty();
  }
  return routine;
}

int64_t Routine::getWork() const {
  int64_t perElement =
      kind == Kind::Prefix ? kPrefixWork : kSortWork * (1 + sizeOf(dtype));
  return metaop::multiplyCounts(countElements(), perElement);
}

int64_t Routine::getMaxThreads() const {
  // A sort is shared by its lines.
  int64_t parts = kind == Kind::Prefix ? countElements() : outer * inner;
  return std::max<int64_t>(1, std::min(parts, getWork() / kWorkPerThread));
}

unsigned Routine::getNumInputs() const {
  return kind == Kind::Prefix && prefix == metaop::PrefixKind::Linear ? 2 : 1;
}

unsigned Routine::getNumResults() const {
  return kind == Kind::Sort ? givesValues + givesIndices : 1;
}

bool Routine::isValid() const {
  int64_t lines, elements;
  return kind >= Kind::Prefix && kind <= Kind::Sort && outer >= 0 &&
         extent >= 0 && inner >= 0 && dtype <= DType::F64 &&
         prefix <= metaop::PrefixKind::Linear &&
         !llvm::MulOverflow(outer, inner, lines) &&
         !llvm::MulOverflow(lines, extent, elements);
}

/// The elements at the places that a sort has found.
template <typename T>
static void gatherSorted(const Routine &routine, const void *source,
                         const int64_t *indices, void *result,
                         ThreadPool &threads) {
  int64_t extent = routine.extent, inner = routine.inner;
  auto *from = static_cast<const T *>(source);
  auto *to = static_cast<T *>(result);
  threads.parallelFor(
      routine.outer * extent, llvm::divideCeil(kGatherGrain, inner),
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
          for (int64_t i = 0, place = row * inner; i < inner; ++i, ++place)
            to[place] =
                from[(row / extent * extent + indices[place]) * inner + i];
      });
}

static void sort(const Routine &routine, const void *source,
                 ArrayRef<void *> results, ThreadPool &threads) {
  if (!routine.givesIndices)
    return runSort(routine, source, results.front(), threads);
  auto *indices = static_cast<int64_t *>(results.back());
  runArgsort(routine, source, indices, threads);
  if (!routine.givesValues)
    return;
  auto gather = [&](auto element) {
    gatherSorted<decltype(element)>(routine, source, indices, results.front(),
                                    threads);
  };
  switch (sizeOf(routine.dtype)) {
  case 1:
    return gather(uint8_t());
  case 2:
    return gather(uint16_t());
  case 4:
    return gather(uint32_t());
  default:
    return gather(uint64_t());
  }
}

void Routine::run(ArrayRef<void *> inputs, ArrayRef<void *> results,
                  ThreadPool &threads) const {
  if (countElements() == 0)
    return;
  switch (kind) {
  case Kind::None:
    return;
  case Kind::Prefix:
    return runPrefix(*this, inputs.front(), inputs.back(), results.front(),
                     threads);
  case Kind::Sort:
    return sort(*this, inputs.front(), results, threads);
  }
}
