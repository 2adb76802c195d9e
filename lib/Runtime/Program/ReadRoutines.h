//===- ReadRoutines.h - Routines of programs from files ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_PROGRAM_READROUTINES_H
#define METAOPS_LIB_RUNTIME_PROGRAM_READROUTINES_H

#include "MetaOps/Runtime/Program/ProgramData.h"

#include <array>

namespace metaops {

/// The numbers of a sort in the layout of sorts alone: its kind, dtype, lines
/// outside, extent, lines inside, places, and whether it has a begin, is in
/// falling order, and gives values and indices.
struct FormerSort {
  std::array<int64_t, 10> numbers{};
};

/// Makes a routine of such numbers. What no sort can have is left to those who
/// verify routines.
Routine makeRoutine(const FormerSort &sort);

/// Plans a routine that was read, by the library that it names.
llvm::Error planRoutine(RoutineCall &call, const RoutineRegistry &routines);

/// Gives scratch memory to routines that were planned with less of it, or with
/// none: it is behind the arena, and one place for all.
void makeScratch(ProgramData &program);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_PROGRAM_READROUTINES_H
