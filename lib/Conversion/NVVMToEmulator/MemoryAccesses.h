//===- MemoryAccesses.h - Pointers, loads and stores ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_MEMORYACCESSES_H
#define METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_MEMORYACCESSES_H

#include "KernelEmitter.h"
#include "MetaOps/Support/InstructionClass.h"

#include <optional>
#include <string>

namespace mlir::metaop {

// Rows of the table of instructions: loads and stores.
void emitAccess(Operation *op, KernelEmitter &emitter);
std::string findAccessProblem(Operation *op);
std::optional<::metaops::InstructionClass> countAccess(Operation *op);

/// Returns whether `op` is a load by inline PTX that can be emulated.
bool isPtxLoad(Operation *op);
void emitPtxLoad(Operation *op, KernelEmitter &emitter);

// Rows of pointers: allocations, addresses of variables, casts between
// spaces.
void hoistAllocation(Operation *op, KernelEmitter &emitter);
std::string findAllocationProblem(Operation *op);
void emitAddress(Operation *op, KernelEmitter &emitter);
std::string findAddressProblem(Operation *op);
void emitCast(Operation *op, KernelEmitter &emitter);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_MEMORYACCESSES_H
