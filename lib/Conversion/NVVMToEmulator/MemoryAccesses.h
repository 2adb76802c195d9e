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

namespace mlir::metaop {

/// Whether emitMemoryOp replaces `op`; if it is of a kind that it replaces, but
/// in a form that cannot be emulated, says why.
bool isMemoryOp(Operation *op, std::string &problem);

/// Whether such an operation makes a pointer. It is replaced after all others,
/// which ask where pointers come from.
bool isPointerOp(Operation *op);

/// Replaces an access, an asynchronous copy, or what makes a pointer: a cast
/// between spaces, the address of a variable, an allocation.
void emitMemoryOp(Operation *op, KernelEmitter &emitter);

/// What accesses of `op` are counted as.
::metaops::InstructionClass classifyMemoryOp(Operation *op);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_MEMORYACCESSES_H
