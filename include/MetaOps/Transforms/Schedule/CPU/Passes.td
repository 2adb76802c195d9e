//===- Passes.td - Scheduling passes for processors --------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_PASSES_TD
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"
include "MetaOps/Target/Description/Options.td"

def SeparateReductionsPass : Pass<"metaop-separate-reductions", "::mlir::func::FuncOp"> {
  let summary = "Makes kernels of their own of column sums beside an epilogue";
  let description = [{
    A kernel that computes element by element from large sums of a contraction,
    and reduces a result of its own over the outermost dimension, such as the
    gradient of a bias, cannot follow the contraction's blocks, which have no
    column whole. The reduction becomes a kernel of its own, so that the rest can
    (`metaop-attach-epilogues`).

    Before:
    ```mlir
    %2:2 = metaop.kernel(%sums, %z) {
      metaop.fused ... { %3 = metaop.mul %s, %z; %4 = metaop.reduce add %3 dims = [0]; metaop.yield %3, %4 }
    }
    ```
    After:
    ```mlir
    %2 = metaop.kernel(%sums, %z) { metaop.fused ... { %3 = metaop.mul %s, %z; metaop.yield %3 } }
    %4 = metaop.kernel(%2) { metaop.fused ... { metaop.reduce add %3 dims = [0] } }
    ```
  }];
  let options = [
    ProcessorOption,
    Option<"report", "report", "bool", "false",
           "say of each kernel what it keeps apart, as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def SplitReductionsPass : Pass<"metaop-split-reductions"> {
  let summary = "Computes reductions that keep little in two steps";
  let description = [{
    A stage that reduces many elements to few has no loop that threads could
    share. The reduction is split (Halide's rfactor, split-K of a product): it becomes a stage that reduces blocks of one dimension, which are
    shared, and one that combines their results. The number of blocks depends on
    the extents alone. Element-wise results of such a stage are written block by
    block and seen through a reshape. Stages with a schedule stay as they are.

    Before:
    ```mlir
    %2 = metaop.reindex_reduce add %1 map affine_map<(d0) -> ()>
        : tensor<1048576xf32> -> tensor<f32>
    ```
    After:
    ```mlir
    %2 = metaop.reindex %1 map affine_map<(d0, d1) -> (d0 * 16384 + d1)>
        fill 0.0 : f32 : tensor<1048576xf32> -> tensor<64x16384xf32>
    %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1) -> (d0)>
        : tensor<64x16384xf32> -> tensor<64xf32>
    ```
    and, in a kernel of its own,
    ```mlir
    %4 = metaop.reindex_reduce add %3 map affine_map<(d0) -> ()>
        : tensor<64xf32> -> tensor<f32>
    ```
  }];
  let options = [
    ProcessorOption,
    Option<"report", "report", "bool", "false",
           "say of each reduction how it is split, or why not, as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def PackOperandsPass : Pass<"metaop-pack-operands", "::mlir::func::FuncOp"> {
  let summary = "Copies operands of contractions into panels, and results out "
                "of phases";
  let description = [{
    The inner kernel of a contraction reads one factor by vectors, which have to
    be contiguous, and the other one element by element. Where that is worth its
    cost, a kernel before the contraction copies

    * the factor of the vectors into panels as wide as a register tile, in the
      order in which they are read (`packed` of BLIS and oneDNN): the dimension
      of the lanes is split, and numbers beyond its end are fill values;
    * the other one, where places outside of it are read (the padding of a
      convolution), into a box in which nothing is outside. Iterations of a tile
      that do not belong to the space, as in a convolution's gradient by its
      input, then read zeros; those of loops around it are left out.

    Results of which neighbours are summed over different elements, as in the
    gradient of a convolution of stride 2, are computed phase by phase, each a
    contiguous tensor, and a kernel behind the contraction interleaves them:
    ```mlir
    %y = metaop.reindex_reduce add %phases
        map affine_map<(d0, d1, d2) -> (d1, d2 * 2 + d0)>
        : tensor<2x64x28xf32> -> tensor<64x56xf32>
    ```

    The images of a batch are rows that no condition tests: a tile of them
    computes nothing in vain, but each is far from the next one. Where that pays,
    the box has them innermost, and the contraction writes lanes and then rows
    innermost; a kernel behind transposes what it has written.

    The start of a slice is an operand, so a read of one is tested against its
    tensor, which a tile has no place for. A factor that is a slice is copied
    first, if its elements are multiplied often enough:
    ```mlir
    %slice = metaop.reindex %x symbols(%s)
        map affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>
        fill 0.0 : f32 : tensor<1024x768xf32> -> tensor<1016x768xf32>
    ```

    What was computed from a factor's elements before they are multiplied is
    computed there. The copies are ordinary stages: element-wise over the panel
    or the box. Those of a factor that a loop leaves as it is, as the weights of a
    recurrence, stand before the loop, and are priced as such. Rows of several
    dimensions that are read in place keep these. Stages with a schedule stay as
    they are, and so do those whose extents are not known, or grow.

    Before (the product of a matrix and a transposed one):
    ```mlir
    %2 = metaop.reindex %b map affine_map<(d0, d1, d2) -> (d1, d2)>
        fill 0.0 : f32 : tensor<256x512xf32> -> tensor<128x256x512xf32>
    ```
    After:
    ```mlir
    %panels = metaop.reindex %b map affine_map<(d0, d1, d2) -> (d0 * 32 + d2, d1)>
        fill 0.0 : f32 : tensor<256x512xf32> -> tensor<8x512x32xf32>
    ```
    and, in the contraction's kernel,
    ```mlir
    %2 = metaop.reindex %panels map affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
        fill 0.0 : f32 : tensor<8x512x32xf32> -> tensor<128x8x512x32xf32>
    ```
  }];
  let options = [
    ProcessorOption,
    Option<"report", "report", "bool", "false",
           "say of each contraction what is packed, and why, as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def ScheduleContractionsPass
    : Pass<"metaop-schedule-contractions", "::mlir::func::FuncOp"> {
  let summary = "Decides tiles and blocks of contractions";
  let description = [{
    Plans each contraction that has no schedule, as it is once operands are
    packed, and writes the loops of the plan of fewest cycles, with the role
    `contraction`. The passes that put stages around a contraction, and
    `metaop-schedule`, read both. Contractions that no tile fits stay without.

    A schedule that has no role is a user's: to a kernel of such a stage alone
    no packing is added, which the attribute `rewrites` says as for a rewrite
    that a file forbids. Where it is one of blocks or tiles, the stages of the
    kernel get their roles.

    Before:
    ```mlir
    %2 = metaop.fused(%a, %b) -> tensor<4096x512xf32> { ... }
    ```
    After:
    ```mlir
    %2 = metaop.fused(%a, %b) -> tensor<4096x512xf32>
        schedule(#metaop.schedule<[parallel(0, 126), step(0, 14), step(1, 32), step(2)], ...>)
        role(contraction) { ... }
    ```
  }];
  let options = [ProcessorOption];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def AttachPanelsPass : Pass<"metaop-attach-panels", "::mlir::func::FuncOp"> {
  let summary = "Packs vectors of contractions inside of their loops";
  let description = [{
    A kernel that computes the vectors of a contraction element by element, and
    that nobody else reads, becomes a stage of the contraction's kernel: both
    share the blocks that stand outside of the contraction's tiles (Halide's
    `compute_at`), and what is packed at a time is in the second cache when it is
    read. Stages have schedules and roles then. It is not done where the blocks are of
    loops that the vectors do not depend on, since they would be packed again.

    Before, in two kernels:
    ```mlir
    %1 = metaop.kernel(%b) { metaop.fused ... -> tensor<32x1024x32xf32> }
    %2 = metaop.kernel(%a, %1) { metaop.fused ... -> tensor<1024x1024xf32> }
    ```
    After:
    ```mlir
    %2 = metaop.kernel(%b, %a) {
      %3 = metaop.fused(%b) -> tensor<32x1024x32xf32>
          schedule(#metaop.schedule<[parallel(0, 2), step(1, 256), step(0), step(1), step(2, 16)], ...>) role(packing)
      %4 = metaop.fused(%a, %3) -> tensor<1024x1024xf32>
          schedule(#metaop.schedule<[parallel(1, 2), step(2, 256), step(0, 14), ...], ..., shared = 2>)
          role(contraction)
      metaop.yield %4
    }
    ```
  }];
  let options = [
    ProcessorOption,
    Option<"report", "report", "bool", "false",
           "say of each contraction what it packs itself, as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def CopyRowsPass : Pass<"metaop-copy-rows", "::mlir::func::FuncOp"> {
  let summary = "Copies rows of contractions that are far apart";
  let description = [{
    The rows of the broadcast factor that a tile reads, where they are a multiple
    of 4096 bytes apart and many panels of vectors pass by, are copied by a stage
    of the contraction's kernel: lines at such distances push each other out of
    the first cache. So are neighbouring rows, as those of A^T * B, if the steps
    of the sum are a multiple of 1024 bytes apart and more than the cache has
    places for, or on more pages than a core has at hand. The copy shares the
    levels outside of the tile's rows, and is dense.

    Before:
    ```mlir
    %4 = metaop.fused(%a, %3) -> tensor<1024x1024xf32>
        schedule(#metaop.schedule<[parallel(1, 2), step(2, 256), step(0, 14), ...], ..., shared = 2>)
        role(contraction)
    ```
    After:
    ```mlir
    %rows = metaop.fused(%a) -> tensor<1024x1024xf32>
        schedule(#metaop.schedule<[step(1, 256), step(0, 14), step(0), step(1, 16)], ...>) role(packing)
    %4 = metaop.fused(%rows, %3) -> tensor<1024x1024xf32>
        schedule(#metaop.schedule<[parallel(1, 2), step(2, 256), step(0, 14), ...], ..., shared = 3>)
        role(contraction)
    ```
  }];
  let options = [
    ProcessorOption,
    Option<"report", "report", "bool", "false",
           "say of each contraction what it copies, as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def AttachEpiloguesPass : Pass<"metaop-attach-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Computes what follows a contraction inside of its loops";
  let description = [{
    A kernel that computes element by element from the sums of a contraction,
    before any other does, becomes a stage of the contraction's kernel: it runs
    behind each block of sums, while they are in cache. So does one that reduces
    rows which blocks hold whole, and what is computed from such an epilogue in
    the same blocks: a chain, which shares the loop over rows as well. If nobody
    else reads the sums, they are not written to memory. Its schedule repeats
    those of the contraction's levels that it shares, but for reduced ones:
    behind blocks of the sum it runs in the last one. One that does little but
    store runs behind each tile: its stores go to memory beside the next tile's
    multiplications. Sums that are smaller than
    the second cache stay as they are.

    Before:
    ```mlir
    %1 = metaop.kernel(%a, %b) { metaop.fused ... -> tensor<4096x512xf32> }
    %2 = metaop.kernel(%1, %bias) { metaop.fused ... -> tensor<4096x512xf32> }
    ```
    After:
    ```mlir
    %2 = metaop.kernel(%a, %b, %bias) {
      %3 = metaop.fused(%a, %b) -> tensor<4096x512xf32>
          schedule(#metaop.schedule<[parallel(0, 126), step(0, 14), step(1, 32), step(2)], ...>)
          role(contraction)
      %4 = metaop.fused(%3, %bias) -> tensor<4096x512xf32>
          schedule(#metaop.schedule<[parallel(0, 126), step(0, 14), step(0), step(1, 16)], ..., shared = 2>)
          role(epilogue)
      metaop.yield %4
    }
    ```
  }];
  let options = [
    ProcessorOption,
    Option<"report", "report", "bool", "false",
           "say of each epilogue what it shares, as a remark">
  ];
  let dependentDialects = ["::mlir::metaop::MetaOpDialect"];
}

def JoinStagesPass : Pass<"metaop-join-stages", "::mlir::func::FuncOp"> {
  let summary = "Puts stages that share outer loops into one kernel";
  let description = [{
    Loop fusion of kernels: stages are computed inside of a common outer loop
    (Halide's compute_at) where each iteration of it reads what the same
    iteration has computed: a row that several stages work
    on stays in cache, and what only these stages read becomes local to the
    iteration. The stages get their schedules here; kernels that have one
    already stay as they are.

    Before:
    ```mlir
    %m = metaop.kernel(%a = %x : tensor<64x128xf32>) -> tensor<64xf32> { ... }
    %y = metaop.kernel(%a = %x : tensor<64x128xf32>, %b = %m : tensor<64xf32>)
        -> tensor<64x128xf32> { ... }
    ```
    After:
    ```mlir
    %y = metaop.kernel(%a = %x : tensor<64x128xf32>) -> tensor<64x128xf32> {
      %m = metaop.fused(...) -> tensor<64xf32>
          schedule(<[parallel(0), step(1, 64)], ...>) { ... }
      %0 = metaop.fused(...) -> tensor<64x128xf32>
          schedule(<[parallel(0), step(1, 16)], ..., shared = 1>) { ... }
      metaop.yield %0 : tensor<64x128xf32>
    }
    ```
  }];
  let options = [
    ProcessorOption,
    Option<"report", "report", "bool", "false",
           "say which stages share a kernel, and what that saves, as a remark">
  ];
}

def SchedulePass : Pass<"metaop-schedule"> {
  let summary = "Decides loop order, parallel loops and vectors of each stage";
  let description = [{
    Writes `#metaop.schedule` on each `metaop.fused` that has none; a schedule
    that is there already (from a user, a search or a cache) stays. Kept loops
    stand outside and reduced loops inside, each kind in the order of memory
    continuity: the loop over which all accesses together take the smallest
    steps is innermost. The vector loop is the one for which loads and stores
    are cheapest. A kept loop along which costly reads stay the same is
    unrolled and jammed. Results that are larger than the caches are stored
    past them, by non-temporal stores, where whole lines are; the plan of memory
    may speak against that (`metaop-keep-in-caches`).

    Before:
    ```mlir
    %y = metaop.fused(%a = %x : tensor<64x128xf32>) -> tensor<64xf32> { ... }
    ```
    After:
    ```mlir
    %y = metaop.fused(%a = %x : tensor<64x128xf32>) -> tensor<64xf32>
        schedule(<[parallel(0), step(1, 64)], tile = [1: 64], lanes = 1: 16>)
        { ... }
    ```
  }];
  let options = [
    ProcessorOption,
    Option<"file", "file", "std::string", "\"\"",
           "A file of schedules that replace those of the heuristics, by the "
           "identity of the stage; it is an error if one is malformed or cannot "
           "be that of its stage, and a warning says if one fits no stage">,
    Option<"text", "text", "std::string", "\"\"",
           "The contents of `file`, if they have been read already; nothing is "
           "said of schedules that fit no stage then">
  ];
}

def KeepInCachesPass : Pass<"metaop-keep-in-caches", "::mlir::ModuleOp"> {
  let summary = "Has what is written in place stored through the caches";
  let description = [{
    Takes results out of a schedule's `stream` that it cannot, or should not,
    store past the caches, as the plan of a program's memory shows
    (`metaop-plan-memory`): what every call of the kernel writes over one of its
    operands has just been read, so it is in the first cache, and what some call
    makes as a part of another value may begin inside of a cache line. Schedules
    of a file stay as they are.

    Before:
    ```mlir
    func.func @main(%p: tensor<64xf32> {metaop.donatable}) -> tensor<64xf32> ... {
      %0 = call @kernel_0(%p) {metaop.slots = [#metaop.slot<argument, 0>]} ...
    }
    func.func private @kernel_0(%x: tensor<64xf32>) -> tensor<64xf32> {
      ... schedule(<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>)
    }
    ```
    After:
    ```mlir
      ... schedule(<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16>)
    ```
  }];
}

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_PASSES_TD
