//===- MetaOpOps.h - All ops of the metaop dialect --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Includes the declarations of every op. These are a third of what a source
// costs to compile, and most sources name few ops: include those families alone
// where a few do.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_METAOPOPS_H
#define METAOPS_DIALECT_METAOP_IR_METAOPOPS_H

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"

#endif // METAOPS_DIALECT_METAOP_IR_METAOPOPS_H
