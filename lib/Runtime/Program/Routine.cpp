//===- Routine.cpp - Sorts of tensors in memory ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/Routine.h"
#include "MetaOps/Support/Counts.h"
#include "StepPlan.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace metaops;

/// What an element takes, in picoseconds: for each bit of the extent, without
/// and with indices; and in the selection of a part of the order.
static constexpr int64_t kSortWork = 130;
static constexpr int64_t kArgsortWork = 230;
static constexpr int64_t kSelectWork = 500;

int64_t Routine::getWork() const {
  int64_t perElement = (givesIndices ? kArgsortWork : kSortWork) *
                       llvm::bit_width(uint64_t(extent));
  if (count < extent / 8)
    perElement = kSelectWork;
  return multiplyCounts(countElements(), perElement);
}

int64_t Routine::getMaxThreads() const {
  return std::max<int64_t>(1, getWork() / kWorkPerThread);
}

bool Routine::isValid() const {
  int64_t lines, elements;
  return kind == Kind::Sort && outer >= 0 && extent >= 0 && inner >= 0 &&
         dtype <= DType::F64 && count >= 0 && count <= extent &&
         !llvm::MulOverflow(outer, inner, lines) &&
         !llvm::MulOverflow(lines, extent, elements) &&
         // Nor do the bytes of results and of scratch memory overflow.
         elements <= std::numeric_limits<int64_t>::max() / 128;
}

int64_t Routine::getScratchBytes() const {
  return kind == Kind::Sort && countResults() > 0 ? getSortScratch(*this) : 0;
}

/// Returns the place at which a routine begins in the order of each line:
/// wherever its number leads, there are elements.
static int64_t readBegin(const Routine &routine,
                         llvm::ArrayRef<void *> inputs) {
  if (!routine.hasBegin)
    return 0;
  int64_t place = *static_cast<const int64_t *>(inputs.back());
  return std::clamp<int64_t>(place, 0, routine.extent - routine.count);
}

std::optional<int64_t> Routine::run(llvm::ArrayRef<void *> inputs,
                                    llvm::ArrayRef<void *> results,
                                    char *scratch, ThreadPool &threads,
                                    StopCheck shouldStop, int64_t begin) const {
  if (countResults() == 0)
    return std::nullopt;
  switch (kind) {
  case Kind::None:
    return std::nullopt;
  case Kind::Sort:
    return runSort(*this, inputs.front(), readBegin(*this, inputs), results,
                   scratch, threads, shouldStop, begin);
  }
}
