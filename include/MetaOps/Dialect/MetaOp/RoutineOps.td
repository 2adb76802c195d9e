//===- RoutineOps.td - Prefixes and sorts ------------------*- tablegen -*-===//
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
        Pure, MetaOp_RoutineOpInterface], traits)> {
  let hasVerifier = 1;
}

def MetaOp_PrefixOp : MetaOp_RoutineOp<"prefix", [
    SameOperandsAndResultType, MetaOp_DifferentiableByProducts]> {
  let summary = "Each element combined with all that come before it";
  let description = [{
    Along `dim`, with x and a the elements of the source and of the factors in
    their order, or in the opposite one if `reverse`:

    ```
    h[0] = x[0]
    h[k] = kind(h[k - 1], x[k])          a[k] * h[k - 1] + x[k] if `linear`
    result[k] = h[k]                     h[k - 1] if `exclusive`, the identity first
    ```

    Rounding and order are as docs/Spec.md says: the extent alone decides them.

    Constraints: (C1) `dim` is a dimension; (C2) there are factors if and only if
    the kind is `linear`; (C3) `logaddexp` takes floats.

    VJP: another prefix, in the opposite direction; `linear` but for `add`.

    ```mlir
    %y = metaop.prefix add %x dim = 1 : tensor<4x8xf32>
    %z = metaop.prefix linear %x factors(%a) dim = 0 reverse exclusive
        : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_PrefixKindAttr:$kind,
    MetaOp_NumberTensor:$source,
    Optional<MetaOp_NumberTensor>:$factors,
    I64Attr:$dim,
    UnitAttr:$reverse,
    UnitAttr:$exclusive
  );
  let results = (outs MetaOp_NumberTensor:$result);
  let assemblyFormat = [{
    `` $kind $source (`factors` `(` $factors^ `)`)? `dim` `=` $dim
    (`reverse` $reverse^)? (`exclusive` $exclusive^)? attr-dict `:`
    type($result)
  }];
}

def MetaOp_SortOp : MetaOp_RoutineOp<"sort", [MetaOp_DifferentiableByProducts]> {
  let summary = "Elements in rising order along a dimension";
  let description = [{
    NaN is larger than every number, and both zeros are equal: zeros that are
    beside each other may change places. In falling order if `descending`.

    The result's extent along `dim` says how many places of the order are wanted,
    and `begin` the first of them.

    Constraints: (C1) `dim` is a dimension; (C2) the result has the source's
    elements and, but along `dim`, its shape; (C3) the places are those of
    elements.

    VJP: a scatter of the cotangent to where the elements were.

    ```mlir
    %y = metaop.sort %x dim = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
    %largest = metaop.sort %x dim = 1 descending : tensor<4x8xf32> -> tensor<4x1xf32>
    %middle = metaop.sort %x dim = 1 begin = 3 : tensor<4x8xf32> -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$source, I64Attr:$dim,
                       UnitAttr:$descending,
                       DefaultValuedAttr<I64Attr, "0">:$begin);
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = [{
    $source `dim` `=` $dim (`descending` $descending^)? (`begin` `=` $begin^)?
    attr-dict `:` type($source) `->` type($result)
  }];
}

def MetaOp_ArgsortOp : MetaOp_RoutineOp<"argsort"> {
  let summary = "Where the elements in rising order are along a dimension";
  let description = [{
    `result[..., k, ...]` is the index along `dim` of the element that comes at
    place `begin` + k in the order of `metaop.sort`; of equal ones, in both
    directions, the one with the lower index comes first.

    Constraints: (C1) `dim` is a dimension; (C2) the result has, but along `dim`,
    the source's shape; (C3) the places are those of elements.

    ```mlir
    %i = metaop.argsort %x dim = 1 : tensor<4x8xf32> -> tensor<4x8xi64>
    %two = metaop.argsort %x dim = 1 descending : tensor<4x8xf32> -> tensor<4x2xi64>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$source, I64Attr:$dim,
                       UnitAttr:$descending,
                       DefaultValuedAttr<I64Attr, "0">:$begin);
  let results = (outs MetaOp_IndexTensor:$result);
  let assemblyFormat = [{
    $source `dim` `=` $dim (`descending` $descending^)? (`begin` `=` $begin^)?
    attr-dict `:` type($source) `->` type($result)
  }];
}

#endif // METAOPS_DIALECT_METAOP_ROUTINEOPS_TD
