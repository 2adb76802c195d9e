//===- RunRecord.h - What one run was of ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_RUNRECORD_H
#define METAOPS_RUNTIME_SESSION_RUNRECORD_H

#include "MetaOps/Runtime/Session/ProgramCache.h"
#include "mlir/IR/Location.h"

#include <memory>
#include <string>
#include <vector>

namespace metaops {

/// One run of a program, with the lines of the operations that it was for: one
/// program serves many places of a user's code.
struct RunRecord {
  std::shared_ptr<const CachedProgram> cached;
  /// Of each operation of the slice.
  std::vector<mlir::Location> locations;
  /// The program was compiled for this run, not found.
  bool wasCompiled = false;
};

/// Why a run has left no values.
struct RunFailure {
  std::string message;
};

/// Is told of runs.
class RunListener {
public:
  virtual ~RunListener() = default;

  /// On the thread that ran, after the run; one at a time.
  virtual void ran(const std::shared_ptr<const RunRecord> &record,
                   std::vector<CallTime> times) = 0;
};

/// What a failed run is to be reported as, with the user's lines.
RunFailure describeFailure(const RunRecord &record, llvm::Error error);

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_RUNRECORD_H
