//===- RecordStep.h - Steps of recorded functions ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_TRACE_RECORDSTEP_H
#define METAOPS_LIB_RUNTIME_TRACE_RECORDSTEP_H

#include "MetaOps/Runtime/Recording/Recorder.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"

namespace metaops {

/// Records the operation of a step of other values; returns its first result.
Node *recordStep(Recorder &recorder, const RecordedFunction::Step &step,
                 mlir::Location location, llvm::ArrayRef<Node *> sources);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_TRACE_RECORDSTEP_H
