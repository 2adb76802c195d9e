//===- Routine.cpp - Sorts of tensors in memory ---------------------------===//
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

/// What an element takes in each of the rounds of a sort, in picoseconds.
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
  auto sort = cast<metaop::SortOp>(*op);
  routine.kind = Kind::Sort;
  routine.isReverse = sort.getDescending();
  routine.givesValues = !sort.getValues().use_empty();
  routine.givesIndices = !sort.getIndices().use_empty();
  return routine;
}

int64_t Routine::getWork() const {
  return metaop::multiplyCounts(countElements(),
                                kSortWork * (1 + sizeOf(dtype)));
}

int64_t Routine::getMaxThreads() const {
  // A sort is shared by its lines.
  return std::max<int64_t>(1,
                           std::min(outer * inner, getWork() / kWorkPerThread));
}

unsigned Routine::getNumResults() const { return givesValues + givesIndices; }

bool Routine::isValid() const {
  int64_t lines, elements;
  return kind == Kind::Sort && outer >= 0 &&
         extent >= 0 && inner >= 0 && dtype <= DType::F64 &&
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
  case Kind::Sort:
    return sort(*this, inputs.front(), results, threads);
  }
}
