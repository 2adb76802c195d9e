//===- PlacementOps.td - Tensors put into others -----------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_PLACEMENTOPS_TD
#define METAOPS_DIALECT_METAOP_PLACEMENTOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

class MetaOp_PlacementOp<string mnemonic, list<Trait> traits = []>
    : MetaOp_Op<mnemonic, !listconcat([
        Pure, DeclareOpInterfaceMethods<MetaOp_PlacementOpInterface>,
        MetaOp_DifferentiableByProducts], traits)> {
  let results = (outs MetaOp_Tensor:$result);
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def MetaOp_ConcatOp : MetaOp_PlacementOp<"concat", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Tensors one after the other along a dimension";
  let description = [{
    ```
    begin = 0
    for part in parts:
      for i0 in range(part.shape[0]): ... for in in range(part.shape[n]):
        result[i0, ..., begin + i_dim, ..., in] = part[i0, ..., in]
      begin += part.shape[dim]
    ```

    The op is no part of any kernel. It says where its parts are in memory: a
    kernel that makes a part writes it there, and all other parts are copied.

    Constraints: (C1) there is a part; (C2) all parts have one rank and one
    element type; (C3) `dim` is one of their dimensions; (C4) all other extents
    agree; (C5) the extents along `dim` add up to one that can be counted.

    VJP: the cotangent's slices.

    ```mlir
    %y = metaop.concat %a, %b dim = 1
        : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<MetaOp_Tensor>:$parts, I64Attr:$dim);
  let assemblyFormat = [{
    $parts `dim` `=` $dim attr-dict `:` functional-type($parts, $result)
  }];
}

def MetaOp_InsertOp : MetaOp_PlacementOp<"insert", [
    AllTypesMatch<["dest", "result"]>]> {
  let summary = "A tensor put into a window of another";
  let description = [{
    ```
    result = dest
    for i0 in range(part.shape[0]): ... for in in range(part.shape[n]):
      j = (starts[0] + i0, ..., starts[n] + in)
      if all(0 <= j[k] < dest.shape[k] for k):
        result[j] = kind(result[j], part[i0, ..., in])
    ```

    With the kind `none` the window is overwritten, with every other it is
    combined with the part; f16 and bf16 are rounded as by the element-wise op.
    The starts are operands, so a moving window makes no new code. What dies with
    the op is written in place: the cost is that of the part.

    Constraints: (C1) one start per dimension; (C2) part and destination have one
    rank and one element type; (C3) no extent of the part is larger than the
    destination's; (C4) inserts combine by the kind, and it takes the elements.

    VJP: for `none`, the cotangent with zeros in the window, and its window; for
    `add`, the cotangent and its window; for the others those of the
    element-wise op on the window.

    ```mlir
    %y = metaop.insert none %part into %x[%i, %zero]
        : tensor<2x8xf32> into tensor<100x8xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_CombinerAttr:$kind,
    MetaOp_Tensor:$part,
    MetaOp_Tensor:$dest,
    Variadic<MetaOp_Symbol>:$starts
  );
  let assemblyFormat = [{
    `` $kind $part `into` $dest `[` $starts `]` attr-dict `:` type($part) `into`
    type($dest)
  }];
}

#endif // METAOPS_DIALECT_METAOP_PLACEMENTOPS_TD
