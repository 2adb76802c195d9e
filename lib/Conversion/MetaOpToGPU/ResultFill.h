//===- ResultFill.h - What atomic results start from ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_RESULTFILL_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_RESULTFILL_H

#include "GpuFunction.h"
#include "MetaOps/Conversion/StageBody/StageBindings.h"

namespace mlir::metaop {

/// A reduced result of a stage.
struct FilledResult {
  const Stage *stage;
  const StageWrite *write;
};

/// Threads of a block that fills results.
constexpr int64_t kFillThreads = 256;

/// The blocks that fill these results.
int64_t getFillGrid(ArrayRef<FilledResult> results);

/// Visits the places of a result's elements, shared among the threads of the
/// grid.
void emitForElements(GpuFunction &function, const StageWrite &write,
                     ArrayRef<Value> symbols,
                     llvm::function_ref<void(Value place)> emit);

/// Sets to the identity all elements of a result, shared among the threads of
/// the grid.
void emitResultFill(GpuFunction &function, const FilledResult &result,
                    const StageBindings &bindings);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_RESULTFILL_H
