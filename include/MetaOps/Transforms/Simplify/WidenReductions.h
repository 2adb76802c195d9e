//===- WidenReductions.h - Sums of half floats in f32 -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SIMPLIFY_WIDENREDUCTIONS_H
#define METAOPS_TRANSFORMS_SIMPLIFY_WIDENREDUCTIONS_H

#include "mlir/IR/Builders.h"

namespace mlir::metaop {

/// Keeps products of halves and casts to these that only sums read in f32, and
/// these sums: the rule by which a program begins (Spec.md, "Sums of halves").
/// Ops in regions of the block's ops are left alone, as these are no graph.
void widenAddends(Block &block);

/// Replaces a reduction of halves by one of `source`, which is in f32, and a
/// cast of the result.
void replaceByWide(Operation *reduction, Value source);

/// The halves as f32.
Value createWidened(OpBuilder &b, Location loc, Value halves);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SIMPLIFY_WIDENREDUCTIONS_H
