//===- RoutineCalls.h - Operations as calls of routines ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_KERNELS_ROUTINECALLS_H
#define METAOPS_LIB_RUNTIME_KERNELS_ROUTINECALLS_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Runtime/Program/ProgramData.h"

namespace metaops {

/// Makes a call of what an operation says of its routine, planned by the first
/// implementation that takes it. The operation is of static shapes, and its
/// routine has a name.
llvm::Expected<RoutineCall> makeRoutineCall(mlir::metaop::RoutineOpInterface op,
                                            const RoutineRegistry &routines);

/// Returns the predicted picoseconds of a routine on one thread; nothing where
/// nobody computes it.
std::optional<int64_t> findWork(mlir::metaop::RoutineOpInterface op,
                                const RoutineRegistry &routines);

/// Returns the scratch memory that a routine takes, in bytes. Fails, behind an
/// error of the operation's, where nobody computes it.
mlir::FailureOr<int64_t> countScratch(mlir::metaop::RoutineOpInterface op,
                                      const RoutineRegistry &routines);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_KERNELS_ROUTINECALLS_H
