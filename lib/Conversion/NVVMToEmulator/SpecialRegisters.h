//===- SpecialRegisters.h - Special registers of threads --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_SPECIALREGISTERS_H
#define METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_SPECIALREGISTERS_H

#include "KernelEmitter.h"

namespace mlir::metaop {

/// Returns whether `op` reads a special register that there is in the emulator.
bool isSpecialRegister(Operation *op);

/// Replaces such an operation.
void emitSpecialRegister(Operation *op, KernelEmitter &emitter);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_SPECIALREGISTERS_H
