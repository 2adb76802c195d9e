//===- RoutineOps.td - Sorts -------------------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_ROUTINEOPS_TD
#define METAOPS_DIALECT_METAOP_ROUTINEOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

class MetaOp_RoutineOp<string mnemonic, list<Trait> traits = []>
    : MetaOp_Op<mnemonic, !listconcat([
        Pure, MetaOp_RoutineOpInterface], traits)> {
  let hasVerifier = 1;
}

def MetaOp_SortOp : MetaOp_RoutineOp<"sort", [
    TypesMatchWith<"indices are i64 and of the values' shape", "values",
                   "indices",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).clone("
                   "::mlir::IntegerType::get($_self.getContext(), 64))">,
    MetaOp_DifferentiableByProducts]> {
  let summary = "Elements in rising order along a dimension, and where they were";
  let description = [{
    `indices[..., k, ...]` is the index along `dim` of the element that comes at
    place `begin` + k, `values[..., k, ...]` that element. NaN is larger than every
    number, and both zeros are equal; of equal elements the one with the lower
    index comes first. In falling order if `descending`, where this holds, too.

    The extent of the results along `dim` says how many places of the order are
    wanted, and `begin` the first of them, 0 if it is not given. It is an operand,
    so another one makes no new code. As there are as many elements as places
    wanted, one that is too small or too large counts as the nearest that is not.

    Either result may be unused; then it is not computed. Without indices, zeros
    that are beside each other may change places among the values.

    Constraints: (C1) `dim` is a dimension; (C2) the values have the source's
    elements and, but along `dim`, its shape; (C3) no more places are wanted than
    there are elements.

    VJP: a scatter of the values' cotangent by the indices.

    ```mlir
    %y, %i = metaop.sort %x dim = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
    %largest, %at = metaop.sort %x dim = 1 descending
        : tensor<4x8xf32> -> tensor<4x1xf32>
    %middle, %_ = metaop.sort %x dim = 1 begin = %k
        : tensor<4x8xf32> -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$source, I64Attr:$dim,
                       UnitAttr:$descending, Optional<MetaOp_Symbol>:$begin);
  let results = (outs MetaOp_Tensor:$values, MetaOp_IndexTensor:$indices);
  let assemblyFormat = [{
    $source `dim` `=` $dim (`descending` $descending^)? (`begin` `=` $begin^)?
    attr-dict `:` type($source) `->` type($values)
  }];
}

#endif // METAOPS_DIALECT_METAOP_ROUTINEOPS_TD
