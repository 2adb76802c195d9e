//===- CheckMatrices.h - Failures for matrices ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_CHECKMATRICES_H
#define METAOPS_LIB_RUNTIME_ROUTINES_CHECKMATRICES_H

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"

namespace metaops {

/// Makes the implementation of `check_matrices` by the host.
std::shared_ptr<const RoutineImplementation> createCheckMatrices();

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_CHECKMATRICES_H
