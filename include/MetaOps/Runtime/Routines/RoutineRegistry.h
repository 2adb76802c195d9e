//===- RoutineRegistry.h - Implementations of routines ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An implementation computes the routines of one name by one library. It says
// which it takes, and plans those: what memory they need, how long they should
// take. A plan belongs to a step of a program, and runs as often as that does.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_ROUTINES_ROUTINEREGISTRY_H
#define METAOPS_RUNTIME_ROUTINES_ROUTINEREGISTRY_H

#include "MetaOps/Runtime/Routines/Routine.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace metaops {

/// Memory in which an implementation finds operands, and leaves results.
enum class RoutineDevice { Host, Cuda };

/// Numbers that are known of a routine before it runs.
struct RoutineEstimate {
  /// Scratch memory of a run, in bytes; it is aligned to 64.
  int64_t scratchBytes = 0;
  /// Predicted picoseconds on one thread.
  int64_t work = 0;
  /// Arithmetic operations, for profiles.
  int64_t flops = 0;
  /// Set where a run may end with a message.
  bool mayFail = false;
};

/// The memory and the threads of one run of a routine. No other step of the
/// program runs meanwhile.
struct RoutineRun {
  /// In the order of the routine's tensors.
  llvm::ArrayRef<void *> operands, results;
  char *scratch = nullptr;
  ThreadPool &threads;
  /// Asked now and then by what can be stopped.
  StopCheck shouldStop = nullptr;
  /// The place at which an earlier run was stopped.
  int64_t begin = 0;
};

/// The failure of a routine for a matrix that it cannot take: one that is
/// singular, or not positive definite.
class InvalidMatrix : public llvm::ErrorInfo<InvalidMatrix> {
public:
  static char ID;

  explicit InvalidMatrix(std::string message) : message(std::move(message)) {}

  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string message;
};

/// A routine as one implementation runs it.
class RoutinePlan {
public:
  explicit RoutinePlan(RoutineEstimate estimate) : estimate(estimate) {}
  virtual ~RoutinePlan() = default;

  const RoutineEstimate &getEstimate() const { return estimate; }
  /// Writes the results. Returns where it was when it was stopped, for `begin`
  /// another time. May run on several threads at once, each time in other
  /// memory. Takes no memory that may be short without failing for it.
  virtual llvm::Expected<std::optional<int64_t>>
  run(const RoutineRun &run) const = 0;

private:
  RoutineEstimate estimate;
};

/// A library's way to compute the routines of one name. All functions may be
/// called from several threads at once.
class RoutineImplementation {
public:
  virtual ~RoutineImplementation() = default;

  /// The name of the routines, such as "sort".
  virtual llvm::StringRef getRoutine() const = 0;
  /// The name of the library, such as "host".
  virtual llvm::StringRef getLibrary() const = 0;
  virtual llvm::StringRef getVersion() const = 0;
  virtual bool runsOn(RoutineDevice device) const {
    return device == RoutineDevice::Host;
  }
  /// Fails, saying why, where it does not take a routine. The routine has been
  /// verified, and is else whatever somebody has written into a file.
  virtual llvm::Error accept(const Routine &routine) const = 0;
  /// Plans a routine that it takes. Fails where the library is not there.
  virtual llvm::Expected<std::shared_ptr<const RoutinePlan>>
  plan(const Routine &routine) const = 0;
};

/// A routine, who computes it, and how.
struct PlannedRoutine {
  std::shared_ptr<const RoutineImplementation> implementation;
  std::shared_ptr<const RoutinePlan> plan;
};

/// The implementations that a session has. May be used from several threads.
class RoutineRegistry {
public:
  /// Adds an implementation, which comes before those of its routine that are
  /// there. One of the same library is replaced for whatever is planned later.
  void add(std::shared_ptr<const RoutineImplementation> implementation);

  /// Plans a routine by the first implementation that takes it; or by that of
  /// one library, where one is named. Fails saying what is wrong with the
  /// routine, who there is, and why each does not take it.
  llvm::Expected<PlannedRoutine>
  plan(const Routine &routine, llvm::StringRef library = "",
       RoutineDevice device = RoutineDevice::Host) const;

  std::vector<std::shared_ptr<const RoutineImplementation>> list() const;
  /// Names all that decides which implementation a routine gets.
  std::string describe() const;

private:
  mutable std::mutex mutex;
  std::vector<std::shared_ptr<const RoutineImplementation>> implementations;
};

/// Makes a registry of what the runtime computes itself.
std::shared_ptr<RoutineRegistry> createHostRoutines();

} // namespace metaops

#endif // METAOPS_RUNTIME_ROUTINES_ROUTINEREGISTRY_H
