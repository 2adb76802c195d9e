//===- CustomOps.td - Derivatives of the user's own --------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_CUSTOMOPS_TD
#define METAOPS_DIALECT_METAOP_CUSTOMOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

def MetaOp_CustomDerivativeOp : MetaOp_Op<"custom_derivative", [
    Pure, AttrSizedOperandSegments]> {
  let summary = "The results of a function whose derivatives are its own";
  let description = [{
    The results are `values`, as they are. Derivatives do not flow to these, but
    to `arguments`, and are what the first of the `rules` says: given the
    cotangents of the results, it yields those of the arguments. A second one is
    for forward mode: given the tangents of the arguments, it yields those of the
    results. The rules read all values of around the operation.

    Without rules, whoever differentiates the program is asked for the
    derivatives, of the function that is named; and without `values`, they have
    been computed, and nobody will ask for them again.

    `captures` are what `values` are made of beside the arguments. No derivative
    flows there; one by what they are made of is an error.

    Constraints: (C1) there are no `values`, or one of each result's type;
    (C2) there are two rules at most, of one block each; (C3) the first one's
    arguments have the types of the results, and it yields values of the types of
    `arguments`; (C4) of the second one it is the other way round.

    ```mlir
    %y = metaop.custom_derivative "Clamp" values(%v : tensor<4xf32>)
        arguments(%x : tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%dy: tensor<4xf32>):
        %dx = metaop.mul %dy, %inside : tensor<4xf32>
        metaop.custom_yield %dx : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$function,
                       Variadic<MetaOp_FloatTensor>:$values,
                       Variadic<MetaOp_FloatTensor>:$arguments,
                       Variadic<MetaOp_FloatTensor>:$captures);
  let results = (outs Variadic<MetaOp_FloatTensor>:$outputs);
  let regions = (region VariadicRegion<SizedRegion<1>>:$rules);
  let assemblyFormat = [{
    $function (`values` `(` $values^ `:` type($values) `)`)?
    (`arguments` `(` $arguments^ `:` type($arguments) `)`)?
    (`captures` `(` $captures^ `:` type($captures) `)`)?
    attr-dict `->` type($outputs) $rules
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The rules for reverse and forward mode; null where there are none.
    ::mlir::Block *getGradientRule();
    ::mlir::Block *getTangentRule();
  }];
}

def MetaOp_CustomYieldOp : MetaOp_Op<"custom_yield", [
    Pure, Terminator, ReturnLike, HasParent<"CustomDerivativeOp">]> {
  let summary = "The derivatives that a rule gives";
  let arguments = (ins Variadic<MetaOp_FloatTensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

#endif // METAOPS_DIALECT_METAOP_CUSTOMOPS_TD
