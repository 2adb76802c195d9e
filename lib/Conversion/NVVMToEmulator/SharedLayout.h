//===- SharedLayout.h - Where shared variables lie --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_SHAREDLAYOUT_H
#define METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_SHAREDLAYOUT_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::metaop {

/// Addresses of the shared variables of a module.
class SharedLayout {
public:
  explicit SharedLayout(gpu::GPUModuleOp module);

  /// Returns the first byte of a variable, if it is a shared one.
  std::optional<int64_t> getOffset(StringRef name) const;
  /// The variables, as the engine is told of them.
  ArrayAttr describe(MLIRContext *context) const;

private:
  struct Variable {
    StringRef name;
    int64_t offset, bytes;
    /// Bytes that the launch decides, from the offset on.
    bool isDynamic;
  };
  SmallVector<Variable> variables;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_NVVMTOEMULATOR_SHAREDLAYOUT_H
