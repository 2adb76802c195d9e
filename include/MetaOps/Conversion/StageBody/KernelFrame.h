//===- KernelFrame.h - What surrounds the stages of a kernel ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that holds one metaop.kernel becomes one over buffers and numbers:
//
//   (%inputs: memref<?xT>..., %results: memref<?xT>...,
//    %extents: index..., %indices: index...)
//
// Buffers are one-dimensional; a boolean is a byte. `extents` are the dynamic
// extents of the inputs, in order; `indices` are the kernel's index operands.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_STAGEBODY_KERNELFRAME_H
#define METAOPS_CONVERSION_STAGEBODY_KERNELFRAME_H

#include "MetaOps/Conversion/StageBody/StageBindings.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::metaop {

/// The kernel that a function holds, and nothing else; null if it does not.
KernelOp getOnlyKernel(func::FuncOp function);

/// Has the functions of a module that hold a kernel lowered, each by itself,
/// and erases those that call them: the program around kernels is the
/// runtime's.
LogicalResult
lowerKernels(ModuleOp module,
             function_ref<LogicalResult(func::FuncOp, KernelOp)> lower);

/// A product that feeds an addition may become one instruction, and the largest
/// of two zeros may have either sign. No more of fast arithmetic is allowed,
/// but for what elements that are halves are marked with as they are emitted.
void markFastMath(Operation *lowered);

/// The arguments of a lowered kernel, and what the stages see of them.
class KernelFrame {
public:
  /// Buffers and tables lie in `memorySpace`; null is the default one.
  KernelFrame(func::FuncOp function, KernelOp kernel,
              Attribute memorySpace = {})
      : function(function), kernel(kernel), memorySpace(memorySpace) {}

  /// Fails, with a diagnostic, unless the function takes what a kernel can, and
  /// returns what it yields.
  LogicalResult verify();

  /// The arguments: buffers, of which there are `getNumBuffers`, then numbers.
  SmallVector<Type> getTypes();
  unsigned getNumBuffers();
  /// Says what the arguments are.
  void bind(ValueRange arguments);

  /// Buffers of the kernel's arguments and of its stages' results. Those that
  /// do not leave the kernel are added by who makes them.
  llvm::DenseMap<Value, Value> &getBuffers() { return buffers; }

  /// Gives what a stage needs at the insertion point. Constants of several
  /// values become globals of `symbols`. Numbers out of tensors are cut off at
  /// `limits`; see StageBindings.
  FailureOr<StageBindings> bindStage(OpBuilder &b, const Stage &stage,
                                     Operation *symbols,
                                     ArrayRef<int64_t> limits = {});

private:
  MemRefType getBufferType(RankedTensorType type, RowsAttr rows = {}) const;
  FailureOr<Value> emitSymbol(OpBuilder &b, const Stage &stage, unsigned number,
                              const StageBindings &bindings);
  Value emitTable(OpBuilder &b, ConstantOp op, Operation *symbols);

  func::FuncOp function;
  KernelOp kernel;
  Attribute memorySpace;
  llvm::DenseMap<Value, Value> buffers;
  /// Dynamic extents of arguments, and index arguments.
  llvm::DenseMap<std::pair<Value, unsigned>, Value> extents;
  llvm::DenseMap<Value, Value> indices;
};

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_STAGEBODY_KERNELFRAME_H
