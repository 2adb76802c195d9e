//===- MetaOpAttributes.h - Attributes of the dialect -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_METAOPATTRIBUTES_H
#define METAOPS_DIALECT_METAOP_IR_METAOPATTRIBUTES_H

#include "MetaOps/Dialect/MetaOp/IR/LoopLevel.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Support/IndexRange.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/BitVector.h"

#include <optional>

#define GET_ATTRDEF_CLASSES
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h.inc"

#endif // METAOPS_DIALECT_METAOP_IR_METAOPATTRIBUTES_H
