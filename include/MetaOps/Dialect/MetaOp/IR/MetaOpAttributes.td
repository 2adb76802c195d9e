//===- MetaOpAttributes.td - Attributes --------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_METAOPATTRIBUTES_TD
#define METAOPS_DIALECT_METAOP_METAOPATTRIBUTES_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.td"
include "MetaOps/Dialect/MetaOp/IR/MetaOpEnums.td"
include "mlir/IR/AttrTypeBase.td"

def MetaOp_CombinerAttr
    : EnumAttr<MetaOp_Dialect, MetaOp_Combiner, "combiner"> {
  let assemblyFormat = "$value";
}

def MetaOp_ComparePredicateAttr
    : EnumAttr<MetaOp_Dialect, MetaOp_ComparePredicate, "predicate"> {
  let assemblyFormat = "$value";
}

def MetaOp_StageRoleAttr : EnumAttr<MetaOp_Dialect, MetaOp_StageRole, "role"> {
  let summary = "What a stage does in the kernel of a contraction";
  let description = [{
    * `contraction`: the stage sums products, in the loops of a contraction's
      plan or in blocks and tiles that a user gives. A kernel has one at most.
    * `packing`: it stands before the contraction, and makes one of its factors,
      block by block, inside of the contraction's outer loops.
    * `epilogue`: it stands behind the contraction, and computes from the sums
      of the block that is open.
  }];
  let assemblyFormat = "$value";
}

