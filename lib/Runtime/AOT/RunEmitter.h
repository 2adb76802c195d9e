//===- RunEmitter.h - A program's steps as one function ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_AOT_RUNEMITTER_H
#define METAOPS_LIB_RUNTIME_AOT_RUNEMITTER_H

#include "MetaOps/Runtime/Program/ProgramData.h"
#include "ModelInterface.h"

namespace llvm {
class Module;
} // namespace llvm

namespace metaops {

/// Adds the functions of a model to a module that holds the functions of its
/// kernels. The program has no routines.
void emitModelFunctions(const ProgramData &program, const ModelInterface &model,
                        llvm::Module &module);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_AOT_RUNEMITTER_H
