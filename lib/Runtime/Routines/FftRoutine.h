//===- FftRoutine.h - The host's Fourier transforms as a routine *- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_FFTROUTINE_H
#define METAOPS_LIB_RUNTIME_ROUTINES_FFTROUTINE_H

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"

namespace metaops {

std::shared_ptr<const RoutineImplementation> createFftRoutine();

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_FFTROUTINE_H
