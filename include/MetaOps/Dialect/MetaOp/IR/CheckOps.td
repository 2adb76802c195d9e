//===- CheckOps.td - Indices that have to be in range ------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `check` is for those who record and differentiate: a value, which whoever
// reads by it depends on. `check_range` is what is run: it has no result, and is
// neither moved out of a branch, merged into kernels nor dropped.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_CHECKOPS_TD
#define METAOPS_DIALECT_METAOP_CHECKOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MetaOp_CheckOp : MetaOp_Op<"check", [
    NoMemoryEffect, SameOperandsAndResultType]> {
  let summary = "Indices that are in range, or the program fails";
  let description = [{
    The operand, if each of its elements i is in range: `0 <= i < extent`,
    or `-extent <= i < extent` if `negative`, or `i == ignored`. If not, the
    program fails with a message that names the highest index, if that is out of
    range, else the lowest, and `dim`, the dimension that is indexed; without
    `dim` the elements are labels of classes, or with `trips` numbers of trips
    of a loop, of which it may make fewer than `extent`. What is unsigned counts
    as the i64 of the same bits.

    A check whose result is not used is none. It may not be done earlier
    than the program says, such as before the branch that it is in.

    Constraints: (C1) `extent >= 0`; (C2) `dim >= 0`; (C3) `trips` is given
    without `dim`.

    ```mlir
    %c = metaop.check %i extent = 10 negative dim = 0 : tensor<4xi64>
    %l = metaop.check %labels extent = 5 ignored = -100 : tensor<8xi32>
    ```
  }];
  let arguments = (ins MetaOp_IntTensor:$indices, I64Attr:$extent,
                       UnitAttr:$negative, OptionalAttr<I64Attr>:$dim,
                       OptionalAttr<I64Attr>:$ignored, UnitAttr:$trips);
  let results = (outs MetaOp_IntTensor:$result);
  let assemblyFormat = [{
    $indices `extent` `=` $extent (`negative` $negative^)? (`dim` `=` $dim^)?
    (`ignored` `=` $ignored^)? (`trips` $trips^)? attr-dict `:` type($indices)
  }];
  let extraClassDeclaration = [{
    ::metaops::IndexRange getRange();
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$indices,
                   "const ::metaops::IndexRange &":$range)>
  ];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def MetaOp_CheckRangeOp : MetaOp_Op<"check_range", [
    MemoryEffects<[MemWrite]>]> {
  let summary = "Fails the program where numbers are out of range";
  let description = [{
    Fails the program if `lowest` or `highest` is out of range, as `check` does
    for indices of which they are the ends. If `lowest` is above `highest`, there
    are no indices, and nothing is checked.

    It has an effect, so it stays where it is, and is done as often as the
    program says; of two that are the same in one block, the first stays.

    Constraints: (C1) `extent >= 0`; (C2) `dim >= 0`; (C3) `trips` is given
    without `dim`.

    ```mlir
    metaop.check_range %lowest, %highest extent = 10 negative dim = 0
    ```
  }];
  let arguments = (ins MetaOp_Symbol:$lowest, MetaOp_Symbol:$highest,
                       I64Attr:$extent, UnitAttr:$negative,
                       OptionalAttr<I64Attr>:$dim, UnitAttr:$trips);
  let assemblyFormat = [{
    $lowest `,` $highest `extent` `=` $extent (`negative` $negative^)?
    (`dim` `=` $dim^)? (`trips` $trips^)? attr-dict
  }];
  let extraClassDeclaration = [{
    ::metaops::IndexRange getRange();
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

#endif // METAOPS_DIALECT_METAOP_CHECKOPS_TD
