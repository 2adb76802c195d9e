//===- Instructions.h - The table of emulated instructions ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_INSTRUCTIONS_H
#define METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_INSTRUCTIONS_H

#include "KernelEmitter.h"

namespace mlir::metaop {

/// How an operation is emulated.
enum class Emulation : uint8_t {
  /// The thread suspends, and the engine goes on with it.
  Waits,
  /// The engine is called, and returns the result.
  Called,
  /// A function of the host computes the result.
  Computed,
  /// It does nothing.
  Dropped
};

/// One instruction.
struct InstructionRow {
  /// The name of the operation; or of the intrinsic that it calls; or its PTX.
  StringRef key;
  Emulation emulation;
  /// The semantics: a row of lib/Runtime/Emulator/Instructions.cpp, or a
  /// function of HostFunctions.cpp there or of the C library.
  StringRef semantics;
  ::metaops::InstructionClass counted;
  /// Says what the engine is told: by default the operands, in order. It is
  /// called where operations may be made.
  void (*describe)(Operation *op, InstructionSite &site,
                   KernelEmitter &emitter) = nullptr;
};

/// What an operation is called in tables: `key` of its row.
std::string getInstructionKey(Operation *op);

/// The row of an operation, or of a function of libdevice that it calls.
std::optional<InstructionRow> findInstruction(Operation *op);

/// Replaces `op`, which `row` is of.
void emitInstruction(const InstructionRow &row, Operation *op,
                     KernelEmitter &emitter);

/// Adds what is known of an access of `type` at `address`: its space, bytes and
/// alignment, by default that of the type.
void describeAccess(Operation *op, Value address, Type type,
                    std::optional<uint64_t> alignment, InstructionSite &site);

/// Adds the order and the scope of an operation of the LLVM dialect.
void describeOrder(LLVM::AtomicOrdering ordering, StringRef scope,
                   InstructionSite &site, MLIRContext *context);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_INSTRUCTIONS_H
