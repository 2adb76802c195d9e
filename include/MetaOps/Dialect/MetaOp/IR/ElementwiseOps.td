//===- ElementwiseOps.td - One-to-one ops ------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_ELEMENTWISEOPS_TD
#define METAOPS_DIALECT_METAOP_ELEMENTWISEOPS_TD

include "MetaOps/Dialect/MetaOp/IR/ElementwiseBase.td"

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

let hasFolder = 1 in {
def MetaOp_NegOp : MetaOp_UnaryOp<"neg", MetaOp_NumberTensor, "-x",
  [MetaOp_HasPartials]>;
def MetaOp_AbsOp : MetaOp_UnaryOp<"abs", MetaOp_NumberTensor, "|x|",
  [MetaOp_HasPartials]>;
def MetaOp_SignOp : MetaOp_UnaryOp<"sign", MetaOp_NumberTensor,
  "-1, 0 or 1 as x is negative, zero or positive; NaN for NaN">;
def MetaOp_NotOp : MetaOp_UnaryOp<"not", MetaOp_IntOrBoolTensor,
  "x with every bit flipped">;
def MetaOp_TruncOp : MetaOp_UnaryOp<"trunc", MetaOp_FloatTensor,
  "the integer next to x on the side of zero">;
def MetaOp_FloorOp : MetaOp_UnaryOp<"floor", MetaOp_FloatTensor,
  "the largest integer not above x">;
def MetaOp_CeilOp : MetaOp_UnaryOp<"ceil", MetaOp_FloatTensor,
  "the smallest integer not below x">;
def MetaOp_RoundOp : MetaOp_UnaryOp<"round", MetaOp_FloatTensor,
  "the nearest integer, ties to even">;
} // hasFolder

def MetaOp_PopcountOp : MetaOp_UnaryOp<"popcount", MetaOp_IntTensor,
  "the number of bits of x that are set">;

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

let hasFolder = 1 in {
def MetaOp_AddOp : MetaOp_BinaryOp<"add", MetaOp_NumberTensor,
  "x + y; integers wrap", [Commutative, MetaOp_HasPartials]>;
def MetaOp_SubOp : MetaOp_BinaryOp<"sub", MetaOp_NumberTensor,
  "x - y; integers wrap", [MetaOp_HasPartials]>;
def MetaOp_MulOp : MetaOp_BinaryOp<"mul", MetaOp_NumberTensor,
  "x * y; integers wrap", [Commutative, MetaOp_HasPartials]>;
def MetaOp_DivOp : MetaOp_BinaryOp<"div", MetaOp_FloatTensor,
  "x / y", [MetaOp_HasPartials], "Division">;
def MetaOp_FloorDivOp : MetaOp_BinaryOp<"floor_div", MetaOp_NumberTensor,
  "floor(x / y); an integer divided by zero gives 0", [], "Division">;
def MetaOp_ModOp : MetaOp_BinaryOp<"mod", MetaOp_NumberTensor,
  "x - y * floor(x / y), with the sign of y; an integer modulo zero gives 0",
  [MetaOp_HasPartials], "Call">;
def MetaOp_PowOp : MetaOp_BinaryOp<"pow", MetaOp_NumberTensor,
  "x^y; integers wrap, and a negative power of one is truncated",
  [MetaOp_HasPartials], "Call">;
def MetaOp_MaxOp : MetaOp_BinaryOp<"max", MetaOp_NumberTensor,
  "the larger of x and y; NaN if either is", [Commutative,
  MetaOp_HasPartials]>;
def MetaOp_MinOp : MetaOp_BinaryOp<"min", MetaOp_NumberTensor,
  "the smaller of x and y; NaN if either is", [Commutative,
  MetaOp_HasPartials]>;
def MetaOp_AndOp : MetaOp_BinaryOp<"and", MetaOp_IntOrBoolTensor,
  "x and y, bit by bit", [Commutative]>;
def MetaOp_OrOp : MetaOp_BinaryOp<"or", MetaOp_IntOrBoolTensor,
  "x or y, bit by bit", [Commutative]>;
def MetaOp_XorOp : MetaOp_BinaryOp<"xor", MetaOp_IntOrBoolTensor,
  "x exclusive-or y, bit by bit", [Commutative]>;
} // hasFolder

def MetaOp_FmodOp : MetaOp_BinaryOp<"fmod", MetaOp_NumberTensor,
  "x - y * trunc(x / y), with the sign of x; an integer modulo zero gives 0",
  [MetaOp_HasPartials], "Call">;
def MetaOp_GcdOp : MetaOp_BinaryOp<"gcd", MetaOp_IntTensor,
  "the greatest common divisor of |x| and |y|; 0 of two zeros", [Commutative],
  "Call">;
def MetaOp_ShlOp : MetaOp_BinaryOp<"shl", MetaOp_IntTensor,
  "x with its bits moved up by y places; 0 if y is negative or too large">;
def MetaOp_ShrOp : MetaOp_BinaryOp<"shr", MetaOp_IntTensor,
  "x with its bits moved down by y places, floor(x / 2^y); all bits are moved "
  "out if y is negative or too large">;
def MetaOp_NextafterOp : MetaOp_BinaryOp<"nextafter", MetaOp_FloatTensor,
  "the number of the type next to x on the side of y; y where they are equal, "
  "NaN if either is">;

//===----------------------------------------------------------------------===//
// Mixed element types
//===----------------------------------------------------------------------===//

