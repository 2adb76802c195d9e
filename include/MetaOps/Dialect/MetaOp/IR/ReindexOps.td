//===- ReindexOps.td - One-to-many ops ---------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_REINDEXOPS_TD
#define METAOPS_DIALECT_METAOP_REINDEXOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

class MetaOp_ReindexLikeOp<string mnemonic, list<Trait> traits = []>
    : MetaOp_Op<mnemonic, !listconcat([
        Pure, DeclareOpInterfaceMethods<MetaOp_MetaOpInterface>,
        DeclareOpInterfaceMethods<MetaOp_ReindexOpInterface,
                                  ["getIndexAccess"]>,
        MetaOp_DifferentiableByProducts], traits)> {
  let results = (outs MetaOp_Tensor:$result);
  let hasFolder = 1;
  let hasVerifier = 1;
}

def MetaOp_ReindexOp : MetaOp_ReindexLikeOp<"reindex", [AttrSizedOperandSegments]> {
  let summary = "The general one-to-many operator";
  let description = [{
    ```
    for i0 in range(result.shape[0]): ... for in in range(result.shape[n]):
      j = map(i0, ..., in)[symbols]
      if all(0 <= j[k] < source.shape[k] for k) and where(i0, ..., in)[symbols]:
        result[i0, ..., in] = source[j]
      else:
        result[i0, ..., in] = fill
    ```

    `map` may be semi-affine in its symbols; each symbol is a 0-d operand.
    `where` is a conjunction of affine constraints.

    Constraints: (C1) `map` has as many results as the source has dimensions;
    (C2) as many dims as the result has dimensions; (C3) as many symbols as
    there are symbol operands; (C4) `where` has the same dims and symbols;
    (C5) `fill` has the element type; (C6) source and result have one element
    type; (C7) one extent operand per dynamic dimension of the result;
    (C8) divisors in the map and the conditions are positive constants.

    VJP: `reindex_reduce add` of the cotangent through the same map.

    ```mlir
    %y = metaop.reindex %x
        map affine_map<(d0, d1, d2) -> (d0, d1 + d2 - 1)> fill 0.0 : f32
        : tensor<4x8xf32> -> tensor<4x8x3xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_Tensor:$source,
    Variadic<MetaOp_Symbol>:$symbols,
    Variadic<Index>:$extents,
    AffineMapAttr:$map,
    OptionalAttr<IntegerSetAttr>:$where,
    TypedAttrInterface:$fill
  );
  let assemblyFormat = [{
    $source (`symbols` `(` $symbols^ `)`)?
    (`extents` `(` $extents^ `)`)? `map` $map (`where` $where^)?
    `fill` $fill attr-dict `:` type($source) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::RankedTensorType":$result,
                   "::mlir::Value":$source,
                   "const ::mlir::metaop::IndexAccess &":$access,
                   CArg<"::mlir::ValueRange", "{}">:$extents)>
  ];
  let hasCanonicalizer = 1;
}

def MetaOp_BroadcastOp : MetaOp_ReindexLikeOp<"broadcast"> {
  let summary = "Repeats a tensor along new or unit dimensions";
  let description = [{
    ```
    result[i...] = source[j...] where j[k] = i[dimensions[k]], or 0 where
    source.shape[k] is statically 1
    ```

    Constraints: (C1) one entry of `dimensions` per source dimension;
    (C2) entries rise strictly and lie in `[0, rank(result))`;
    (C3) each source extent is statically 1 or that of the result's dimension;
    (C4) one extent operand per dynamic dimension of the result;
    (C5) source and result have one element type.

    ```mlir
    %y = metaop.broadcast %x dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_Tensor:$source,
    Variadic<Index>:$extents,
    DenseI64ArrayAttr:$dimensions
  );
  let assemblyFormat = [{
    $source (`extents` `(` $extents^ `)`)? `dims` `=` $dimensions attr-dict `:`
    type($source) `->` type($result)
  }];
  let hasCanonicalizer = 1;
}

def MetaOp_TransposeOp : MetaOp_ReindexLikeOp<"transpose", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Permutes dimensions";
  let description = [{
    `result[i...] = source[j...]` where `j[permutation[k]] = i[k]`: dimension k
    of the result is dimension `permutation[k]` of the source.

    Constraints: (C1) `permutation` is a permutation of the source's dimensions.

    ```mlir
    %y = metaop.transpose %x perm = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$source,
                       DenseI64ArrayAttr:$permutation);
  let assemblyFormat = [{
    $source `perm` `=` $permutation attr-dict `:` type($source) `->`
    type($result)
  }];
  let hasCanonicalizer = 1;
}

def MetaOp_SliceOp : MetaOp_ReindexLikeOp<"slice", [AttrSizedOperandSegments]> {
  let summary = "A strided window";
  let description = [{
    `result[i...] = source[start[k] + i[k] * strides[k] ...]`. The starts are
    operands, so a moving window makes no new code. Strides may be negative.
    Elements outside of the source are zero.

    Constraints: (C1) one start and one stride per dimension; (C2) source and
    result have one rank and one element type; (C3) no stride is zero;
    (C4) one extent operand per dynamic dimension of the result.

    ```mlir
    %y = metaop.slice %x[%i, %zero] strides = [1, 1]
        : tensor<100x8xf32> -> tensor<32x8xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_Tensor:$source,
    Variadic<MetaOp_Symbol>:$starts,
    Variadic<Index>:$extents,
    DenseI64ArrayAttr:$strides
  );
  let assemblyFormat = [{
    $source `[` $starts `]` (`extents` `(` $extents^ `)`)? `strides` `=` $strides
    attr-dict `:` type($source) `->` type($result)
  }];
  let hasCanonicalizer = 1;
}

def MetaOp_PadOp : MetaOp_ReindexLikeOp<"pad", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Adds a border";
  let description = [{
    `result[i...] = source[i[k] - low[k] ...]` inside of the source, `fill`
    in the border. A negative width removes elements.

    Constraints: (C1) one `low` and one `high` per dimension; (C2) `fill` has
    the element type; (C3) no extent of the result is negative.

    ```mlir
    %y = metaop.pad %x low = [0, 1] high = [0, 1] fill 0.0 : f32
        : tensor<4x8xf32> -> tensor<4x10xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_Tensor:$source,
    DenseI64ArrayAttr:$low,
    DenseI64ArrayAttr:$high,
    TypedAttrInterface:$fill
  );
  let assemblyFormat = [{
    $source `low` `=` $low `high` `=` $high `fill` $fill attr-dict `:`
    type($source) `->` type($result)
  }];
  let hasCanonicalizer = 1;
}

def MetaOp_GatherOp : MetaOp_Op<"gather", [
    Pure, DeclareOpInterfaceMethods<MetaOp_MetaOpInterface>,
    DeclareOpInterfaceMethods<MetaOp_IndirectOpInterface, ["getIndexAccess"]>,
    MetaOp_DifferentiableByProducts]> {
  let summary = "A reindex whose map reads tensors of indices";
  let description = [{
    ```
    for i0 in range(result.shape[0]): ... for in in range(result.shape[n]):
      j = map(i0, ..., in)[indices[0][i0, ..., in], ...]
      if all(0 <= j[k] < source.shape[k] for k):
        result[i0, ..., in] = source[j]
      else:
        result[i0, ..., in] = fill
    ```

    A tensor of indices that is read at fewer dimensions, or elsewhere than at
    i0, ..., in, is reindexed to the result's shape first, which fuses.

    Constraints: (C1) `map` has as many results as the source has dimensions;
    (C2) as many dims as the result has dimensions; (C3) as many symbols as
    there are tensors of indices, and at least one; (C4) each of them has the
    shape of the result; (C5) `fill` has the element type; (C6) source and
    result have one element type; (C7) divisors in the map are positive
    constants.

    VJP: `scatter add` of the cotangent through the same map and indices.

    ```mlir
    %y = metaop.gather %x[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
        fill 0.0 : f32
        : (tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_Tensor:$source,
    Variadic<MetaOp_IndexTensor>:$indices,
    AffineMapAttr:$map,
    TypedAttrInterface:$fill
  );
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` `map` $map `fill` $fill attr-dict `:`
    functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def MetaOp_ReshapeOp : MetaOp_Op<"reshape", [
    Pure, MetaOp_ViewOpInterface,
    MetaOp_DifferentiableByProducts]> {
  let summary = "The same elements under another shape";
  let description = [{
    A view: element number n in row-major order of the result is element
    number n of the source. No data moves.

    Constraints: (C1) source and result have one element type; (C2) where both
    shapes are static, one number of elements; (C3) one extent operand per
    dynamic dimension of the result.

    ```mlir
    %y = metaop.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$source, Variadic<Index>:$extents);
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = [{
    $source (`extents` `(` $extents^ `)`)? attr-dict `:` type($source) `->`
    type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // METAOPS_DIALECT_METAOP_REINDEXOPS_TD
