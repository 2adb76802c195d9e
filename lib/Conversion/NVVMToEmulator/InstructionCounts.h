//===- InstructionCounts.h - Instructions by class --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_INSTRUCTIONCOUNTS_H
#define METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_INSTRUCTIONCOUNTS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::metaop {

/// Returns the number of instructions of each class in one execution of
/// `block`.
DenseI64ArrayAttr countInstructions(Block &block);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_INSTRUCTIONCOUNTS_H