def MetaOp_ScheduleAttr : AttrDef<MetaOp_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How one fused stage becomes loops";
  let description = [{
    Every decision about a stage stands here; lowerings only read it. A search,
    an annotation or a cache may write it as well as the schedule pass.
    docs/Schedule.md shows the loops of each field.

    * The list in brackets: the loops of the stage, outermost first. The
      dimensions that they name are those of the iteration space after
      contiguous neighbours were collapsed (see `Stage`). Each is named at least
      once.
      `step(d, n)` goes through dimension d in steps of n, `step(d)` in steps of
      one. Where a dimension stands in several loops, each further one goes
      through one step of that before it. The range of the leading loops that are
      `parallel(d, n)`, collapsed into one, is what the runtime may split among
      threads: no two of its iterations may write the same element. `body` behind
      n says that what does not fill a step has loops of its own; without it,
      it is computed with the others and masked.
    * `tile`: the dimensions whose last loop does several iterations side by
      side, with their number. They share reads and hide latency, and of
      dimensions that results keep, each has its own sums in registers.
    * `lanes`: the dimension along which vectors lie, and their width. Its number
      in `tile` is a multiple of that.
    * `transpose`: the dimension of the tile along which some tensors are
      contiguous that are not so along `lanes`: they are loaded or stored by
      vectors along it, and the tile is transposed in registers.
    * `unroll`: reduced dimensions whose last loop is no loop: its iterations are
      emitted one after the other.
    * `prefetch`: how many steps of the innermost loop ahead vectors are asked for:
      of a contraction those of its tile, else those that lie along it.
    * `pairwise`: of sums of floats, how many values are added one after another
      before their sum is added to others, and how many such sums, and so on: the
      error grows with the logarithm of the length. Without it there is one
      running sum.
    * `stream`: the results, by number, that are stored past the caches: whole
      lines go to memory, which then need not be read before they are
      overwritten. It is for results that are larger than the caches and are
      stored by aligned vectors.
    * `staged`: of a GPU, the reads, by number, whose box goes through the
      memory that threads of a block share, and how many unused elements are
      behind its rows there.
    * `place`: of a GPU, where each result lives that later stages of the kernel
      read: `memory`, which is the rule, `registers`, `shared` or `cluster`.
    * `shared`: how many of the leading loops are shared with the stage before
      this one in the same kernel. An ordered list of stages with these depths
      is the kernel's loop tree.

    On a GPU, the leading loops `cluster(d, n)` and then `block(d, n)`, collapsed
    into one, are the grid: one iteration each. Inside, `step(d, n)` are loops,
    and the iterations of `warp(d, n)` and `thread(d, n)`, collapsed, number the
    threads of a block. One of these divides what one iteration of the loop of
    its dimension around it goes; where it is the last loop of its dimension, it
    steps by a vector, or one, and its threads are as many as take a whole tile
    each: what a thread has side by side lies a sweep of all of them apart.

    Fields that say nothing are not printed. Example: the convolution of an NCHW
    image, vectorised along the width, four channels at a time:

    ```mlir
    #metaop.schedule<[parallel(0), parallel(1, 4), parallel(2), step(3, 16),
                      step(4), step(5), step(6)],
                     tile = [1: 4, 3: 16], lanes = 3: 16>
    ```

    Sums of rows on a GPU: a block of 256 threads has a row, and goes through it
    by 4096 elements, of which each thread has four vectors.

    ```mlir
    #metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16],
                     lanes = 1: 4>
    ```
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"LoopLevel">:$levels,
    OptionalArrayRefParameter<"TileDim">:$tile,
    DefaultValuedParameter<"TileDim", "TileDim()">:$lanes,
    DefaultValuedParameter<"int64_t", "-1">:$transpose,
    OptionalArrayRefParameter<"int64_t">:$unrollDims,
    DefaultValuedParameter<"int64_t", "0">:$prefetch,
    DefaultValuedParameter<"int64_t", "0">:$pairwise,
    OptionalArrayRefParameter<"int64_t">:$stream,
    OptionalArrayRefParameter<"StagedRead">:$staged,
    OptionalArrayRefParameter<"ResultPlace">:$place,
    DefaultValuedParameter<"int64_t", "0">:$shared
  );
  let builders = [AttrBuilder<(ins "const ScheduleFields &":$fields), [{
    return $_get($_ctxt, fields.levels, fields.tile, fields.lanes,
                 fields.transpose, fields.unrollDims, fields.prefetch,
                 fields.pairwise, fields.stream, fields.staged,
                 fields.getNormalPlace(), fields.shared);
  }]>];
  let extraClassDeclaration = [{
    /// Loops over the dimensions in this order, the leading ones parallel, each
    /// of which steps by the number of its dimension in the tile.
    static ScheduleAttr getFlat(MLIRContext *context, ArrayRef<int64_t> order,
                                int64_t parallel, ArrayRef<TileDim> tile,
                                TileDim lanes, int64_t transpose = -1,
                                LevelTail tail = LevelTail::Mask);

    /// All fields, for making another schedule of them.
    ScheduleFields getFields() const;
    /// The same but for one field.
    ScheduleAttr withPairwise(int64_t pairwise) const;
    ScheduleAttr withStream(ArrayRef<int64_t> stream) const;
    ScheduleAttr withPrefetch(int64_t steps) const;
    ScheduleAttr withShared(int64_t shared) const;
    /// The same but for the number of leading loops that are parallel.
    ScheduleAttr withParallel(int64_t parallel) const;
    /// The same but for the dimensions that have no loop.
    ScheduleAttr withUnrollDims(ArrayRef<int64_t> dims) const;
    /// The same but for the step of the loop at this depth.
    ScheduleAttr withStep(unsigned depth, int64_t step) const;

    unsigned getNumLevels() const { return getLevels().size(); }
    /// The dimensions that the loops name.
    unsigned getNumDims() const;
    /// The leading loops that are parallel.
    unsigned getParallel() const;
    /// The dimensions of the leading loops, of all by default.
    SmallVector<int64_t> getDims(unsigned numLevels = ~0u) const;
    /// Returns whether a further loop of the same dimension stands inside of
    /// the one at this depth, and goes through one step of it.
    bool isOuter(unsigned depth) const;
    /// Returns whether at most one dimension besides that of the lanes does
    /// iterations side by side.
    bool isNest() const;
    /// Returns whether, besides, each dimension stands in one loop.
    bool isFlat() const;
    /// The iterations of a dimension that are done side by side.
    int64_t getTileSize(int64_t dim) const;

    /// Returns whether it has anything that only GPUs have.
    bool isForGpu() const;
    /// The leading loops that are clusters or blocks.
    unsigned getNumGridLevels() const;
    /// The loop of the same dimension around the one at this depth; none if it
    /// is the dimension's first.
    std::optional<unsigned> getEnclosing(unsigned depth) const;
    /// The iterations of the loop at this depth in one of that around it.
    int64_t getCount(unsigned depth) const;
    /// The warps and threads of a block, and the blocks of a cluster.
    int64_t getNumThreads() const;
    int64_t getNumWarps() const;
    int64_t getClusterSize() const;
    /// Returns the place of a result.
    ResultPlace getPlaceOf(unsigned result) const;

    /// The dimension and the width of vectors; -1 and 1 for scalar code.
    int64_t getVectorDim() const { return getLanes().dim; }
    int64_t getVectorWidth() const { return getLanes().size; }
    /// The dimension of the tile, if there is one, of which neighbouring
    /// iterations, or vectors of it, are copies of one loop's body; -1 and 1 for
    /// none. It is the only one in flat schedules.
    int64_t getUnrollDim() const;
    int64_t getUnroll() const;
  }];
  let assemblyFormat = [{
    `<` custom<Levels>($levels) ``
    custom<ScheduleOptions>($tile, $lanes, $transpose, $unrollDims, $prefetch,
                            $pairwise, $stream, $staged, $place, $shared) `>`
  }];
  let genVerifyDecl = 1;
}

