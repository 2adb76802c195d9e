//===- ReduceOps.td - Many-to-one ops ----------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_REDUCEOPS_TD
#define METAOPS_DIALECT_METAOP_REDUCEOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

class MetaOp_ReduceLikeOp<string mnemonic, list<Trait> traits = []>
    : MetaOp_Op<mnemonic, !listconcat([
        Pure, DeclareOpInterfaceMethods<MetaOp_MetaOpInterface>,
        DeclareOpInterfaceMethods<MetaOp_ReindexReduceOpInterface,
                                  ["getIndexAccess"]>,
        MetaOp_DifferentiableByProducts], traits)> {
  let results = (outs MetaOp_Tensor:$result);
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def MetaOp_ReindexReduceOp : MetaOp_ReduceLikeOp<"reindex_reduce", [AttrSizedOperandSegments]> {
  let summary = "The general many-to-one operator";
  let description = [{
    ```
    result[...] = identity(kind)
    for i0 in range(source.shape[0]): ... for in in range(source.shape[n]):
      j = map(i0, ..., in)[symbols]
      if all(0 <= j[k] < result.shape[k] for k) and where(i0, ..., in)[symbols]:
        result[j] = kind(result[j], source[i0, ..., in])
    ```

    docs/Spec.md has a table of combiners, with their identities. f16 and bf16
    accumulate in f32. The order in which values are combined is unspecified, but the same for the
    same program and shape.

    Constraints: (C1) `map` has as many results as the result has dimensions;
    (C2) as many dims as the source has dimensions; (C3) as many symbols as
    there are symbol operands; (C4) `where` has the same dims and symbols;
    (C5) reductions combine by the kind, and it takes the elements; (C6) source
    and result have one element type; (C7) one extent operand per dynamic
    dimension of the result; (C8) divisors in the map and the conditions are
    positive constants.

    VJP: for add, `reindex` of the cotangent through the same map; for the
    others what docs/Spec.md says.

    ```mlir
    %y = metaop.reindex_reduce add %x map affine_map<(d0, d1) -> (d0 floordiv 2)>
        : tensor<8x4xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_CombinerAttr:$reduce_kind,
    MetaOp_Tensor:$source,
    Variadic<MetaOp_Symbol>:$symbols,
    Variadic<Index>:$extents,
    AffineMapAttr:$map,
    OptionalAttr<IntegerSetAttr>:$where
  );
  let assemblyFormat = [{
    `` $reduce_kind $source (`symbols` `(` $symbols^ `)`)?
    (`extents` `(` $extents^ `)`)? `map` $map (`where` $where^)? attr-dict `:`
    type($source) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::RankedTensorType":$result,
                   "::mlir::metaop::Combiner":$kind, "::mlir::Value":$source,
                   "const ::mlir::metaop::IndexAccess &":$access,
                   CArg<"::mlir::ValueRange", "{}">:$extents)>
  ];
}

def MetaOp_ScatterOp : MetaOp_Op<"scatter", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MetaOp_MetaOpInterface>,
    DeclareOpInterfaceMethods<MetaOp_IndirectOpInterface, ["getIndexAccess"]>,
    MetaOp_DifferentiableByProducts]> {
  let summary = "A reindex-reduce whose map reads tensors of indices";
  let description = [{
    ```
    result[...] = identity(kind)
    for i0 in range(source.shape[0]): ... for in in range(source.shape[n]):
      j = map(i0, ..., in)[indices[0][i0, ..., in], ...]
      if all(0 <= j[k] < result.shape[k] for k):
        result[j] = kind(result[j], source[i0, ..., in])
    ```

    Identities, rounding and order are those of `reindex_reduce`.

    Constraints: (C1) `map` has as many results as the result has dimensions;
    (C2) as many dims as the source has dimensions; (C3) as many symbols as
    there are tensors of indices, and at least one; (C4) each of them has the
    shape of the source; (C5) reductions combine by the kind, and it takes the
    elements; (C6) source and result have one element type; (C7) one extent
    operand per dynamic dimension of the result; (C8) divisors in the map are
    positive constants.

    VJP: for add, `gather` of the cotangent through the same map and indices;
    for the others what docs/Spec.md says.

    ```mlir
    %y = metaop.scatter add %x[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
        : (tensor<4x8xf32>, tensor<4x8xi64>) -> tensor<100x8xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_CombinerAttr:$reduce_kind,
    MetaOp_Tensor:$source,
    Variadic<MetaOp_IndexTensor>:$indices,
    Variadic<Index>:$extents,
    AffineMapAttr:$map
  );
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = [{
    `` $reduce_kind $source `[` $indices `]` (`extents` `(` $extents^ `)`)?
    `map` $map attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MetaOp_ReduceOp : MetaOp_ReduceLikeOp<"reduce", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Reduces over whole dimensions";
  let description = [{
    Combines all elements along `dimensions`. With `keep_dims` they stay in the
    result with extent 1, else they are dropped.

    Constraints: (C1) `dimensions` rise strictly and lie in `[0, rank(source))`;
    (C2) reductions combine by the kind, and it takes the elements.

    ```mlir
    %y = metaop.reduce add %x dims = [0, 2] : tensor<4x8x3xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_CombinerAttr:$reduce_kind,
    MetaOp_Tensor:$source,
    DenseI64ArrayAttr:$dimensions,
    UnitAttr:$keep_dims
  );
  let assemblyFormat = [{
    `` $reduce_kind $source `dims` `=` $dimensions (`keep_dims` $keep_dims^)? attr-dict
    `:` type($source) `->` type($result)
  }];
}

def MetaOp_NormOp : MetaOp_Op<"norm", [
    Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    MetaOp_DifferentiableByProducts]> {
  let summary = "The lengths of vectors";
  let description = [{
    The square root of the sum of squares along `dimensions`, divided by
    `divisor`. With `keep_dims` these stay in the result with extent 1, else they
    are dropped. With an `order` p, it is the root of that order of the sum of
    powers of magnitudes, or with `signed` of the elements themselves: NaN where
    that is negative.

    Powers are f64, in which they neither overflow nor vanish; a length is
    rounded once. Becomes casts, products, a `reduce` and a root before fusion.
    It is an operation for its derivatives, which are of f32 alone.

    Constraints: (C1) `dimensions` rise strictly and lie in `[0, rank(source))`;
    (C2) `divisor` is 0 or more, and 1 unless `order` is 2; (C3) `order` is a
    multiple of 1/2 in [1.5, 6.5].

    VJP: with r the result and q = `source / r`, the power p - 1 of `|q|`, with
    the sign of q unless `signed`, divided by `divisor`, times the cotangent; 0
    where r or the element is 0.

    ```mlir
    %y = metaop.norm %x dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
    %z = metaop.norm %x dims = [1] order = 1.5 : tensor<4x8xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_F32Tensor:$source,
    DenseI64ArrayAttr:$dimensions,
    UnitAttr:$keep_dims,
    DefaultValuedAttr<F64Attr, "1.0">:$divisor,
    DefaultValuedAttr<F64Attr, "2.0">:$order,
    UnitAttr:$signed_powers
  );
  let results = (outs MetaOp_F32Tensor:$result);
  let assemblyFormat = [{
    $source `dims` `=` $dimensions (`keep_dims` $keep_dims^)?
    (`divisor` `=` $divisor^)? (`order` `=` $order^)?
    (`signed` $signed_powers^)? attr-dict `:` type($source) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Returns the map from elements of the source to those of the result.
    ::mlir::metaop::IndexAccess getIndexAccess();
    /// Returns twice the order.
    int64_t getHalves() { return 2 * getOrder().convertToDouble(); }
    /// Returns true if the order is no whole number, so that powers have roots.
    bool hasRoot() { return getHalves() % 2 == 1; }
    /// Returns true if powers are of magnitudes that are not those of the
    /// elements themselves: even powers are.
    bool needsMagnitudes() {
      return !getSignedPowers() && getHalves() % 4 != 0;
    }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // METAOPS_DIALECT_METAOP_REDUCEOPS_TD
