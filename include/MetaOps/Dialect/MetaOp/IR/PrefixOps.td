//===- PrefixOps.td - Running sums and their kin -----------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_PREFIXOPS_TD
#define METAOPS_DIALECT_METAOP_PREFIXOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

def MetaOp_PrefixOp : MetaOp_Op<"prefix", [
    Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<MetaOp_MetaOpInterface>,
    MetaOp_DifferentiableByProducts]> {
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
    It goes in blocks, of which each begins anew, unless the op is `serial`.

    Constraints: (C1) `dim` is a dimension; (C2) there are factors if and only if
    the kind is `linear`; (C3) prefixes combine by the kind, and it takes the
    elements.

    A stage that holds prefixes goes along one dimension, in one direction, and
    reduces nothing.

    VJP: another prefix, in the opposite direction; `linear` but for `add`.

    ```mlir
    %y = metaop.prefix add %x dim = 1 : tensor<4x8xf32>
    %z = metaop.prefix linear %x factors(%a) dim = 0 reverse exclusive
        : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins
    MetaOp_CombinerAttr:$kind,
    MetaOp_NumberTensor:$source,
    Optional<MetaOp_NumberTensor>:$factors,
    I64Attr:$dim,
    UnitAttr:$reverse,
    UnitAttr:$exclusive,
    UnitAttr:$serial
  );
  let results = (outs MetaOp_NumberTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// Elements that are combined one after another before their outcome is
    /// combined with that of those before; none where all are.
    std::optional<int64_t> getBlock();
  }];
  let assemblyFormat = [{
    `` $kind $source (`factors` `(` $factors^ `)`)? `dim` `=` $dim
    (`reverse` $reverse^)? (`exclusive` $exclusive^)? (`serial` $serial^)?
    attr-dict `:` type($result)
  }];
}

#endif // METAOPS_DIALECT_METAOP_PREFIXOPS_TD
