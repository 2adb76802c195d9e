//===- RunRecord.h - What one run was of ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAMS_RUNRECORD_H
#define METAOPS_RUNTIME_PROGRAMS_RUNRECORD_H

#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Programs/ProgramCache.h"
#include "MetaOps/Runtime/Queue/Queue.h"
#include "mlir/IR/Location.h"

#include <atomic>
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

/// Why a program computes what it was not asked for.
enum class KeptFor : uint8_t {
  /// A gradient may read it.
  Gradient,
  /// A Var or a fetch holds it, or what is pending reads it.
  Var,
  Pending,
  /// A program has computed it before.
  Again,
  /// It has taken the place of another value in a loop.
  Loop,
  /// It would keep what updates write over.
  Update
};

/// A value that a program computes for later, or would compute if it fitted the
/// budget.
struct KeptValue {
  KeptFor reason;
  bool fits;
  DType dtype;
  std::vector<int64_t> shape;
  mlir::Location line;
};

/// One run of a program, with the lines of the operations that it was for: one
/// program serves many places of a user's code.
struct RunRecord {
  std::shared_ptr<const CachedProgram> cached;
  /// On which it ran.
  Device *device = nullptr;
  /// Of each operation of the slice.
  std::vector<mlir::Location> locations;
  std::vector<KeptValue> kept;
  /// The program was compiled for this run, not found.
  bool wasCompiled = false;
};

/// Failures of runs that nobody has been told of: the first on each device.
/// Safe for use from several threads.
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
  std::atomic<bool> areNotes{false};
};

/// Is told of runs.
class RunListener {
public:
  virtual ~RunListener() = default;

  /// On the thread that ran, after the run; one at a time of each device.
  virtual void ran(const std::shared_ptr<const RunRecord> &record,
                   std::vector<CallTime> times) = 0;
};

/// Returns the report of a failed run, with the user's lines.
RunFailure describeFailure(const RunRecord &record, llvm::Error error);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAMS_RUNRECORD_H
