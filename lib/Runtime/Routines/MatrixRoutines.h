//===- MatrixRoutines.h - Linear algebra by LAPACK --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_MATRIXROUTINES_H
#define METAOPS_LIB_RUNTIME_ROUTINES_MATRIXROUTINES_H

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"

namespace metaops {

/// Adds the routines of linear algebra, whose library is found at first use.
void addMatrixRoutines(RoutineRegistry &registry);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_MATRIXROUTINES_H
