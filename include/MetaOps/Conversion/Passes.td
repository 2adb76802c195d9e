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
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def ConvertMetaOpToGPUPass
    : Pass<"convert-metaop-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Turns scheduled kernels into functions of a GPU";
  let description = [{
    Each function that holds one `metaop.kernel` becomes a `gpu.module` with a
    function over one-dimensional buffers in global memory, the inputs before the
    results, and numbers. What blocks and threads do is what the stages'
    schedules say. `metaop.grid` is the number of blocks of a call. Functions in
    front of the last one, which run before it with the same arguments, set to
    the identity what is combined in memory.

    Before:
    ```mlir
    func.func private @kernel_0(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
      %y = metaop.kernel(%a = %x : tensor<1048576xf32>) -> tensor<1048576xf32> {
        %z = metaop.fused(...) -> tensor<1048576xf32>
            schedule(#metaop.schedule<[block(0, 4096), thread(0, 4)],
                                      tile = [0: 16], lanes = 0: 4>) { ... }
    ```
    After:
    ```mlir
    gpu.module @kernel_0 {
      gpu.func @kernel_0(%x: memref<1048576xf32, 1>, %y: memref<1048576xf32, 1>)
          kernel attributes {metaop.num_buffers = 2, metaop.grid = 256,
          metaop.launch = #metaop.launch<threads = 256, index_bits = 32>} {
        %thread = gpu.thread_id x
        %block = gpu.block_id x
        %first = ...
        %0 = vector.load %x[%first] {alignment = 16}
            : memref<1048576xf32, 1>, vector<4xf32>
        ...
        %4 = math.exp %0 : vector<4xf32>
        vector.store %4, %y[%first] {alignment = 16}
            : memref<1048576xf32, 1>, vector<4xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def AbstractNumbersPass : Pass<"metaop-abstract-numbers", "::mlir::ModuleOp"> {
  let summary = "Makes arguments of the numbers of kernels";
  let description = [{
    In each function with `metaop.num_buffers`, every `arith.constant` of type
    index becomes an argument, in the order of the text, before the two bounds;
    the values are listed in `metaop.numbers`. Buffers forget their lengths.

    Kernels that differ in extents, strides or offsets only become equal by
    this, but for `metaop.numbers` and the two attributes that tell a call's
    range and work. The runtime compiles specialisations of such a family:
    numbers that differ stay arguments, others become constants again.

    Before:
    ```mlir
    func.func @k(%x: memref<64xf32>, %begin: index, %end: index)
        attributes {metaop.num_buffers = 1, metaop.parallel_range = 4} {
      %c1 = arith.constant 1 : index
      scf.for %i = %begin to %end step %c1 {
        %c16 = arith.constant 16 : index
        %0 = arith.muli %i, %c16 : index
    ```
    After:
    ```mlir
    func.func @k(%x: memref<?xf32>, %n0: index, %n1: index, %begin: index,
                 %end: index)
        attributes {metaop.num_buffers = 1, metaop.parallel_range = 4,
                    metaop.numbers = array<i64: 1, 16>} {
      scf.for %i = %begin to %end step %n0 {
        %0 = arith.muli %i, %n1 : index
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"
  ];
}

def ExpandMathPass : Pass<"metaop-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expands transcendental functions and bf16 conversions";
  let description = [{
    Replaces exponentials, logarithms, `tanh` and `erf` of f32, scalar and vector
    alike, by polynomials with errors of one or two units in the last place, and
    its other functions by polynomials in f64, rounded once, so that the vector
    body and the scalar rest of a loop agree. f64 stays with the functions of the
    C library, but for `log`. Expands floor and ceil division and conversions
    from and to bf16, the latter by as little as what is rounded asks for.

    Before: `%1 = math.exp %0 : vector<16xf32>`; after: arith operations.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"
  ];
}

def FormFmaPass : Pass<"metaop-form-fma"> {
  let summary = "Fuses products with the sums that they feed";
  let description = [{
    Contraction: where the flag `contract` allows it, a product that feeds one sum or difference
    becomes `math.fma` with it. No contraction is left to later passes, so the
    same operations are fused whatever these know of the operands.

    Before:
    ```mlir
    %p = arith.mulf %a, %b fastmath<contract> : vector<16xf32>
    %s = arith.addf %p, %c fastmath<contract> : vector<16xf32>
    ```
    After:
    ```mlir
    %s = math.fma %a, %b, %c : vector<16xf32>
    ```
  }];
  let options = [Option<"hasFma", "has-fma", "bool", /*default=*/"true",
                        "Whether the target has the instruction; if not, "
                        "nothing is fused">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"
  ];
}

def KernelEntryPass : Pass<"metaop-kernel-entry", "::mlir::ModuleOp"> {
  let summary = "Adds the entry point of each kernel";
  let description = [{
    For each function with `metaop.num_buffers`, a function that the runtime
    calls through one type of pointer, whatever the kernel:

    ```c
    void NAME_entry(void **buffers, const int64_t *scalars,
                    int64_t begin, int64_t end);
    ```

    `scalars` are the index arguments of the kernel in order, but for the two
    bounds, which are `begin` and `end`.

    Before:
    ```mlir
    func.func @k(%x: memref<64xf32>, %begin: index, %end: index)
    ```
    After, in addition:
    ```mlir
    func.func @k_entry(%buffers: !llvm.ptr, %scalars: !llvm.ptr, %begin: i64,
                       %end: i64)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"
  ];
}

#endif // METAOPS_CONVERSION_PASSES_TD
