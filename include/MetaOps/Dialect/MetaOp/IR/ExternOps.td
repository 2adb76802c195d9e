//===- ExternOps.td - Calls of code of the user's own ------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_EXTERNOPS_TD
#define METAOPS_DIALECT_METAOP_EXTERNOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

// Not speculatable: the code may fail, so it runs where the program says so.
def MetaOp_ExternOp : MetaOp_Op<"extern", [
    NoMemoryEffect,
    DeclareOpInterfaceMethods<MetaOp_RoutineOpInterface, ["makes", "mayFail"]>]> {
  let summary = "The results of a function that the compiler does not know";
  let description = [{
    The `function` is code of the host's that somebody has given the runtime by
    this name, such as a kernel of the user's own. It is a function of the
    inputs alone, and writes all elements of its outputs, so equal calls are
    merged, and one that nobody reads does not run. It may fail, which fails the
    program.

    If `parallel` is not 0, the points of so many leading dimensions of the first
    output may be shared among threads. If `leading` is there, all inputs and
    outputs have so many dimensions in front of what the function knows, which
    takes any number of them.

    It has no derivatives: one through it is an error.

    Constraints: (C1) there is an output; (C2) the first one has `parallel`
    dimensions at least.

    ```mlir
    %y, %n = metaop.extern "code.5eed"(%x) parallel = 1
        : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<i64>)
    ```
  }];
  let arguments = (ins StrAttr:$function,
                       ConfinedAttr<DefaultValuedAttr<I64Attr, "0">,
                                    [IntNonNegative]>:$parallel,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$leading,
                       Variadic<MetaOp_Tensor>:$inputs);
  let results = (outs Variadic<MetaOp_Tensor>:$outputs);
  let assemblyFormat = [{
    $function `(` $inputs `)` (`parallel` `=` $parallel^)? (`leading` `=` $leading^)? attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
}

#endif // METAOPS_DIALECT_METAOP_EXTERNOPS_TD
