//===- MetaOpOps.h - Ops of the metaop dialect ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_METAOPOPS_H
#define METAOPS_DIALECT_METAOP_METAOPOPS_H

#include "MetaOps/Dialect/MetaOp/LoopLevel.h"
#include "MetaOps/Dialect/MetaOp/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/SpecialFunctions.h"
#include "MetaOps/Support/IndexRange.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

#include <cmath>
#include <optional>

#define GET_ATTRDEF_CLASSES
#include "MetaOps/Dialect/MetaOp/MetaOpAttributes.h.inc"

#define GET_OP_CLASSES
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h.inc"

#endif // METAOPS_DIALECT_METAOP_METAOPOPS_H
