//===- Passes.h - Differentiation passes ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_PASSES_H
#define METAOPS_TRANSFORMS_AUTODIFF_PASSES_H

#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "mlir/Pass/Pass.h"

namespace mlir::metaop {

#define GEN_PASS_DECL
#include "MetaOps/Transforms/Autodiff/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "MetaOps/Transforms/Autodiff/Passes.h.inc"

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_AUTODIFF_PASSES_H