def MetaOp_CmpOp : MetaOp_ElementwiseOp<"cmp", [
    SameTypeOperands, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Compares element by element";
  let description = [{
    `result[i...] = lhs[i...] predicate rhs[i...]`. With a NaN, `ne` is true and
    every other comparison false.

    ```mlir
    %m = metaop.cmp lt %a, %b : tensor<4xf32> -> tensor<4xi1>
    ```
  }];
  let arguments = (ins MetaOp_ComparePredicateAttr:$predicate,
                       MetaOp_Tensor:$lhs, MetaOp_Tensor:$rhs);
  let results = (outs MetaOp_BoolTensor:$result);
  let assemblyFormat = [{
    `` $predicate $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)
  }];
  let hasFolder = 1;
}

def MetaOp_SelectOp : MetaOp_ElementwiseOp<"select", [
    AllTypesMatch<["on_true", "on_false", "result"]>, MetaOp_HasPartials]> {
  let summary = "Chooses element by element";
  let description = [{
    `result[i...] = on_true[i...] if condition[i...] else on_false[i...]`.

    ```mlir
    %y = metaop.select %m, %a, %b : tensor<4xi1>, tensor<4xf32>
    ```
  }];
  let arguments = (ins MetaOp_BoolTensor:$condition,
                       MetaOp_Tensor:$on_true, MetaOp_Tensor:$on_false);
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = [{
    $condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,`
    type($result)
  }];
  let hasFolder = 1;
}

def MetaOp_FmaOp : MetaOp_ElementwiseOp<"fma", [
    SameOperandsAndResultType, MetaOp_HasPartials]> {
  let summary = "x * y + z, rounded once";
  let description = [{
    `result[i...] = x[i...] * y[i...] + z[i...]` without a rounding in between.
    f16 and bf16 are computed in f32, of which the result is rounded once more.

    ```mlir
    %r = metaop.fma %x, %y, %z : tensor<4xf32>
    ```
  }];
  let arguments = (ins MetaOp_FloatTensor:$x, MetaOp_FloatTensor:$y,
                       MetaOp_FloatTensor:$z);
  let results = (outs MetaOp_FloatTensor:$result);
  let assemblyFormat = "$x `,` $y `,` $z attr-dict `:` type($result)";
}

def MetaOp_BitcastOp : MetaOp_ElementwiseOp<"bitcast"> {
  let summary = "The same bits as another element type";
  let description = [{
    `result[i...]` has the bits of `operand[i...]`.

    Constraints: (C1) operand and result are numbers of one width.

    ```mlir
    %b = metaop.bitcast %x : tensor<4xf32> -> tensor<4xi32>
    ```
  }];
  let arguments = (ins MetaOp_NumberTensor:$operand);
  let results = (outs MetaOp_NumberTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def MetaOp_CastOp : MetaOp_ElementwiseOp<"cast", [
    MetaOp_DifferentiableByProducts]> {
  let summary = "Converts the element type";
  let description = [{
    Float to float rounds to nearest even. Float to integer truncates towards
    zero and saturates, NaN gives 0. Integer to integer wraps. To boolean: is
    not zero. From boolean: 0 or 1.

    ```mlir
    %y = metaop.cast %x : tensor<4xi64> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$operand);
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `->` type($result)
  }];
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Identities with a meaning
//===----------------------------------------------------------------------===//

def MetaOp_StopGradOp : MetaOp_Op<"stop_grad", [
    Pure, SameOperandsAndResultType, MetaOp_ViewOpInterface]> {
  let summary = "The same value, through which no gradient flows";
  let description = [{
    `result = operand`. Removed before fusion, where gradients are complete.

    ```mlir
    %y = metaop.stop_grad %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$operand);
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def MetaOp_StopFuseOp : MetaOp_Op<"stop_fuse", [
    Pure, SameOperandsAndResultType, MetaOp_ViewOpInterface,
    MetaOp_DifferentiableByProducts]> {
  let summary = "The same value, across which nothing is fused";
  let description = [{
    `result = operand`. The value exists in memory, and its producer and its
    consumers are in different kernels.

    ```mlir
    %y = metaop.stop_fuse %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$operand);
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def MetaOp_BarrierOp : MetaOp_Op<"barrier", [
    Pure, MetaOp_DifferentiableByProducts]> {
  let summary = "The same values, each of which waits for all";
  let description = [{
    `result[k] = operand[k]`. Each result depends on all operands, so what is
    made of it is computed when all of them are there, and is never taken for
    what is made of the operand itself. It copies nothing, and is gone when the
    order of steps has been decided. Constants, and in a loop what is from outside
    of it, are always there, and are dropped from it.

    What is computed again for a gradient is made of results of a barrier, whose
    operands are what that is computed of, and the gradient that needs it.

    Constraints: (C1) there is a result of each operand's type.

    ```mlir
    %y:2 = metaop.barrier %x, %c : tensor<4xf32>, tensor<f32>
        -> tensor<4xf32>, tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<MetaOp_Tensor>:$operands);
  let results = (outs Variadic<MetaOp_Tensor>:$results);
  let assemblyFormat = [{
    $operands attr-dict `:` type($operands) `->` type($results)
  }];
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$operands)>];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def MetaOp_TransferOp : MetaOp_Op<"transfer", [
    Pure, SameOperandsAndResultType, MetaOp_DifferentiableByProducts]> {
  let summary = "The same value, in another device's memory";
  let description = [{
    `result = operand`, of which the one is in the memory of the device `from`
    and the other in that of `to`. A program runs on one device, so this stands
    between two programs. A file is one program: the operation is removed
    before fusion.

    ```mlir
    %y = metaop.transfer %x from "cpu:0" to "cpu:1" : tensor<4xf32>
    ```
  }];
  let arguments = (ins MetaOp_Tensor:$operand, StrAttr:$from, StrAttr:$to);
  let results = (outs MetaOp_Tensor:$result);
  let assemblyFormat = [{
    $operand `from` $from `to` $to attr-dict `:` type($result)
  }];
}

#endif // METAOPS_DIALECT_METAOP_ELEMENTWISEOPS_TD
