//===- SortRoutine.h - The host's sort as a routine -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_SORTROUTINE_H
#define METAOPS_LIB_RUNTIME_ROUTINES_SORTROUTINE_H

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"

namespace metaops {

/// Makes the implementation of `sort` by the host.
std::shared_ptr<const RoutineImplementation> createSortRoutine();

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_SORTROUTINE_H
