//===- MetaOpInterfaces.td - Interfaces of the ops ---------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_METAOPINTERFACES_TD
#define METAOPS_DIALECT_METAOP_METAOPINTERFACES_TD

include "mlir/IR/Interfaces.td"

def MetaOp_MetaOpInterface : OpInterface<"MetaOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let description = [{
    An operation that may live in a `metaop.fused` region: its kind and the
    value whose shape is its iteration space S.
  }];
  let methods = [
    InterfaceMethod<"The kind of meta-operator.",
      "::mlir::metaop::MetaOpClass", "getMetaOpClass", (ins)>,
    InterfaceMethod<[{
        The value whose shape is the iteration space S: the operand of a
        reindex-reduce, the result of every other kind.
      }],
      "::mlir::TypedValue<::mlir::RankedTensorType>", "getIterationValue",
      (ins)>
  ];
}

def MetaOp_ReindexOpInterface : OpInterface<"ReindexOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let description = [{
    One-to-many: `result[i...] = source[map(i...)]` where the map is in range
    and the conditions hold, else `fill`.
  }];
  let methods = [
    InterfaceMethod<"The tensor that is read.",
      "::mlir::TypedValue<::mlir::RankedTensorType>", "getSource", (ins)>,
    InterfaceMethod<"Map from result indices to source indices, and guards.",
      "::mlir::metaop::IndexAccess", "getIndexAccess", (ins)>
  ];
}

def MetaOp_ReindexReduceOpInterface
    : OpInterface<"ReindexReduceOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let description = [{
    Many-to-one: `result[map(i...)] op= source[i...]` over all i of the source
    for which the map is in range and the conditions hold.
  }];
  let methods = [
    InterfaceMethod<"The tensor that is reduced.",
      "::mlir::TypedValue<::mlir::RankedTensorType>", "getSource", (ins)>,
    InterfaceMethod<"Map from source indices to result indices, and guards.",
      "::mlir::metaop::IndexAccess", "getIndexAccess", (ins)>,
    InterfaceMethod<"The operator that combines values.",
      "::mlir::metaop::Combiner", "getReduceKind", (ins)>
  ];
}

def MetaOp_IndirectOpInterface : OpInterface<"IndirectOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let description = [{
    A reindex or a reindex-reduce whose map also takes numbers out of tensors:
    the symbols of the access are integer tensors of the shape of the iteration
    space, read at each iteration's own place.
  }];
  let methods = [
    InterfaceMethod<"The tensor that is read or reduced.",
      "::mlir::TypedValue<::mlir::RankedTensorType>", "getSource", (ins)>,
    InterfaceMethod<"The tensors of indices.",
      "::mlir::OperandRange", "getIndices", (ins)>,
    InterfaceMethod<"Map from the iteration space and the indices' values.",
      "::mlir::metaop::IndexAccess", "getIndexAccess", (ins)>
  ];
}

def MetaOp_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let methods = [
    InterfaceMethod<[{
        Emits the operation for one element, or for a vector of elements, with
        arith and math operations. `operands` are scalars or vectors of the
        storage type of each operand (signless integers; i1 for booleans).
      }],
      "::mlir::Value", "emitScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands)>,
    InterfaceMethod<"What computing one element takes, by its type.",
      "::mlir::metaop::ElementWork", "getElementWork", (ins)>
  ];
}

def MetaOp_GeneratorOpInterface : OpInterface<"GeneratorOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let methods = [
    InterfaceMethod<[{
        Emits the element at `indices` (index scalars, or vectors of index: all
        of one type). `operands` are the elements of the 0-d tensor operands,
        always scalars; `extents` are the extents of S as index scalars.
      }],
      "::mlir::Value", "emitElement",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::ValueRange":$indices, "::mlir::ValueRange":$extents)>
  ];
}

def MetaOp_ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let description = [{
    The result holds the same elements in the same order as operand 0, so a
    memory plan gives both one buffer and no kernel is made.
  }];
}

