//===- RoutineOps.h - Routines ----------------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_ROUTINEOPS_H
#define METAOPS_DIALECT_METAOP_IR_ROUTINEOPS_H

#include "MetaOps/Dialect/MetaOp/IR/OpDeclarations.h"

#define GET_OP_CLASSES
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h.inc"

#endif // METAOPS_DIALECT_METAOP_IR_ROUTINEOPS_H
