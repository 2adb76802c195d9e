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
    AllTypesMatch<["source", "values"]>,
    TypesMatchWith<"indices are i64 and of the source's shape", "source",
                   "indices",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).clone("
                   "::mlir::IntegerType::get($_self.getContext(), 64))">,
    MetaOp_DifferentiableByProducts]> {
  let summary = "Elements in rising order along a dimension, and where they were";
  let description = [{
    `indices[..., k, ...]` is the index along `dim` of the element that comes at
    place k, `values[..., k, ...]` that element. NaN is larger than every number,
    and both zeros are equal; of equal elements the one with the lower index comes
    first. In falling order if `descending`, where this holds, too.

    Either result may be unused; then it is not computed. Without indices, zeros
    that are beside each other may change places among the values.

    Constraints: (C1) `dim` is a dimension.

    VJP: a scatter of the values' cotangent by the indices.

    ```mlir
    %values, %indices = metaop.sort %x dim = 1 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$source, I64Attr:$dim,
                       UnitAttr:$descending);
  let results = (outs MetaOp_Tensor:$values, MetaOp_IndexTensor:$indices);
  let assemblyFormat = [{
    $source `dim` `=` $dim (`descending` $descending^)? attr-dict `:`
    type($source)
  }];
}

#endif // METAOPS_DIALECT_METAOP_ROUTINEOPS_TD
