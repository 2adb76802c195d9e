//===- Instructions.h - Emulated instructions -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_INSTRUCTIONS_H
#define METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_INSTRUCTIONS_H

#include "KernelEmitter.h"
#include "MetaOps/Support/InstructionClass.h"

#include <optional>

namespace mlir::metaop {

/// The ways to emulate an operation.
enum class Emulation : uint8_t {
  /// The thread suspends, and the engine goes on with it.
  Waits,
  /// The engine is called, and returns the result.
  Called,
  /// A function of the host computes the result.
  Computed,
  /// A function of the row replaces it.
  Rewritten,
  /// The same, after all others.
  Pointer,
  /// It does nothing.
  Dropped
};

/// Says what the engine is told of an operation. It is called where operations
/// may be made.
using Decoder = void (*)(Operation *op, InstructionSite &site,
                         KernelEmitter &emitter);

/// Replaces an operation.
using Rewriter = void (*)(Operation *op, KernelEmitter &emitter);

/// A row of the table, for one of the operations that it is of.
struct InstructionRow {
  Emulation emulation;
  /// The instruction of the engine, or the function of the host.
  StringRef name;
  /// Returns the class that the operation is counted in, if it is counted.
  std::optional<::metaops::InstructionClass> (*count)(Operation *op);
  Decoder decode = nullptr;
  Rewriter rewrite = nullptr;
  /// Says what is wrong with a form that cannot be emulated; empty if it can.
  /// Null if all can.
  std::string (*findProblem)(Operation *op) = nullptr;
};

/// Returns what an operation is called in the table.
std::string getInstructionKey(Operation *op);

/// Returns the row of an operation, or null.
const InstructionRow *findInstruction(Operation *op);

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
