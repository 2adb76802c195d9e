//===- StructureOps.td - Fused stages and kernels ----------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_STRUCTUREOPS_TD
#define METAOPS_DIALECT_METAOP_STRUCTUREOPS_TD

include "MetaOps/Dialect/MetaOp/IR/MetaOpBase.td"

def MetaOp_YieldOp : MetaOp_Op<"yield", [
    Pure, Terminator, ReturnLike, ParentOneOf<["FusedOp", "KernelOp"]>]> {
  let summary = "The results of a fused stage or of a kernel";
  let arguments = (ins Variadic<MetaOp_Tensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ }]>];
}

/// A region that sees its operands only, as block arguments.
class MetaOp_RegionOp<string mnemonic, list<Trait> traits = []>
    : MetaOp_Op<mnemonic, !listconcat([
        Pure, IsolatedFromAbove, SingleBlock,
        SingleBlockImplicitTerminator<"YieldOp">], traits)> {
  let arguments = (ins
    Variadic<AnyTypeOf<[MetaOp_Tensor, Index]>>:$inputs);
  let results = (outs Variadic<MetaOp_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def MetaOp_FusedOp : MetaOp_RegionOp<"fused"> {
  let summary = "Meta-operators on one iteration space: a stage";
  let description = [{
    Every op of the body has the same iteration space S: the shape of the
    source of a reindex-reduce and of the result of every other op. So the
    stage is one loop nest over S that reads its inputs through maps from S,
    computes element-wise, and writes each output at the same place or reduces
    into it through a map from S.

    Constraints: (C1) all ops of the body but the terminator are
    meta-operators; (C2) all have the same iteration space; (C3) the source of
    a reindex (Rule 1), symbols, extents and the operands of a generator are
    arguments of the region; (C4) the result of a
    reindex-reduce is used by the terminator only (Rule 2); (C5) an argument
    that an element-wise op or a reindex-reduce reads has the shape S;
    (C6) `schedule`, if there, orders at most twice as many loops as S
    has dimensions; (C7) the argument and yielded types are those of the operands and results;
    (C8) every value yielded is computed in the body; (C9) `input_rows` and
    `result_rows`, if there, say for each operand or result in which rows it
    lies in memory, or `unit` where its elements follow each other; rows begin
    with an index of a tensor that is static and not empty; (C10) `first_dims`,
    if there, are dimensions of S, in order, each of which begins a loop: it is
    not collapsed with what is in front of it, since another stage of the kernel
    has the same loops; (C11) `role`, if there, is of a stage with a schedule,
    and that of a contraction of one whose only result sums products.

    ```mlir
    %y = metaop.fused(%a = %x : tensor<4x8xf32>) -> tensor<4xf32> {
      %0 = metaop.exp %a : tensor<4x8xf32>
      %1 = metaop.reduce add %0 dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
      metaop.yield %1 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins
    Variadic<AnyTypeOf<[MetaOp_Tensor, Index]>>:$inputs,
    OptionalAttr<MetaOp_ScheduleAttr>:$schedule,
    OptionalAttr<MetaOp_StageRoleAttr>:$role,
    OptionalAttr<MetaOp_RowsArrayAttr>:$input_rows,
    OptionalAttr<MetaOp_RowsArrayAttr>:$result_rows,
    OptionalAttr<DenseI64ArrayAttr>:$first_dims);
  let extraClassDeclaration = [{
    /// The value of the body whose shape is the iteration space S.
    ::mlir::TypedValue<::mlir::RankedTensorType> getIterationValue();
    ::mlir::metaop::YieldOp getYield();
    /// The rows in which an operand or a result lies; null where its elements
    /// follow each other.
    ::mlir::metaop::RowsAttr getRowsOfInput(unsigned number);
    ::mlir::metaop::RowsAttr getRowsOfResult(unsigned number);
    void setRowsOfInput(unsigned number, ::mlir::metaop::RowsAttr rows);
    void setRowsOfResult(unsigned number, ::mlir::metaop::RowsAttr rows);
    /// Returns true if the stage has this role.
    bool hasRole(::mlir::metaop::StageRole role) { return getRole() == role; }
    /// Erases operands and the arguments that are theirs, which have no uses.
    void eraseInputs(const ::llvm::BitVector &erased);
  }];
}

def MetaOp_KernelOp : MetaOp_RegionOp<"kernel"> {
  let summary = "An ordered list of stages in one loop tree";
  let description = [{
    The unit of code generation: one function of machine code. The body holds
    `metaop.fused` stages in order; each names in its schedule how many outer
    loops it shares with the stage before it.

    Constraints: (C1) the body holds `metaop.fused` only; (C2) shared loops have
    the same extents in both stages and the first stage shares none; (C3) the
    argument and yielded types are those of the operands and results;
    (C4) every value yielded is the result of a stage; (C5) all stages agree on
    the rows in which a value lies, and what is local to the kernel lies in
    none; (C6) `rewrites`, if there, says for some rewrites of kernels, by name,
    whether a user forces or forbids them, and as `place` where (Rewrites.h);
    (C7) if a stage has a role, one is the contraction, those before it are
    packings and those behind it epilogues.
    With `float_atomics`, on a GPU, floats that threads of the whole grid add to
    one element are added as they come, in an order that may be another in each
    run.

    ```mlir
    %y = metaop.kernel(%a = %x : tensor<4x8xf32>) -> tensor<4xf32> {
      %0 = metaop.fused(%b = %a : tensor<4x8xf32>) -> tensor<4xf32> {
        ...
      }
      metaop.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins
    Variadic<AnyTypeOf<[MetaOp_Tensor, Index]>>:$inputs,
    OptionalAttr<DictionaryAttr>:$rewrites,
    UnitAttr:$float_atomics);
  let extraClassDeclaration = [{
    ::mlir::metaop::YieldOp getYield();
    /// The rows in which an operand or a result lies; null where its elements
    /// follow each other.
    ::mlir::metaop::RowsAttr getRowsOfInput(unsigned number);
    ::mlir::metaop::RowsAttr getRowsOfResult(unsigned number);
    void setRowsOfInput(unsigned number, ::mlir::metaop::RowsAttr rows);
    void setRowsOfResult(unsigned number, ::mlir::metaop::RowsAttr rows);
  }];
}

#endif // METAOPS_DIALECT_METAOP_STRUCTUREOPS_TD
