//===- MetaOpDialect.h - The metaop dialect ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_METAOPDIALECT_H
#define METAOPS_DIALECT_METAOP_IR_METAOPDIALECT_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "mlir/IR/Dialect.h"

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h.inc"

#endif // METAOPS_DIALECT_METAOP_IR_METAOPDIALECT_H
