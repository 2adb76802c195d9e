//===- Passes.h - Rewrites of stages, for every target ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_REWRITES_PASSES_H
#define METAOPS_TRANSFORMS_SCHEDULE_REWRITES_PASSES_H

#include "MetaOps/Transforms/Schedule/Rewrites/LibraryWork.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir::metaop {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h.inc"

/// The same pass with the libraries that there are.
std::unique_ptr<Pass>
createCallLibrariesPass(const CallLibrariesPassOptions &options,
                        LibraryWork workOf);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_REWRITES_PASSES_H
