//===- CodeSize.h - How much code an operation becomes ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_ANALYSIS_CODESIZE_H
#define METAOPS_DIALECT_METAOP_ANALYSIS_CODESIZE_H

#include <cstdint>

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::metaop {

/// The most instructions of one copy of a stage's body: beyond, a kernel saves
/// nothing that counts, and its compile time is seconds.
inline constexpr int64_t kMaxBodyCode = 1024;

/// The most instructions of all copies that a schedule makes of the bodies of a
/// kernel.
inline constexpr int64_t kMaxKernelCode = 4096;

/// The most iterations of reduced loops that are emitted one after another.
inline constexpr int64_t kMaxEmitted = 64;

/// Instructions, about, that a meta-operator is for one vector of its result.
int64_t estimateCodeSize(Operation *op);

/// The same for a load or a store under so many checks.
int64_t estimateAccessCode(int64_t numChecks);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_ANALYSIS_CODESIZE_H