def MetaOp_PlacementOpInterface : OpInterface<"PlacementOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let description = [{
    The result is put together from whole operands, each in a window of it. A
    memory plan has operands lie in their windows, or has them copied there.
  }];
  let methods = [
    InterfaceMethod<[{
        Which operand goes where, in the order in which they are written: later
        ones lie on top of earlier ones. Every element of the result is written.
        Asked of static shapes, and of an op in canonical form, which combines
        nothing.
      }],
      "::llvm::SmallVector<::mlir::metaop::Placement>", "getPlacements", (ins)>
  ];
}

def MetaOp_RoutineOpInterface : OpInterface<"RoutineOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let description = [{
    The op is no part of any kernel: a routine computes its results from whole
    operands in memory. All are dense. A result has memory of its own, but that
    of an operand over which it may be made. The runtime looks the routine up by
    its name, in a registry, and is given nothing of the op but what these
    methods say.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns whether the routine makes a result: by default those that are
        used.
      }],
      "bool", "makes", (ins "::mlir::OpResult":$result), "",
      "return !result.use_empty();">,
    InterfaceMethod<[{
        Returns the name of the routine; empty where the op is not computed by
        a member of the registry.
      }],
      "::llvm::StringRef", "getRoutineName", (ins), "", "return \"\";">,
    InterfaceMethod<[{
        Returns the attributes of the routine: integers, floats, strings, and
        arrays of these.
      }],
      "::llvm::SmallVector<::mlir::NamedAttribute>", "getRoutineAttributes",
      (ins), "", "return {};">,
    InterfaceMethod<[{
        Returns what an operand is to the routine.
      }],
      "::llvm::StringRef", "getOperandRole", (ins "unsigned":$number), "",
      "return \"\";">,
    InterfaceMethod<[{
        Returns what a result is to the routine.
      }],
      "::llvm::StringRef", "getResultRole", (ins "unsigned":$number), "",
      "return \"\";">,
    InterfaceMethod<[{
        Returns the number of the operand over which a result may be made, which
        has the result's type; none by default.
      }],
      "::std::optional<unsigned>", "getOverwritten", (ins "unsigned":$number),
      "", "return ::std::nullopt;">,
    InterfaceMethod<[{
        Returns whether a run may fail. What may fail is done where the program
        does it, and before arguments are overwritten.
      }],
      "bool", "mayFail", (ins), "", "return false;">
  ];
}

def MetaOp_PartialsOpInterface : OpInterface<"PartialsOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let description = [{
    Each element of the result is a function of the operands' elements at the
    same place, so that the Jacobian by an operand is diagonal: times a tangent
    of the operand and times a cotangent of the result are one formula.
  }];
  let methods = [
    InterfaceMethod<[{
        Emits `value`, of the shape and element type of the result, times the
        partial derivatives of the result by an operand. Null where they are
        zero. Asked of results that are floats only.
      }],
      "::mlir::Value", "applyPartial",
      (ins "::mlir::OpBuilder &":$builder, "unsigned":$operand,
           "::mlir::Value":$value)>
  ];
}

def MetaOp_DifferentiableOpInterface
    : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::metaop";
  let description = [{
    Both products with the Jacobian J. The defaults are for ops that have a
    `PartialsOpInterface`.
  }];
  let methods = [
    InterfaceMethod<[{
        Vector-Jacobian product. Given the cotangents of the results, emits
        meta-operators at the builder's insertion point and returns one
        cotangent per operand; null where no gradient flows.
      }],
      "::llvm::SmallVector<::mlir::Value>", "vjp",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents),
      "", [{
        return ::mlir::metaop::detail::vjpByPartials($_op, builder, cotangents);
      }]>,
    InterfaceMethod<[{
        Jacobian-vector product. Given the tangents of the operands, null where
        they are zero, emits meta-operators at the builder's insertion point and
        returns one tangent per result; null where it is zero.
      }],
      "::llvm::SmallVector<::mlir::Value>", "jvp",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::ArrayRef<::mlir::Value>":$tangents),
      "", [{
        return ::mlir::metaop::detail::jvpByPartials($_op, builder, tangents);
      }]>
  ];
}

#endif // METAOPS_DIALECT_METAOP_METAOPINTERFACES_TD
