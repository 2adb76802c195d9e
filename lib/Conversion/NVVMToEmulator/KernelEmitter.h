//===- KernelEmitter.h - Code of one emulated kernel ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_KERNELEMITTER_H
#define METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_KERNELEMITTER_H

#include "MetaOps/Conversion/EmulatedThread.h"
#include "SharedLayout.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::metaop {

/// An instruction as the engine is told of it: what it takes at run time, and
/// what is known of it now, by name.
struct InstructionSite {
  SmallVector<Value> operands;
  SmallVector<NamedAttribute> fields;

  void addField(StringRef name, int64_t value, MLIRContext *context) {
    fields.emplace_back(StringAttr::get(context, name),
                        IntegerAttr::get(IntegerType::get(context, 64), value));
  }
};

/// Builds the coroutine that a kernel becomes. What it emits goes before the
/// operation that is being replaced.
class KernelEmitter {
public:
  /// `layout` places the shared variables of `module`, into which the function
  /// goes.
  KernelEmitter(ModuleOp module, const SharedLayout &layout);

  /// Makes the function, with the kernel's body in it behind the coroutine's
  /// beginning. The body still has the operations of a GPU.
  LLVM::LLVMFuncOp begin(LLVM::LLVMFuncOp kernel);
  /// Writes on the function what the engine needs to know of it.
  void finish(LLVM::LLVMFuncOp kernel);

  OpBuilder &getBuilder() { return builder; }
  Value getThread() const { return thread; }
  const SharedLayout &getLayout() const { return layout; }

  /// Has the thread wait for the instruction, and replaces `op` by its results.
  void emitWait(Operation *op, StringRef instruction,
                const InstructionSite &site);
  /// Has the engine do the instruction at once, and replaces `op` by its
  /// result, if there is one.
  void emitCall(Operation *op, StringRef instruction,
                const InstructionSite &site);
  /// The same, as a value of type `result`, without replacing anything.
  Value emitEngineCall(Operation *op, StringRef instruction,
                       const InstructionSite &site, Type result);
  /// Replaces `op`, a terminator, by the end of the thread.
  void emitExit(Operation *op);
  /// Replaces `op` by a call of a function of the host.
  void emitHostCall(Operation *op, StringRef function);

  /// Counts the executions of `block`, which is the `number`-th, at its start.
  void emitCount(Block *block, unsigned number);
  /// Has threads that come to `block` often let others run.
  void emitYield(Block *block);

  /// Moves an allocation of constant size to the beginning.
  void hoist(LLVM::AllocaOp alloca);

  Value emitConstant(int64_t value, unsigned bits = 64);
  /// A register, as i32.
  Value emitRegister(metaops::ThreadRegister number);
  Value emitRegister(metaops::BlockRegister number, unsigned dimension);

  /// Adds to what the engine is told of, and returns the number.
  unsigned addSite(Operation *op, StringRef instruction,
                   const InstructionSite &site);

private:
  LLVM::LLVMFuncOp declare(StringRef name, Type result,
                           ArrayRef<Type> arguments);
  Value emitThreadField(unsigned offset);
  Value toSlot(Value value);
  Value fromSlot(Value slot, Type type);
  /// Suspends before the insertion point; what follows is run when the thread
  /// is resumed.
  void emitSuspension(Location loc);
  void emitWaitAt(Location loc, unsigned site, ValueRange operands);
  void emitPrologue(LLVM::LLVMFuncOp kernel);

  ModuleOp module;
  const SharedLayout &layout;
  OpBuilder builder;
  Location loc;
  LLVM::LLVMFuncOp function;
  Value thread, handle;
  /// The block in which the coroutine begins, and its last operation but for
  /// what is hoisted.
  Operation *prologueEnd = nullptr;
  /// The block to which a coroutine goes when it suspends.
  Block *suspended = nullptr;
  SmallVector<Attribute> sites;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_KERNELEMITTER_H
