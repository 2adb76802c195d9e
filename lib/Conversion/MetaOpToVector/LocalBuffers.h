//===- LocalBuffers.h - Memory inside of a kernel ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_LOCALBUFFERS_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_LOCALBUFFERS_H

#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::metaop {

/// Adds memory, on the stack, for results of a loop tree's stages that have no
/// buffer yet: for what one iteration of the loops makes that all who read it
/// share with the writer, which is written and read there from now on.
void bindLocalBuffers(OpBuilder &b, Location loc,
                      MutableArrayRef<ScheduledStage> stages,
                      llvm::DenseMap<Value, Value> &buffers);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_LOCALBUFFERS_H
