//===- RoutineOps.td - Sorts -------------------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_ROUTINEOPS_TD
#define METAOPS_DIALECT_METAOP_ROUTINEOPS_TD

include "MetaOps/Dialect/MetaOp/MetaOpBase.td"

class MetaOp_RoutineOp<string mnemonic, list<Trait> traits = []>
    : MetaOp_Op<mnemonic, !listconcat([
        Pure, SameOperandsAndResultShape, MetaOp_RoutineOpInterface], traits)> {
  let hasVerifier = 1;
}

def MetaOp_SortOp : MetaOp_RoutineOp<"sort", [
    SameOperandsAndResultType, MetaOp_DifferentiableByProducts]> {
  let summary = "Elements in rising order along a dimension";
  let description = [{
    NaN is larger than every number, and both zeros are equal: zeros that are
    beside each other may change places. In falling order if `descending`.

    Constraints: (C1) `dim` is a dimension.

    VJP: a scatter of the cotangent to where the elements were.

    ```mlir
    %y = metaop.sort %x dim = 1 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$source, I64Attr:$dim,
                       UnitAttr:$descending);
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = [{
    $source `dim` `=` $dim (`descending` $descending^)? attr-dict `:`
    type($result)
  }];
}

def MetaOp_ArgsortOp : MetaOp_RoutineOp<"argsort"> {
  let summary = "Where the elements in rising order are along a dimension";
  let description = [{
    `result[..., k, ...]` is the index along `dim` of the element that comes at
    place k in the order of `metaop.sort`; of equal ones, in both directions, the
    one with the lower index comes first.

    Constraints: (C1) `dim` is a dimension.

    ```mlir
    %i = metaop.argsort %x dim = 1 : tensor<4x8xf32> -> tensor<4x8xi64>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$source, I64Attr:$dim,
                       UnitAttr:$descending);
  let results = (outs MetaOp_IndexTensor:$result);
  let assemblyFormat = [{
    $source `dim` `=` $dim (`descending` $descending^)? attr-dict `:`
    type($source) `->` type($result)
  }];
}

#endif // METAOPS_DIALECT_METAOP_ROUTINEOPS_TD
