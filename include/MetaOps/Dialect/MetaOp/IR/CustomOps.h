//===- CustomOps.h - Derivatives of the user's own --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_CUSTOMOPS_H
#define METAOPS_DIALECT_METAOP_IR_CUSTOMOPS_H

#include "MetaOps/Dialect/MetaOp/IR/OpDeclarations.h"

#define GET_OP_CLASSES
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h.inc"

#endif // METAOPS_DIALECT_METAOP_IR_CUSTOMOPS_H
