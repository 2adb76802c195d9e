//===- FloatFunctionOps.h - Functions of real numbers -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_FLOATFUNCTIONOPS_H
#define METAOPS_DIALECT_METAOP_IR_FLOATFUNCTIONOPS_H

#include "MetaOps/Dialect/MetaOp/Emission/SpecialFunctions.h"
#include "MetaOps/Dialect/MetaOp/IR/OpDeclarations.h"

#include <cmath>

#define GET_OP_CLASSES
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h.inc"

#endif // METAOPS_DIALECT_METAOP_IR_FLOATFUNCTIONOPS_H
