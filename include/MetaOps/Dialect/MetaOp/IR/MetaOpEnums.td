//===- MetaOpEnums.td - Enumerations -----------------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_METAOPENUMS_TD
#define METAOPS_DIALECT_METAOP_METAOPENUMS_TD

include "mlir/IR/EnumAttr.td"

class MetaOp_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::metaop";
  let genSpecializedAttr = 0;
}

/// Which of the kinds of meta-operator an operation is.
def MetaOp_MetaOpClass : MetaOp_Enum<"MetaOpClass", "kind of meta-operator", [
  I32EnumAttrCase<"Reindex", 0, "reindex">,
  I32EnumAttrCase<"ReindexReduce", 1, "reindex_reduce">,
  I32EnumAttrCase<"Elementwise", 2, "elementwise">,
  I32EnumAttrCase<"Generator", 3, "generator">,
  I32EnumAttrCase<"Prefix", 4, "prefix">
]>;

/// Work of one element, by which passes price an operation.
def MetaOp_ElementWork : MetaOp_Enum<"ElementWork", "work of an element", [
  // An instruction or two on a vector.
  I32EnumAttrCase<"Arithmetic", 0, "arithmetic">,
  // A division or a square root of a vector.
  I32EnumAttrCase<"Division", 1, "division">,
  // A polynomial on vectors, as of this function.
  I32EnumAttrCase<"Exponential", 2, "exponential">,
  I32EnumAttrCase<"Logarithm", 3, "logarithm">,
  I32EnumAttrCase<"Tanh", 4, "tanh">,
  I32EnumAttrCase<"Erf", 5, "erf">,
  // A call of the C library, or a division of integers, for each element.
  I32EnumAttrCase<"Call", 6, "call">
]>;

/// Combiners: what makes one value of two. Which operations take which one is
/// a fact of the combiner (Combiners.h).
def MetaOp_Combiner : MetaOp_Enum<"Combiner", "combiner of two values", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Mul", 1, "mul">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"And", 4, "and">,
  I32EnumAttrCase<"Or", 5, "or">,
  I32EnumAttrCase<"Xor", 6, "xor">,
  // log(e^x + e^y).
  I32EnumAttrCase<"LogAddExp", 7, "logaddexp">,
  // The value before times a factor, plus the other.
  I32EnumAttrCase<"Linear", 8, "linear">,
  // The other value, whatever was before.
  I32EnumAttrCase<"None", 9, "none">
]>;

def MetaOp_ComparePredicate
    : MetaOp_Enum<"ComparePredicate", "comparison", [
  I32EnumAttrCase<"Eq", 0, "eq">,
  I32EnumAttrCase<"Ne", 1, "ne">,
  I32EnumAttrCase<"Lt", 2, "lt">,
  I32EnumAttrCase<"Le", 3, "le">,
  I32EnumAttrCase<"Gt", 4, "gt">,
  I32EnumAttrCase<"Ge", 5, "ge">
]>;

/// Place of a program's value.
def MetaOp_SlotKind : MetaOp_Enum<"SlotKind", "kind of memory", [
  I32EnumAttrCase<"Argument", 0, "argument">,
  I32EnumAttrCase<"Result", 1, "result">,
  I32EnumAttrCase<"Arena", 2, "arena">,
  I32EnumAttrCase<"Pointer", 3, "pointer">
]>;

/// Roles of stages in the kernel of a contraction.
def MetaOp_StageRole : MetaOp_Enum<"StageRole", "role of a stage", [
  // It makes a factor as the tile reads it.
  I32EnumAttrCase<"Packing", 0, "packing">,
  // It sums products.
  I32EnumAttrCase<"Contraction", 1, "contraction">,
  // It goes on with the sums.
  I32EnumAttrCase<"Epilogue", 2, "epilogue">
]>;

/// Runners of the iterations of a loop of a schedule.
def MetaOp_LevelKind : MetaOp_Enum<"LevelKind", "kind of loop", [
  // The threads of a CPU, in parts of a range.
  I32EnumAttrCase<"Parallel", 0, "parallel">,
  // One after another.
  I32EnumAttrCase<"Step", 1, "step">,
  // Of a GPU, one each: the clusters of a grid, the blocks of a grid or of a
  // cluster, the warps of a block, the threads of a block or of a warp.
  I32EnumAttrCase<"Cluster", 2, "cluster">,
  I32EnumAttrCase<"Block", 3, "block">,
  I32EnumAttrCase<"Warp", 4, "warp">,
  I32EnumAttrCase<"Thread", 5, "thread">
]>;

/// Place of a stage's result that other stages of a GPU's kernel read.
def MetaOp_ResultPlace : MetaOp_Enum<"ResultPlace", "place of a result", [
  I32EnumAttrCase<"Memory", 0, "memory">,
  I32EnumAttrCase<"Registers", 1, "registers">,
  I32EnumAttrCase<"Shared", 2, "shared">,
  I32EnumAttrCase<"Cluster", 3, "cluster">
]>;

/// Treatment of iterations that do not fill a step of a loop.
def MetaOp_LevelTail : MetaOp_Enum<"LevelTail", "tail of a loop", [
  I32EnumAttrCase<"Mask", 0, "mask">,
  I32EnumAttrCase<"Body", 1, "body">,
  I32EnumAttrCase<"Sizes", 2, "sizes">
]>;

#endif // METAOPS_DIALECT_METAOP_METAOPENUMS_TD
