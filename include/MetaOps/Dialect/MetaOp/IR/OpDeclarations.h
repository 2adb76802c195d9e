//===- OpDeclarations.h - Prerequisites of ops' declarations ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_OPDECLARATIONS_H
#define METAOPS_DIALECT_METAOP_IR_OPDECLARATIONS_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#endif // METAOPS_DIALECT_METAOP_IR_OPDECLARATIONS_H
