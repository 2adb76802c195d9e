//===- SortCalls.h - Calls of the host's sort -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_SORTCALLS_H
#define METAOPS_UNITTESTS_RUNTIME_SORTCALLS_H

#include "MetaOps/Runtime/Program/ProgramData.h"

namespace metaops {

/// Makes a sort of float32 along the middle of three dimensions, in rising
/// order, of which `count` places are wanted.
inline Routine makeSort(int64_t outer, int64_t extent, int64_t inner,
                        int64_t count, bool givesIndices) {
  Routine sort;
  sort.name = "sort";
  sort.attributes = {{"dim", RoutineAttribute::Integers{1}},
                     {"descending", RoutineAttribute::Integers{0}}};
  sort.operands = {
      makeDenseTensor("source", DType::F32, {outer, extent, inner})};
  sort.results = {makeDenseTensor("values", DType::F32, {outer, count, inner})};
  if (givesIndices)
    sort.results.push_back(
        makeDenseTensor("indices", DType::I64, {outer, count, inner}));
  return sort;
}

/// Plans a sort of all places.
inline RoutineCall makeSortCall(int64_t outer, int64_t extent, int64_t inner,
                                bool givesIndices) {
  Routine sort = makeSort(outer, extent, inner, extent, givesIndices);
  auto planned = llvm::cantFail(createHostRoutines()->plan(sort));
  return {sort, "host", planned.implementation->getVersion().str(),
          planned.plan};
}

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_SORTCALLS_H
