//===- CpuCompiler.h - Compiling for this processor -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CPU_CPUCOMPILER_H
#define METAOPS_RUNTIME_CPU_CPUCOMPILER_H

#include "MetaOps/Runtime/Compiler/Compiler.h"

#include <memory>

namespace metaops {

/// Compiles for this machine's CPU, with a kernel cache of its own.
std::unique_ptr<Compiler> createCpuCompiler();

} // namespace metaops

#endif // METAOPS_RUNTIME_CPU_CPUCOMPILER_H
