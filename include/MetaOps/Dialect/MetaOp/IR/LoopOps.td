//===- LoopOps.td - Loops over rows ------------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_LOOPOPS_TD
#define METAOPS_DIALECT_METAOP_LOOPOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"
include "mlir/Interfaces/LoopLikeInterface.td"

def MetaOp_ScanOp : MetaOp_Op<"scan", [
    AttrSizedOperandSegments, SingleBlockImplicitTerminator<"ScanYieldOp">,
    RecursiveMemoryEffects,
    RecursivelySpeculatable,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
                              ["getEntrySuccessorOperands"]>,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, [
      "getRegionIterArgs", "getYieldedValuesMutable",
      "getLoopResults"]>]> {
  let summary = "A loop over the rows of tensors";
  let description = [{
    Runs its block a number of times. The arguments of the block are the
    carries, which the first trip has from `inits` and each other one from the
    trip before, and a row of each of `rows`: trip t has row t, without the
    leading dimension. What the block yields are the next carries, of the types
    of `inits`, and rows.
    The results are the carries that the last trip yields, or `inits` if there
    is no trip; and of each row that is yielded the tensor of all of them, in
    which that of trip t is row t. With `reverse` trip t has, and makes, the row
    of which t come behind it.

    There are `trips`, or as many as `count` says: none if that is less than 0,
    and `trips` at most if both are given. Then the rows behind those of the
    trips that are made are not read, and not defined in results; with `reverse`
    the first trip has the last row of those. The block reads all values of
    around the loop.

    `unroll` says how many trips one iteration of the loop makes, which
    changes no value. Without it short loops are unrolled, those whose trips have 64
    operators or less in all: their operators stand for the loop. Loops in
    which indices are checked or other loops stay are no short ones.

    Constraints: (C1) `trips` or `count` is given, and `trips` is not less than
    0; (C2) each of `rows` has a leading extent of `trips`; (C3) the
    arguments of the block have the types of `inits`, and of `rows` without the
    leading dimension; (C4) the results have the types of `inits`, and of what
    else the block yields with a leading extent of `trips` in front; (C5)
    without `trips` there are no rows, and with `count` there is no `unroll`;
    (C6) `unroll` is at least 1.

    ```mlir
    %h, %ys = metaop.scan 8 carries(%c = %init : tensor<4xf32>)
        rows(%x = %xs : tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
      %next = metaop.add %c, %x : tensor<4xf32>
      metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<MetaOp_Tensor>:$inits,
                       Variadic<MetaOp_Tensor>:$rows,
                       Optional<MetaOp_Symbol>:$count,
                       OptionalAttr<I64Attr>:$trips, UnitAttr:$reverse,
                       OptionalAttr<I64Attr>:$unroll);
  let results = (outs Variadic<MetaOp_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// `buildBody` is called with the carries and the rows, at the end of the
    /// block, and yields. The types of the results follow.
    OpBuilder<(ins "::mlir::metaop::ScanTrips":$trips, "bool":$reverse,
      "ValueRange":$inits, "ValueRange":$rows,
      "function_ref<void(OpBuilder &, Location, ValueRange, ValueRange)>"
        :$buildBody)>,
    /// With an empty body.
    OpBuilder<(ins "TypeRange":$outputs, "ValueRange":$inits,
      "ValueRange":$rows, "::mlir::metaop::ScanTrips":$trips,
      "bool":$reverse)>];
  let extraClassDeclaration = [{
    ::mlir::metaop::ScanYieldOp getYield();
    ::mlir::metaop::ScanTrips getNumTrips();
    unsigned getNumCarries() { return getInits().size(); }
    /// Of the block.
    ::mlir::Block::BlockArgListType getRowArguments() {
      return getBody().getArguments().drop_front(getNumCarries());
    }
    /// The values that the block yields, the carries without the rows.
    ::mlir::OperandRange getNextCarries();
    ::mlir::OperandRange getYieldedRows();
    ::mlir::ResultRange getLastCarries() {
      return getResults().take_front(getNumCarries());
    }
    /// Returns how many trips one iteration is to make, as `unroll` says or
    /// the loop's length: all of `trips` where no loop is to be left.
    int64_t getTripsAtOnce();
    /// Takes over how a loop makes its trips of which this one is made, such as
    /// its derivative: how many at once, and whether they are blocks.
    void makeTripsLike(::mlir::metaop::ScanOp other);
    /// The rows that are yielded, all of them.
    ::mlir::ResultRange getStackedRows() {
      return getResults().drop_front(getNumCarries());
    }
  }];
}

def MetaOp_ScanYieldOp : MetaOp_Op<"scan_yield", [
    Pure, Terminator, HasParent<"ScanOp">,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "The next carries of a scan, and its rows";
  let arguments = (ins Variadic<MetaOp_Tensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

#endif // METAOPS_DIALECT_METAOP_LOOPOPS_TD
