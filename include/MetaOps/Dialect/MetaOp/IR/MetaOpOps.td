//===- MetaOpOps.td - All ops of the dialect ---------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_METAOPOPS_TD
#define METAOPS_DIALECT_METAOP_METAOPOPS_TD

include "MetaOps/Dialect/MetaOp/IR/CheckOps.td"
include "MetaOps/Dialect/MetaOp/IR/CustomOps.td"
include "MetaOps/Dialect/MetaOp/IR/ExternOps.td"
include "MetaOps/Dialect/MetaOp/IR/LeafOps.td"
include "MetaOps/Dialect/MetaOp/IR/LoopOps.td"
include "MetaOps/Dialect/MetaOp/IR/ReindexOps.td"
include "MetaOps/Dialect/MetaOp/IR/ReduceOps.td"
include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.td"
include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.td"
include "MetaOps/Dialect/MetaOp/IR/PlacementOps.td"
include "MetaOps/Dialect/MetaOp/IR/PrefixOps.td"
include "MetaOps/Dialect/MetaOp/IR/RoutineOps.td"
include "MetaOps/Dialect/MetaOp/IR/StructureOps.td"

#endif // METAOPS_DIALECT_METAOP_METAOPOPS_TD
