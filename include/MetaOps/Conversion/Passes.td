//===- Passes.td - Conversion passes -----------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_PASSES_TD
#define METAOPS_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertMetaOpToVectorPass
    : Pass<"convert-metaop-to-vector", "::mlir::ModuleOp"> {
  let summary = "Turns scheduled kernels into loops over buffers";
  let description = [{
    Each function that holds one `metaop.kernel` becomes a function over
    one-dimensional buffers, the inputs before the results, with the loops and
    vectors that the stages' schedules name.

    Before:
    ```mlir
    func.func private @kernel_0(%x: tensor<64xf32>) -> tensor<64xf32> {
      %y = metaop.kernel(%a = %x : tensor<64xf32>) -> tensor<64xf32> { ... }
      return %y : tensor<64xf32>
    }
    ```
    After:
    ```mlir
    func.func @kernel_0(%x: memref<64xf32>, %y: memref<64xf32>,
                        %begin: index, %end: index)
        attributes {metaop.num_buffers = 2, metaop.parallel_range = 1} {
      scf.for %block = %begin to %end step %c1 {
        scf.for %i = ... {
          %0 = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
          %1 = math.exp %0 : vector<16xf32>
          vector.store %1, %y[%i] : memref<64xf32>, vector<16xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def ExpandMathPass : Pass<"metaop-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expands transcendental functions and bf16 conversions";
  let description = [{
    Replaces f32 transcendentals, scalar and vector alike, by MLIR's polynomial
    approximations, so that the vector body and the scalar rest of a loop agree.
    f64 stays with the functions of the C library. Expands floor and ceil
    division and conversions to bf16.

    Before: `%1 = math.exp %0 : vector<16xf32>`; after: arith operations.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def KernelEntryPass : Pass<"metaop-kernel-entry", "::mlir::ModuleOp"> {
  let summary = "Adds the entry point of each kernel";
  let description = [{
    For each function with `metaop.num_buffers`, a function that the runtime
    calls through one type of pointer, whatever the kernel:

    ```c
    int32_t NAME_entry(void **buffers, const int64_t *scalars,
                       int64_t begin, int64_t end, Status *status);
    ```

    `scalars` are the index arguments of the kernel in order. The result is 0.

    Before:
    ```mlir
    func.func @k(%x: memref<64xf32>, %begin: index, %end: index)
    ```
    After, in addition:
    ```mlir
    func.func @k_entry(%buffers: !llvm.ptr, %scalars: !llvm.ptr, %begin: i64,
                       %end: i64, %status: !llvm.ptr) -> i32
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"
  ];
}

#endif // METAOPS_CONVERSION_PASSES_TD
