//===- MetaOpBase.td - Types and base classes of the ops ---*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_METAOPBASE_TD
#define METAOPS_DIALECT_METAOP_METAOPBASE_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.td"
include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.td"
include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def MetaOp_Bool : TypeAlias<I1, "boolean">;
def MetaOp_Float : AnyTypeOf<[F64, F32, F16, BF16], "float">;
def MetaOp_Int : AnyTypeOf<[
  I8, I16, I32, I64, UI8, UI16, UI32, UI64], "integer">;
def MetaOp_Number : AnyTypeOf<[MetaOp_Float, MetaOp_Int], "number">;
def MetaOp_Element : AnyTypeOf<[MetaOp_Number, MetaOp_Bool], "element">;

/// Told of by its summary alone, not by a list of elements behind it.
class MetaOp_TensorOf<Type element, string summary>
    : Type<RankedTensorOf<[element]>.predicate, summary,
           "::mlir::RankedTensorType">;

def MetaOp_Tensor
    : MetaOp_TensorOf<MetaOp_Element, "tensor of numbers or booleans">;
def MetaOp_FloatTensor : MetaOp_TensorOf<MetaOp_Float, "tensor of floats">;
def MetaOp_F32Tensor : MetaOp_TensorOf<F32, "tensor of f32">;
def MetaOp_NumberTensor : MetaOp_TensorOf<MetaOp_Number, "tensor of numbers">;
def MetaOp_IntOrBoolTensor : MetaOp_TensorOf<
  AnyTypeOf<[MetaOp_Int, MetaOp_Bool]>, "tensor of integers or booleans">;
def MetaOp_IntTensor : MetaOp_TensorOf<MetaOp_Int, "tensor of integers">;
def MetaOp_SignedNumberTensor : MetaOp_TensorOf<
  AnyTypeOf<[MetaOp_Float, I8, I16, I32, I64]>, "tensor of signed numbers">;
def MetaOp_BoolTensor : MetaOp_TensorOf<MetaOp_Bool, "tensor of booleans">;

/// Indices of elements that an index map uses, one at each iteration.
def MetaOp_IndexTensor
    : MetaOp_TensorOf<I64, "tensor of 64-bit integers">;

/// A number known only at run time that an index map uses: a 0-d i64 tensor.
def MetaOp_Symbol
    : Type<0DTensorOf<[I64]>.predicate, "0-d tensor of 64-bit integers">,
      BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI64Type())">;

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

/// Both products with the Jacobian are the op's own.
def MetaOp_DifferentiableByProducts : DeclareOpInterfaceMethods<
  MetaOp_DifferentiableOpInterface, ["vjp", "jvp"]>;

class MetaOp_Op<string mnemonic, list<Trait> traits = []>
    : Op<MetaOp_Dialect, mnemonic, traits>;

#endif // METAOPS_DIALECT_METAOP_METAOPBASE_TD
