//===- MetaOpDialect.td - The metaop dialect ---------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_METAOPDIALECT_TD
#define METAOPS_DIALECT_METAOP_METAOPDIALECT_TD

include "mlir/IR/OpBase.td"

def MetaOp_Dialect : Dialect {
  let name = "metaop";
  let cppNamespace = "::mlir::metaop";
  let summary = "Deep learning from three kinds of meta-operator";
  let description = [{
    A tensor program is written in three kinds of operation:

    * *reindex* (one to many): each element of the result is one element of the
      operand, found through an index map, or a fill value;
    * *reindex-reduce* (many to one): each element of the operand is combined
      into one element of the result, found through an index map;
    * *element-wise*: each element of the result is a function of the elements
      of the operands at the same place.

    The gradient of each is again made of these, so a program can be
    differentiated to any order. `metaop.fused` groups operations that live on
    one iteration space; `metaop.kernel` groups fused stages in a loop tree.
    All tensors are immutable values.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // Each adds a family of ops, and is defined with it.
  let extraClassDeclaration = [{
    void addCheckOps();
    void addElementwiseOps();
    void addFloatFunctionOps();
    void addLeafOps();
    void addPlacementOps();
    void addPrefixOps();
    void addReduceOps();
    void addReindexOps();
    void addRoutineOps();
    void addStructureOps();
  }];
}

#endif // METAOPS_DIALECT_METAOP_METAOPDIALECT_TD
