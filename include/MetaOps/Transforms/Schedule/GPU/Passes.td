//===- Passes.td - Scheduling passes for GPUs --------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_PASSES_TD
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"
include "MetaOps/Target/Description/Options.td"

def PartReductionsPass : Pass<"metaop-part-reductions", "::mlir::func::FuncOp"> {
  let summary = "Makes kernels of their own of reductions over different loops";
  let description = [{
    Threads of a GPU have sums in registers, of rows or of columns. A stage with
    results that keep different loops becomes several, in kernels of their own,
    each of which computes what it needs. Other results are in the first.

    Before:
    ```mlir
    %2:2 = metaop.kernel(%x) {
      metaop.fused ... { %3 = metaop.reduce add %x dims = [0]; %4 = metaop.reduce add %x dims = [1]; metaop.yield %3, %4 }
    }
    ```
    After:
    ```mlir
    %3 = metaop.kernel(%x) { metaop.fused ... { metaop.reduce add %x dims = [0] } }
    %4 = metaop.kernel(%x) { metaop.fused ... { metaop.reduce add %x dims = [1] } }
    ```
  }];
  let options = [
    Option<"report", "report", "bool", "false",
           "say of each stage how many kernels it becomes, as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def JoinStagesGpuPass : Pass<"metaop-join-stages-gpu", "::mlir::func::FuncOp"> {
  let summary = "Puts stages that share rows into one kernel of a GPU";
  let description = [{
    As `metaop-join-stages`, for a GPU: stages that work on the same rows become
    one kernel, whose blocks have rows and whose threads divide them in the same
    way in all stages. What passes between these stays in registers where a
    thread reads what it has itself, and else in the shared memory of the block.
    Rows that one block cannot keep are a cluster's, where the chip has them;
    longer ones stay in kernels of their own. So does a large reduction of few
    rows that alone has clusters, if what follows it would take them from it.

    Of two stages of one space, of which one reads the other, each keeps the
    loops that the other has apart, so that they have rows in common: what
    divides the rows of a softmax, and what masks them.

    A contraction, or a reduction of windows, is joined with what follows it
    element by element, which goes on with the tiles of sums in registers. Where
    a block of a contraction has whole rows of results, what reduces these, and
    another contraction of them, is joined, too.

    The pass runs a second time behind `metaop-split-reductions-gpu`, for what
    follows the second of two steps. What is forced to be split is not joined.

    Before:
    ```mlir
    %m = metaop.kernel(%a = %x : tensor<64x4096xf32>) -> tensor<64xf32> { ... }
    %y = metaop.kernel(%a = %x : tensor<64x4096xf32>, %b = %m : tensor<64xf32>)
        -> tensor<64x4096xf32> { ... }
    ```
    After:
    ```mlir
    %y = metaop.kernel(%a = %x : tensor<64x4096xf32>) -> tensor<64x4096xf32> {
      %m = metaop.fused(...) -> tensor<64xf32>
          schedule(<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16],
                    lanes = 1: 4, place = [registers]>) { ... }
      %0 = metaop.fused(...) -> tensor<64x4096xf32>
          schedule(<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16],
                    lanes = 1: 4, shared = 1>) { ... }
      metaop.yield %0 : tensor<64x4096xf32>
    }
    ```
  }];
  let options = [
    ChipOption,
    Option<"report", "report", "bool", "false",
           "say which stages share a kernel, and what that saves, as a remark">
  ];
}

def SplitReductionsGpuPass : Pass<"metaop-split-reductions-gpu"> {
  let summary = "Computes reductions that keep little in two kernels of a GPU";
  let description = [{
    As `metaop-split-reductions`, for the blocks of a GPU in place of threads:
    those of one kernel do not wait for each other, so what keeps too little for
    all multiprocessors, even with a cluster of blocks for each result, has
    partial results, as many as blocks, and a second kernel combines these.
    Their number depends on extents and the chip alone. Nothing is joined with
    the partial results: who shares loops with their sum would keep too little
    again.

    Before:
    ```mlir
    %2 = metaop.reduce add %1 dims = [0] : tensor<16777216xf32> -> tensor<f32>
    ```
    After:
    ```mlir
    %2 = metaop.reindex %1 map affine_map<(d0, d1) -> (d0 * 65536 + d1)>
        : tensor<16777216xf32> -> tensor<256x65536xf32>
    %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1) -> (d0)>
        : tensor<256x65536xf32> -> tensor<256xf32>
    ```
    and, in a kernel of its own,
    ```mlir
    %4 = metaop.reindex_reduce add %3 map affine_map<(d0) -> ()>
        : tensor<256xf32> -> tensor<f32>
    ```
  }];
  let options = [
    ChipOption,
    Option<"report", "report", "bool", "false",
           "say of each reduction how it is split, or why not, as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def ScheduleGpuPass : Pass<"metaop-schedule-gpu"> {
  let summary = "Decides which blocks and threads of a GPU do what";
  let description = [{
    Writes `#metaop.schedule` on each `metaop.fused` that has none, as
    `metaop-schedule` does for a CPU, and verifies the schedules of each kernel
    against its stages and the chip. Neighbouring threads are neighbours in
    memory, and have 16 bytes at a time where all accesses lie so. Extents, maps
    and facts of the chip decide, and nothing else: the order of sums is the same
    wherever the program is compiled.

    With `float-atomics`, kernels in which threads of the whole grid add floats to
    the same elements are marked by `float_atomics`: they are added as they
    come, in an order that may be another in each run.

    Before:
    ```mlir
    %y = metaop.fused(%a = %x : tensor<4096x4096xf32>) -> tensor<4096xf32> { ... }
    ```
    After:
    ```mlir
    %y = metaop.fused(%a = %x : tensor<4096x4096xf32>) -> tensor<4096xf32>
        schedule(<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4>)
        { ... }
    ```
  }];
  let options = [
    ChipOption,
    Option<"floatAtomics", "float-atomics", "bool", "false",
           "add floats in any order where threads of the whole grid do">,
    Option<"file", "file", "std::string", "\"\"",
           "A file of schedules that replace those of the heuristics, as of "
           "`metaop-schedule`">,
    Option<"text", "text", "std::string", "\"\"",
           "The contents of `file`, if they have been read already">
  ];
}

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_PASSES_TD