def MetaOp_LaunchAttr : AttrDef<MetaOp_Dialect, "Launch"> {
  let mnemonic = "launch";
  let summary = "How a GPU is to run a kernel";
  let description = [{
    What the code of a kernel depends on, and the assembler may count on. The
    number of blocks is not among it: that belongs to the call.

    * `threads`: the threads of a block, along x.
    * `cluster`: the blocks of a cluster, neighbours in the grid.
    * `min_blocks`: the blocks that a multiprocessor is to hold at a time at
      least, which bounds the registers of a thread.
    * `index_bits`: the width of indices, 32 where all offsets fit.

    Fields that say nothing are not printed:

    ```mlir
    #metaop.launch<threads = 256>
    #metaop.launch<threads = 256, cluster = 2, min_blocks = 4, index_bits = 32>
    ```
  }];
  let parameters = (ins
    "int64_t":$threads,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    DefaultValuedParameter<"int64_t", "1">:$min_blocks,
    DefaultValuedParameter<"int64_t", "64">:$index_bits
  );
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def MetaOp_EntryAttr : AttrDef<MetaOp_Dialect, "Entry"> {
  let mnemonic = "entry";
  let summary = "What calls of a kernel over buffers have to know";
  let description = [{
    * `buffers`: the leading arguments that are buffers: what the kernel reads,
      what it writes, and its scratch memory. Numbers follow.
    * `range`: the length of the range that a call splits: among threads on a
      processor, into blocks of the grid on a GPU. It is left out where it is
      not known before the kernel runs.
    * `work_per_step`: the picoseconds that the cost model predicts for a step
      of that range.
    * `scratch`: the words of 64 bits of each buffer that the call lends.
    * `flushes_denormals`: the call takes denormal numbers for 0.

    Fields that say nothing are not printed:

    ```mlir
    #metaop.entry<buffers = 2>
    #metaop.entry<buffers = 3, range = 64, work_per_step = 3413, flushes_denormals = true>
    #metaop.entry<buffers = 3, range = 2, scratch = [1024]>
    ```
  }];
  let parameters = (ins
    "int64_t":$buffers,
    OptionalParameter<"std::optional<int64_t>">:$range,
    DefaultValuedParameter<"int64_t", "0">:$work_per_step,
    OptionalArrayRefParameter<"int64_t">:$scratch,
    DefaultValuedParameter<"bool", "false">:$flushes_denormals
  );
  let assemblyFormat = [{
    `<` struct($buffers, $range, $work_per_step, custom<Scratch>($scratch),
               $flushes_denormals) `>`
  }];
  let genVerifyDecl = 1;
}

def MetaOp_RowsAttr : AttrDef<MetaOp_Dialect, "Rows"> {
  let mnemonic = "rows";
  let summary = "How a tensor lies in a window of another";
  let description = [{
    The elements of the tensor, in row-major order, are rows of `row` elements
    that follow each other; from the beginning of one row to that of the next
    are `pitch` elements. A view of the tensor lies in the same rows.

    The first part of a concat of two tensors of 1000 x 64 along dimension 1, or
    the second one:

    ```mlir
    #metaop.rows<64, pitch = 128>
    ```
  }];
  let parameters = (ins "int64_t":$row, "int64_t":$pitch);
  let extraClassDeclaration = [{
    /// The elements from one index to the next along each dimension of a tensor
    /// of this static shape. None where the rows do not begin with an index.
    std::optional<SmallVector<int64_t>> getStrides(ArrayRef<int64_t> shape) const;
    /// The elements from the first to the last of `count`, both included.
    int64_t getSpan(int64_t count) const;
  }];
  let assemblyFormat = "`<` $row `,` `pitch` `=` $pitch `>`";
  let genVerifyDecl = 1;
}

/// One per value: its rows, or `unit` where its elements follow each other.
def MetaOp_RowsArrayAttr : TypedArrayAttrBase<
    AnyAttrOf<[MetaOp_RowsAttr, UnitAttr]>, "array of rows">;

def MetaOp_SlotAttr : AttrDef<MetaOp_Dialect, "Slot"> {
  let mnemonic = "slot";
  let summary = "Where a value of a program lives";
  let description = [{
    The buffer of an argument of the program (`argument`, by number), a fresh
    buffer that a result of the program takes along (`result`, by number), or a
    place in the memory of the program's intermediate values (`arena`, by byte
    offset). A value that is a part of another begins `offset` bytes behind. If
    it lies in rows that are apart, these have `row` bytes and begin `pitch`
    bytes after each other.

    ```mlir
    #metaop.slot<arena, 4096>
    #metaop.slot<result, 0, offset = 128>
    #metaop.slot<result, 0, offset = 128, row = 128, pitch = 256>
    ```
  }];
  let parameters = (ins
    EnumParameter<MetaOp_SlotKind>:$kind,
    "int64_t":$index,
    DefaultValuedParameter<"int64_t", "0">:$offset,
    DefaultValuedParameter<"int64_t", "0">:$row,
    DefaultValuedParameter<"int64_t", "0">:$pitch
  );
  let assemblyFormat = [{
    `<` $kind `,` $index `` custom<SlotOptions>($offset, $row, $pitch) `>`
  }];
  let genVerifyDecl = 1;
}

#endif // METAOPS_DIALECT_METAOP_METAOPATTRIBUTES_TD
