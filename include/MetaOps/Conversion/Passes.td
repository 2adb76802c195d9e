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

def MetaOp_ChipOption
    : Option<"chip", "chip", "const ::mlir::metaop::Chip *",
             /*default=*/"::mlir::metaop::Chip::getDefault()",
             "The GPU that code is made for, such as sm_90a">;

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
        attributes {metaop.entry = #metaop.entry<buffers = 2, range = 1>, metaop.kernel} {
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
    schedules say, which are verified for the chip before. The `range` of
    `metaop.entry` is the number of blocks of a call. Functions run in order with the same arguments;
    one in front of that with the name of the kernel sets to the identity what
    is combined in memory. Where floats are summed in no order that is known,
    two more add them as integers; `scratch` then says how many words the last
    buffers have, which are the kernel's own.

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
          kernel attributes {metaop.entry = #metaop.entry<buffers = 2, range = 256>,
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
  let options = [MetaOp_ChipOption];
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
    In each kernel over buffers, a `func.func` with `metaop.kernel` or a kernel
    of `gpu`, every `arith.constant` of type index becomes an argument, in the order of the text, before the two bounds;
    the values are listed in `metaop.numbers`. Buffers forget their lengths. In
    kernels for GPUs, which have no bounds, numbers are the last arguments.

    Kernels that differ in extents, strides or offsets only become equal by
    this, but for `metaop.numbers` and `metaop.entry`. The runtime compiles
    specialisations of such a family: numbers that differ stay arguments, others become constants again.

    Before:
    ```mlir
    func.func @k(%x: memref<64xf32>, %begin: index, %end: index)
        attributes {metaop.entry = #metaop.entry<buffers = 1, range = 4>, metaop.kernel} {
      %c1 = arith.constant 1 : index
      scf.for %i = %begin to %end step %c1 {
        %c16 = arith.constant 16 : index
        %0 = arith.muli %i, %c16 : index
    ```
    After:
    ```mlir
    func.func @k(%x: memref<?xf32>, %n0: index, %n1: index, %begin: index,
                 %end: index)
        attributes {metaop.entry = #metaop.entry<buffers = 1, range = 4>, metaop.kernel,
                    metaop.numbers = array<i64: 1, 16>} {
      scf.for %i = %begin to %end step %n0 {
        %0 = arith.muli %i, %n1 : index
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"
  ];
}

def BindNumbersPass : Pass<"metaop-bind-numbers", "::mlir::ModuleOp"> {
  let summary = "Makes constants of the numbers of kernels again";
  let description = [{
    The other direction of `metaop-abstract-numbers`: each number that a kernel
    takes becomes the constant that `metaop.numbers` says, at the beginning of
    the kernel, and equal ones are one constant. That is the form of a kernel
    that is called with one shape; the runtime binds some numbers only, where it
    has seen several.

    Before:
    ```mlir
    func.func @k(%x: memref<?xf32>, %n0: index, %n1: index, %begin: index,
                 %end: index)
        attributes {metaop.entry = #metaop.entry<buffers = 1, range = 4>, metaop.kernel,
                    metaop.numbers = array<i64: 1, 16>} {
      scf.for %i = %begin to %end step %n0 {
        %0 = arith.muli %i, %n1 : index
    ```
    After:
    ```mlir
    func.func @k(%x: memref<?xf32>, %begin: index, %end: index)
        attributes {metaop.entry = #metaop.entry<buffers = 1, range = 4>, metaop.kernel} {
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      scf.for %i = %begin to %end step %c1 {
        %0 = arith.muli %i, %c16 : index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandMathPass : Pass<"metaop-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expands transcendental functions and bf16 conversions";
  let description = [{
    Replaces exponentials, logarithms, `tanh` and `erf` of f32, scalar and vector
    alike, by polynomials with errors of one or two units in the last place, and
    its other functions by polynomials in f64, rounded once, so that the vector
    body and the scalar rest of a loop agree. f64 stays with the functions of the
    C library, but for `log`, and for powers that all readers round to f32: with
    those of vectors, where it has them.
    Expands floor and ceil division and conversions from and to bf16, the latter
    by as little as what is rounded asks for.

    For GPUs, f64 keeps its other functions, which libdevice has, and conversions
    of bf16 stay, which are instructions there. f32 has the same bits on both: but
    for the quotient in `tanh`, which is rounded the same, it is the same
    arithmetic. What is marked `afn` and only rounded to halves is approximated
    by instructions, but for logarithms that are rounded to f16:

    ```mlir
    %1 = math.exp %0 fastmath<afn> : f32
    %2 = arith.truncf %1 : f32 to bf16
    // becomes
    %1 = arith.mulf %0, %log2e : f32
    %2 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"(%1) : (f32) -> f32
    %3 = arith.truncf %2 : f32 to bf16
    ```

    Before: `%1 = math.exp %0 : vector<16xf32>`; after: arith operations. With
    `vector-math-bits=512`, before: `%1 = math.exp %0 : vector<8xf64>`; after:
    `%1 = call @_ZGVeN8v_exp(%0) : (vector<8xf64>) -> vector<8xf64>`.
  }];
  let options = [
    Option<"isForGpu", "gpu", "bool", /*default=*/"false",
           "Expand what GPUs have no instruction for">,
    Option<"vectorMathBits", "vector-math-bits", "unsigned", /*default=*/"0",
           "Bits of the vectors of f64 that the C library has functions of, 128, "
           "256 or 512, or 0 for none">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def SkipUnchosenPass : Pass<"metaop-skip-unchosen"> {
  let summary = "Computes functions only where a lane chooses them";
  let description = [{
    Where a function is computed for one side of a choice alone, that side goes
    into a branch that asks whether any lane of the vector chooses it. Where both
    sides take functions, each does.

    Before:
    ```mlir
    %e = math.expm1 %x : vector<16xf32>
    %y = arith.select %isNegative, %e, %x : vector<16xi1>, vector<16xf32>
    ```
    After:
    ```mlir
    %any = vector.reduction <or>, %isNegative : vector<16xi1> into i1
    %y = scf.if %any -> (vector<16xf32>) {
      %e = math.expm1 %x : vector<16xf32>
      %s = arith.select %isNegative, %e, %x : vector<16xi1>, vector<16xf32>
      scf.yield %s : vector<16xf32>
    } else {
      scf.yield %x : vector<16xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def BFloat16BitsPass : Pass<"metaop-bf16-bits"> {
  let summary = "Has what moves numbers of bf16 move integers";
  let description = [{
    Loads and stores, selections, shuffles, and what blocks take of bf16 are of
    integers of 16 bits, which all processors have registers for. Operations
    that compute keep their types; a number is widened by a shift, and rounded
    from f32 by arithmetic of integers.

    Before:
    ```mlir
    %v = llvm.intr.masked.load %p, %mask, %other
        : (!llvm.ptr, vector<16xi1>, vector<16xbf16>) -> vector<16xbf16>
    %w = llvm.fpext %v : vector<16xbf16> to vector<16xf32>
    ```
    After:
    ```mlir
    %v = llvm.intr.masked.load %p, %mask, %other
        : (!llvm.ptr, vector<16xi1>, vector<16xi16>) -> vector<16xi16>
    %z = llvm.zext %v : vector<16xi16> to vector<16xi32>
    %s = llvm.shl %z, %sixteen : vector<16xi32>
    %w = llvm.bitcast %s : vector<16xi32> to vector<16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
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
    For each function with `metaop.kernel`, a function that the runtime
    calls through one type of pointer, whatever the kernel:

    ```c
    void NAME_entry(void **buffers, const int64_t *scalars,
                    int64_t begin, int64_t end);
    ```

    `scalars` are the index arguments of the kernel in order, but for the two
    bounds, which are `begin` and `end`. The kernel is then LLVM's to
    inline, and what the dialect says of it goes.

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

def VerifyGpuKernelsPass : Pass<"metaop-verify-gpu", "::mlir::ModuleOp"> {
  let summary = "Checks that kernels for GPUs can be lowered";
  let description = [{
    The legality check of the phase `gpu`. Each `gpu.module` holds kernels that a
    call runs in order with the same arguments: 1-d buffers in memory space 1, as
    many as `metaop.entry` says, then numbers of type index. Each has a
    `metaop.launch` that the chip can run, and shared memory, if any, as workgroup
    attributions of static shapes in space 3, no more than the chip has. Threads
    and blocks are numbered along x. Masked accesses and gathers of vectors are refused: they
    are no instructions of GPUs, and would become a branch for each lane.
  }];
  let options = [MetaOp_ChipOption];
}

def CallLibdevicePass : Pass<"metaop-call-libdevice", "::mlir::ModuleOp"> {
  let summary = "Calls libdevice for functions without arithmetic of their own";
  let description = [{
    In each `gpu.module`, what `metaop-expand-math=gpu=true` has left of the
    functions of f64, and remainders of floats, become calls of NVIDIA's library,
    lane by lane. Their bodies are linked in the phase `ptx`.

    Before:
    ```mlir
    %1 = math.exp %0 : f64
    ```
    After:
    ```mlir
    llvm.func @__nv_exp(f64) -> f64
    ...
    %1 = llvm.call @__nv_exp(%0) : (f64) -> f64
    ```
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"
  ];
}

def GpuEntryPass : Pass<"metaop-gpu-entry", "::mlir::ModuleOp"> {
  let summary = "Has kernels for GPUs take bare pointers and numbers";
  let description = [{
    A call of a GPU's kernel copies its arguments to constant memory, so of each
    buffer it gives the address alone, and of each number 64 bits. Buffers are
    aligned to 64 bytes; whether they overlap is said by whoever knows
    (`llvm.noalias`), and otherwise nobody knows. The launch becomes attributes
    of the NVVM dialect. Shared memory beyond what a kernel may hold by itself is
    asked for by each call, `metaop.dynamic_shared_bytes`.

    Before:
    ```mlir
    gpu.func @k(%x: memref<?xf32, 1>, %n: index) kernel
        attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 256>}
    ```
    After:
    ```mlir
    gpu.func @k(%x: !llvm.ptr<1> {llvm.align = 64}, %n: i64) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>,
                    nvvm.reqntid = array<i32: 256, 1, 1>, ...}
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect"
  ];
}

def ConvertKernelsToNVVMPass
    : Pass<"convert-kernels-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Turns kernels for GPUs into the LLVM and NVVM dialects";
  let description = [{
    MLIR's own patterns, applied at once, with indices as wide as the kernel's
    `metaop.launch` says. Loops have become branches before. Arithmetic of
    indices of 32 bits does not wrap (`nsw`).

    Before:
    ```mlir
    gpu.func @k(%x: !llvm.ptr<1>) kernel {
      %i = gpu.thread_id x
    ```
    After:
    ```mlir
    llvm.func @k(%x: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %i = nvvm.read.ptx.sreg.tid.x range <i32, 0, 256> : i32
    ```
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"
  ];
}

def EmitPtxPass : Pass<"metaop-emit-ptx", "::mlir::ModuleOp"> {
  let summary = "Writes kernels as PTX";
  let description = [{
    Each `gpu.module` of the LLVM and NVVM dialects becomes a `gpu.binary` that
    holds its PTX, made by LLVM. Of libdevice, what the kernel calls is linked.
    `metaop-translate --print-ptx` prints the text.

    Before:
    ```mlir
    gpu.module @kernel_0 {
      llvm.func @kernel_0(%x: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, ...} { ... }
    }
    ```
    After:
    ```mlir
    gpu.binary @kernel_0 {metaop.kernels = [
        {launch = #metaop.launch<threads = 256>, name = "kernel_0", num_buffers = 1} ]}
        [#gpu.object<#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">,
                     assembly = "...\0A.visible .entry kernel_0(...">]
    ```
  }];
  let options = [
    MetaOp_ChipOption,
    Option<"libdevice", "libdevice", "std::string", /*default=*/"\"\"",
           "The file of libdevice, which f64 needs: libdevice.10.bc">
  ];
}

def ConvertNVVMToEmulatorPass
    : Pass<"convert-nvvm-to-emulator", "::mlir::ModuleOp"> {
  let summary = "Turns kernels of GPUs into coroutines of the host";
  let description = [{
    Each function with `nvvm.kernel` of each `gpu.module` becomes a function of
    the module, which the [emulator](Emulator.md) calls once for each thread of
    a GPU. It is a coroutine, and suspends where the thread waits for others:
    operands go into the thread, and the results are read from there. Accesses
    of memory ask the engine where they take place. What the engine is told of
    each instruction stands in `metaop.sites`, by number; what it is told of the
    kernel, in the attributes beside.

    Operations that neither the host nor the emulator know are errors.

    Before:
    ```mlir
    gpu.module @m {
      llvm.func @k(%x: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
        %0 = llvm.load %x : !llvm.ptr<1> -> f32
        %1 = nvvm.shfl.sync bfly %mask, %0, %c16, %c31 : f32 -> f32
        ...
    ```
    After (the suspension shortened):
    ```mlir
    llvm.func @k(%thread: !llvm.ptr, %arguments: !llvm.ptr) -> !llvm.ptr
        attributes {metaop.parameters = [!llvm.ptr], metaop.shared = [],
                    metaop.sites = [{instruction = "load", bytes = 4, ...},
                                    {instruction = "shuffle", ...} ],
                    passthrough = ["presplitcoroutine"]} {
      ...
      %place = llvm.call @metaops.emulator.load(%thread, %site0, %x)
      %0 = llvm.load %place : !llvm.ptr -> f32
      llvm.store %value, %slot1 : i64, !llvm.ptr   // and the other operands
      llvm.store %site1, %site : i32, !llvm.ptr
      llvm.intr.coro.suspend ...
      %1 = llvm.load %slot0 : !llvm.ptr -> i64     // cast to f32
    ```
  }];
  let options = [Option<"countInstructions", "count-instructions", "bool",
                        /*default=*/"true",
                        "Whether threads count the blocks of code that they "
                        "enter">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // METAOPS_CONVERSION_PASSES_TD
