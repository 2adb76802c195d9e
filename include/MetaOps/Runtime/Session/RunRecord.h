//===- RunRecord.h - What one run was of ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_RUNRECORD_H
#define METAOPS_RUNTIME_SESSION_RUNRECORD_H

#include "MetaOps/Runtime/Session/Error.h"
#include "MetaOps/Runtime/Session/ProgramCache.h"
#include "mlir/IR/Location.h"

#include <memory>
#include <string>
#include <vector>

namespace metaops {

/// Two results of a run that are to be in the range of a dimension.
struct IndexCheck {
  unsigned lowest, highest;
  int64_t dim, extent;
  /// What recorded the indices.
  mlir::Location location;
};

/// One run of a program, with the lines of the operations that it was for: one
/// program serves many places of a user's code.
struct RunRecord {
  std::shared_ptr<const CachedProgram> cached;
  /// Of each operation of the slice.
  std::vector<mlir::Location> locations;
  std::vector<IndexCheck> checks;
  /// The program was compiled for this run, not found.
  bool wasCompiled = false;
};

/// Why a run has left no values.
struct RunFailure {
  std::string message;
  ErrorKind kind = ErrorKind::Runtime;
};

/// Is told of runs.
class RunListener {
public:
  virtual ~RunListener() = default;

  /// On the thread that ran, after the run; one at a time.
  virtual void ran(const std::shared_ptr<const RunRecord> &record,
                   std::vector<CallTime> times) = 0;
};

/// The failure of the first check that does not hold, given the values of the
/// run's results; none if all do.
std::optional<RunFailure>
findFailedCheck(const RunRecord &record,
                llvm::function_ref<int64_t(unsigned)> getResult);

/// What a failed run is to be reported as, with the user's lines.
RunFailure describeFailure(const RunRecord &record, llvm::Error error);

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_RUNRECORD_H
