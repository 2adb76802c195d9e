//===- Passes.h - Passes over what several targets have ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PIPELINES_PASSES_H
#define METAOPS_PIPELINES_PASSES_H

#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Target/Description/Processor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::metaop {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "MetaOps/Pipelines/Passes.h.inc"

} // namespace mlir::metaop

#endif // METAOPS_PIPELINES_PASSES_H
