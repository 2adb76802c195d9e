//===- LeafOps.td - Ops without tensor inputs --------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_LEAFOPS_TD
#define METAOPS_DIALECT_METAOP_LEAFOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

def MetaOp_ConstantOp : MetaOp_Op<"constant", [
    Pure, ConstantLike, AllTypesMatch<["value", "result"]>,
    DeclareOpInterfaceMethods<MetaOp_MetaOpInterface>,
    DeclareOpInterfaceMethods<MetaOp_GeneratorOpInterface>]> {
  let summary = "A small or splat constant";
  let description = [{
    `result[i...] = value[i...]`. Meant for splats and small tables: data of any
    size lives in buffers, not in the IR.

    Constraints: (C1) the shape is static.

    ```mlir
    %0 = metaop.constant dense<0.5> : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def MetaOp_IotaOp : MetaOp_Op<"iota", [
    Pure, DeclareOpInterfaceMethods<MetaOp_MetaOpInterface>,
    DeclareOpInterfaceMethods<MetaOp_GeneratorOpInterface>]> {
  let summary = "Indices along one dimension";
  let description = [{
    `result[i0, ..., in] = i_dimension`, converted to the element type.

    Constraints: (C1) `0 <= dimension < rank(result)`; (C2) one extent operand
    per dynamic dimension of the result; (C3) the elements are numbers.

    ```mlir
    %0 = metaop.iota dim = 1 : tensor<4x8xi64>
    ```
  }];
  let arguments = (ins I64Attr:$dimension, Variadic<Index>:$extents);
  let results = (outs MetaOp_NumberTensor:$result);
  let assemblyFormat = [{
    `dim` `=` $dimension (`extents` `(` $extents^ `)`)? attr-dict `:`
    type($result)
  }];
  let hasVerifier = 1;
}

def MetaOp_BufferOp : MetaOp_Op<"buffer"> {
  let summary = "A tensor that exists in memory";
  let description = [{
    A leaf of a session's block: a tensor given by the user or already
    computed. The data lives beside the IR, with the session. Two buffers are
    never the same value, whatever their types.

    ```mlir
    %0 = metaop.buffer : tensor<4x8xf32>
    ```
  }];
  let results = (outs
    Res<MetaOp_Tensor, "", [MemAlloc<DefaultResource>]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def MetaOp_ScalarOp : MetaOp_Op<"scalar"> {
  let summary = "A number whose value is not part of the program";
  let description = [{
    A leaf: a number given by the user (a learning rate, a slice's start, a
    random counter). Its value lives beside the IR, so that another value makes
    no new code.

    ```mlir
    %0 = metaop.scalar : tensor<f32>
    ```
  }];
  let results = (outs
    Res<0DTensorOf<[MetaOp_Element]>, "", [MemAlloc<DefaultResource>]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def MetaOp_RandomOp : MetaOp_Op<"random", [
    Pure, DeclareOpInterfaceMethods<MetaOp_MetaOpInterface>,
    DeclareOpInterfaceMethods<MetaOp_GeneratorOpInterface>]> {
  let summary = "Counter-based uniform random numbers (Philox2x32-10)";
  let description = [{
    `result[i...] = uniform(philox(key, counter + linear(i...)))` where
    `linear` is the row-major position. Philox2x32-10 is the generator of
    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), with
    the lower half of the key; the upper half is combined with that of the
    counter `counter + linear` by exclusive or. Floats are
    uniform in [0, 1): f32, f16 and bf16 from the upper bits of word 0 as many
    as the significand holds (24, 11, 8), f64 from the upper 53 bits of
    `word1 * 2^32 + word0`; ui32 is word 0. The numbers depend on the operands
    only: not on the target, the schedule or the number of threads.

    Constraints: (C1) the elements are floats or ui32; (C2) one extent operand
    per dynamic dimension of the result.

    ```mlir
    %0 = metaop.random %key, %counter : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins MetaOp_Symbol:$key, MetaOp_Symbol:$counter,
                       Variadic<Index>:$extents);
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = [{
    $key `,` $counter (`extents` `(` $extents^ `)`)? attr-dict `:`
    type($result)
  }];
  let hasVerifier = 1;
}

#endif // METAOPS_DIALECT_METAOP_LEAFOPS_TD
