//===- RunRecord.h - What one run was of ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_RUNRECORD_H
#define METAOPS_RUNTIME_SESSION_RUNRECORD_H

#include "MetaOps/Runtime/Program/IndexRange.h"
#include "MetaOps/Runtime/Queue/Queue.h"
#include "MetaOps/Runtime/Session/Error.h"
#include "MetaOps/Runtime/Session/ProgramCache.h"
#include "mlir/IR/Location.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace metaops {

/// Why a run has left no values.
struct RunFailure {
  std::string message;
  ErrorKind kind = ErrorKind::Runtime;
};

/// What a check of indices has found, for the runs behind it and, when it has
/// been run, for the session.
struct CheckOutcome {
  std::shared_ptr<const RunFailure> failure;
};

/// Two results of a run that are to be in a range.
struct IndexCheck {
  unsigned lowest, highest;
  IndexRange range;
  /// What recorded the indices.
  mlir::Location location;
  std::shared_ptr<CheckOutcome> outcome;
};

/// One run of a program, with the lines of the operations that it was for: one
/// program serves many places of a user's code.
struct RunRecord {
  std::shared_ptr<const CachedProgram> cached;
  /// On which it ran.
  Device *device = nullptr;
  /// Of each operation of the slice.
  std::vector<mlir::Location> locations;
  std::vector<IndexCheck> checks;
  /// Of earlier runs, for indices that this one uses: it starts only if these
  /// have found nothing.
  std::vector<std::shared_ptr<const CheckOutcome>> required;
  /// The program was compiled for this run, not found.
  bool wasCompiled = false;
};

/// Failures of runs that nobody has been told of: the first on each device. Safe
/// for use from several threads.
class FailureNotes {
public:
  void add(const Queue &queue, std::shared_ptr<const RunFailure> failure);
  /// The first on the devices of these tickets, which is not told again; null
  /// if there is none.
  std::shared_ptr<const RunFailure> take(const Tickets &tickets);

private:
  struct Note {
    const Queue *queue;
    std::shared_ptr<const RunFailure> failure;
  };

  std::mutex mutex;
  std::vector<Note> notes;
};

/// Is told of runs.
class RunListener {
public:
  virtual ~RunListener() = default;

  /// On the thread that ran, after the run; one at a time of each device.
  virtual void ran(const std::shared_ptr<const RunRecord> &record,
                   std::vector<CallTime> times) = 0;
};

/// Notes what all checks of a run find, given the values of its results, and
/// returns the first failure; null if there is none.
std::shared_ptr<const RunFailure>
evaluateChecks(const RunRecord &record,
               llvm::function_ref<int64_t(unsigned)> getResult);

/// What a failed run is to be reported as, with the user's lines.
RunFailure describeFailure(const RunRecord &record, llvm::Error error);

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_RUNRECORD_H
