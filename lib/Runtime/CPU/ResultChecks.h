//===- ResultChecks.h - Checks of what programs compute ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CPU_RESULTCHECKS_H
#define METAOPS_LIB_RUNTIME_CPU_RESULTCHECKS_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Program/ProgramData.h"

namespace metaops {

/// Has a program check its last results, two for each check, which it then does
/// not return any more. It overwrites no argument.
void checkLastResults(ProgramData &program, ProgramInfo &info,
                      llvm::ArrayRef<ResultCheck> checks);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CPU_RESULTCHECKS_H
