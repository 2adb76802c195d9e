//===- MetaOpAttributes.td - Attributes --------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_METAOPATTRIBUTES_TD
#define METAOPS_DIALECT_METAOP_METAOPATTRIBUTES_TD

include "MetaOps/Dialect/MetaOp/MetaOpDialect.td"
include "MetaOps/Dialect/MetaOp/MetaOpEnums.td"
include "mlir/IR/AttrTypeBase.td"

def MetaOp_ReduceKindAttr
    : EnumAttr<MetaOp_Dialect, MetaOp_ReduceKind, "reduce_kind"> {
  let assemblyFormat = "$value";
}

def MetaOp_InsertKindAttr
    : EnumAttr<MetaOp_Dialect, MetaOp_InsertKind, "insert_kind"> {
  let assemblyFormat = "$value";
}

def MetaOp_ComparePredicateAttr
    : EnumAttr<MetaOp_Dialect, MetaOp_ComparePredicate, "predicate"> {
  let assemblyFormat = "$value";
}

def MetaOp_ScheduleAttr : AttrDef<MetaOp_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How one fused stage becomes loops";
  let description = [{
    Every decision about a stage stands here; lowerings only read it. A search,
    an annotation or a cache may write it as well as the schedule pass.

    * `order`: the loops of the stage, outermost first. A permutation of
      `0 .. number of loops - 1`. The loops are the dimensions of the iteration
      space after contiguous neighbours were collapsed, and those that a strided
      reduction runs over were split (see `Stage`).
    * `parallel`: how many of the leading loops, taken as one collapsed range,
      the runtime may split among threads. No two iterations of that range may
      write the same element.
    * `vector_dim`, `vector_width`: the dimension whose loop steps by
      `vector_width` elements held in a vector; `-1` and `1` for scalar code.
    * `unroll_dim`, `unroll`: the dimension of which `unroll` neighbouring
      iterations (vectors, if it is `vector_dim`) are computed side by side, so
      that they share reads and hide latency; `-1` and `1` for none.
    * `tile_dim`: the dimension of which `vector_width` iterations form, with the
      lanes of `vector_dim`, a square tile of registers. What memory holds one
      after another along `tile_dim` is loaded or stored by vectors along it, and
      the tile is transposed in registers. These two loops are the innermost, in
      this order; `-1`, and not printed, for no tile.
    * `stream`: the results, by number, that are stored past the caches: whole
      lines go to memory, which then need not be read before they are
      overwritten. It is for results that are larger than the caches and are
      stored by aligned vectors; not printed where it is empty.
    * `shared`: how many of the leading loops are shared with the stage before
      this one in the same kernel. An ordered list of stages with these depths
      is the kernel's loop tree.

    Example: the convolution of an NCHW image, vectorised along the width:

    ```mlir
    #metaop.schedule<order = [0, 1, 2, 3, 4, 5, 6], parallel = 3,
                     vector_dim = 3, vector_width = 16,
                     unroll_dim = 1, unroll = 4, shared = 0>
    ```
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t">:$order,
    "int64_t":$parallel,
    "int64_t":$vectorDim,
    "int64_t":$vectorWidth,
    "int64_t":$unrollDim,
    "int64_t":$unroll,
    "int64_t":$shared,
    DefaultValuedParameter<"int64_t", "-1">:$tileDim,
    OptionalArrayRefParameter<"int64_t">:$stream
  );
  let builders = [
    AttrBuilder<(ins "ArrayRef<int64_t>":$order, "int64_t":$parallel,
        "int64_t":$vectorDim, "int64_t":$vectorWidth, "int64_t":$unrollDim,
        "int64_t":$unroll, "int64_t":$shared,
        CArg<"int64_t", "-1">:$tileDim), [{
      return $_get($_ctxt, order, parallel, vectorDim, vectorWidth, unrollDim,
                   unroll, shared, tileDim, ArrayRef<int64_t>());
    }]>
  ];
  let extraClassDeclaration = [{
    /// The same but for the results that are stored past the caches.
    ScheduleAttr withStream(ArrayRef<int64_t> stream) const;
    /// The same but for the number of shared loops.
    ScheduleAttr withShared(int64_t shared) const;
  }];
  let assemblyFormat = [{
    `<` `order` `=` `[` (`]`) : ($order^ `]`)? `,` `parallel` `=` $parallel
    `,` `vector_dim` `=` $vectorDim `,` `vector_width` `=` $vectorWidth
    `,` `unroll_dim` `=` $unrollDim `,` `unroll` `=` $unroll
    `,` `shared` `=` $shared `` custom<ScheduleOptions>($tileDim, $stream) `>`
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
}

#endif // METAOPS_DIALECT_METAOP_METAOPATTRIBUTES_TD
