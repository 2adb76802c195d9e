//===- GpuTarget.h - Programs for GPUs that are not here --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GPU_GPUTARGET_H
#define METAOPS_RUNTIME_GPU_GPUTARGET_H

#include "MetaOps/Runtime/Compiler/Compiler.h"

#include <memory>

namespace metaops {

/// Compiles programs that nobody runs, to be looked at, for a target by its
/// name: "cuda:sm_90a". Fails where there is none, and lists those that there
/// are.
llvm::Expected<std::unique_ptr<Compiler>>
createTargetCompiler(llvm::StringRef target);

} // namespace metaops

#endif // METAOPS_RUNTIME_GPU_GPUTARGET_H
