//===- MetaOpOps.td - All ops of the dialect ---------------*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_METAOPOPS_TD
#define METAOPS_DIALECT_METAOP_METAOPOPS_TD

include "MetaOps/Dialect/MetaOp/CheckOps.td"
include "MetaOps/Dialect/MetaOp/LeafOps.td"
include "MetaOps/Dialect/MetaOp/ReindexOps.td"
include "MetaOps/Dialect/MetaOp/ReduceOps.td"
include "MetaOps/Dialect/MetaOp/ElementwiseOps.td"
include "MetaOps/Dialect/MetaOp/FloatFunctionOps.td"
include "MetaOps/Dialect/MetaOp/PlacementOps.td"
include "MetaOps/Dialect/MetaOp/PrefixOps.td"
include "MetaOps/Dialect/MetaOp/RoutineOps.td"
include "MetaOps/Dialect/MetaOp/StructureOps.td"

#endif // METAOPS_DIALECT_METAOP_METAOPOPS_TD
