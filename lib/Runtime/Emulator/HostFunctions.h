//===- HostFunctions.h - Functions that emulated code calls -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATOR_HOSTFUNCTIONS_H
#define METAOPS_LIB_RUNTIME_EMULATOR_HOSTFUNCTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace metaops::emulator {

struct HostFunction {
  llvm::StringLiteral name;
  void *address;
};

/// Returns the functions of the engine, and those that the C library lacks.
llvm::ArrayRef<HostFunction> getHostFunctions();

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_HOSTFUNCTIONS_H
