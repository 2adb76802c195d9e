//===- ElementwiseBase.td - Classes of one-to-one ops ------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_ELEMENTWISEBASE_TD
#define METAOPS_DIALECT_METAOP_ELEMENTWISEBASE_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

/// All operands and the result have one shape: the iteration space. An element
/// takes `work` where vectors can do it. `emission` is C++ code that defines
/// emitScalar, where ScalarEmission.cpp does not.
class MetaOp_ElementwiseOp<string mnemonic, list<Trait> traits = [],
                           string work = "Arithmetic", string emission = "">
    : MetaOp_Op<mnemonic, !listconcat([
        Pure, SameOperandsAndResultShape,
        DeclareOpInterfaceMethods<MetaOp_MetaOpInterface>,
        DeclareOpInterfaceMethods<MetaOp_ElementwiseOpInterface>], traits)> {
  let extraClassDefinition = [{
    ::mlir::metaop::MetaOpClass $cppClass::getMetaOpClass() {
      return ::mlir::metaop::MetaOpClass::Elementwise;
    }
    ::mlir::TypedValue<::mlir::RankedTensorType> $cppClass::getIterationValue() {
      return getResult();
    }
    ::mlir::metaop::ElementWork $cppClass::getElementWork() {
      return ::mlir::metaop::getElementWork(
          getResult(), ::mlir::metaop::ElementWork::}] # work # [{);
    }
  }] # emission;
}

/// The partial derivatives are in Derivatives.cpp.
def MetaOp_HasPartials : TraitList<[
  DeclareOpInterfaceMethods<MetaOp_PartialsOpInterface>,
  MetaOp_DifferentiableOpInterface]>;

class MetaOp_UnaryOp<string mnemonic, Type type, string formula,
                     list<Trait> traits = [], string work = "Arithmetic",
                     string emission = "">
    : MetaOp_ElementwiseOp<mnemonic,
        !listconcat([SameOperandsAndResultType], traits), work, emission> {
  let summary = formula;
  let description = "`result[i...] = " # formula # "` with x = operand[i...].";
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class MetaOp_BinaryOp<string mnemonic, Type type, string formula,
                      list<Trait> traits = [], string work = "Arithmetic",
                      string emission = "">
    : MetaOp_ElementwiseOp<mnemonic,
        !listconcat([SameOperandsAndResultType], traits), work, emission> {
  let summary = formula;
  let description = "`result[i...] = " # formula #
    "` with x = lhs[i...] and y = rhs[i...].";
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

#endif // METAOPS_DIALECT_METAOP_ELEMENTWISEBASE_TD
