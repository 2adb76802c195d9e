//===- CountFlops.h - How much arithmetic an operation is -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_ANALYSIS_COUNTFLOPS_H
#define METAOPS_DIALECT_METAOP_ANALYSIS_COUNTFLOPS_H

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <optional>

namespace mlir::metaop {

/// The floating-point operations of a meta-operator, a stage or a kernel, which
/// is those of the meta-operators in it; nothing where an extent is dynamic.
///
/// A meta-operator counts once for each point of its iteration space S, if it
/// computes floats from floats:
/// * element-wise arithmetic and functions (add, max, exp, pow, ...) are one
///   operation, whatever the machine needs for them;
/// * so is the combination of a reduction: `n` values are `n` operations;
/// * cast, select, comparisons, generators and reindexes are none, nor is
///   anything on integers and booleans.
///
/// So a matrix product of M x K by K x N is 2 * M * N * K. Points where an
/// access is out of bounds count like others, and so do values that the
/// lowering computes once for several points.
std::optional<int64_t> countFlops(Operation *op);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_ANALYSIS_COUNTFLOPS_H
