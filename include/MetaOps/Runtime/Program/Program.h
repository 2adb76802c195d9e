//===- Program.h - What can be run ------------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program maps buffers to buffers. It is compiled from a slice, the bytecode
// of a module whose function @main maps the slice's leaves to the values asked
// for, or read from a file. Programs know nothing of the session that they come
// from and may be run any number of times.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_PROGRAM_H
#define METAOPS_RUNTIME_PROGRAM_PROGRAM_H

#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Program/LaunchCounts.h"
#include "MetaOps/Runtime/Program/ProgramInfo.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace metaops {

/// The use that one run makes of a result that is kept from run to run.
struct PackedUse {
  /// Null where the result is not kept, and is made as any other.
  std::shared_ptr<PackedCopy> copy;
  /// Of the copy, for this run.
  RunRef memory;
};

/// The place at which a run was stopped. What it has computed by then is in its
/// memory.
struct RunProgress {
  /// The table through which the program reaches its memory; empty where it has
  /// not begun.
  llvm::SmallVector<char *, 0> table;
  /// The path to where it goes on, the outermost place last: of a list the
  /// group of steps, of an `if` the branch, of a loop the trip and the part of
  /// the trip, of a call where the rest of it begins.
  llvm::SmallVector<int64_t, 0> path;

  bool hasBegun() const { return !table.empty(); }
};

/// One run of a program. All of its memory is taken before it starts, so what
/// may be refused is refused while the caller can still be told.
struct ProgramRun {
  llvm::SmallVector<RunRef> arguments;
  /// One per result of @main: fresh, or a donated argument's own buffer, or,
  /// where @main returns an argument or a view of one, that argument's.
  llvm::SmallVector<RunRef> results;
  /// Holds the intermediate values.
  RunRef scratch;
  /// By the number that a program gives to each result that may be kept. Empty
  /// where nothing is.
  llvm::SmallVector<PackedUse, 0> packed;
  /// While it is stopped.
  RunProgress progress;
};

/// Times of the runs of one call, in nanoseconds.
struct CallStatistics {
  int64_t runs = 0;
  int64_t total = 0;
  int64_t min = 0;
  int64_t max = 0;
  /// Counts of what the last of them moved; null where that is not counted.
  std::shared_ptr<const LaunchCounts> counts = nullptr;

  void add(int64_t time) { add({1, time, time, time}); }
  void add(const CallStatistics &other);
};

/// Time of a call in a run. A call in a loop is run several times in a run of
/// the program, or never.
struct CallTime {
  /// By its place in ProgramInfo::calls.
  unsigned call = 0;
  /// When it began first and ended last, in nanoseconds of the steady clock; 0
  /// where it was not run.
  int64_t begin = 0, end = 0;
  CallStatistics statistics;

  void add(int64_t from, int64_t to);
};

/// The steady clock's nanoseconds.
int64_t readClock();

/// The error of what was told to stop and has.
class Interrupted : public llvm::ErrorInfo<Interrupted> {
public:
  static char ID;

  void log(llvm::raw_ostream &os) const override { os << "interrupted"; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
};

/// Why a run stopped, and where.
class KernelFailure : public llvm::ErrorInfo<KernelFailure> {
public:
  static char ID;

  KernelFailure(unsigned call, std::string message,
                std::vector<int64_t> trips = {})
      : call(call), message(std::move(message)), trips(std::move(trips)) {}

  /// The call, by its place in ProgramInfo::calls.
  unsigned getCall() const { return call; }
  /// In which trip of each loop around the call, outermost first, from 0.
  llvm::ArrayRef<int64_t> getTrips() const { return trips; }
  const std::string &getMessage() const { return message; }
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  unsigned call;
  std::string message;
  std::vector<int64_t> trips;
};

/// The failure of a check: indices are out of range.
class CheckFailure : public llvm::ErrorInfo<CheckFailure, KernelFailure> {
public:
  static char ID;

  using ErrorInfo::ErrorInfo;
};

/// The failure of a routine for a matrix that it cannot take.
class MatrixFailure : public llvm::ErrorInfo<MatrixFailure, KernelFailure> {
public:
  static char ID;

  using ErrorInfo::ErrorInfo;
};

/// The failure of a call for which there is no memory.
class MemoryFailure : public llvm::ErrorInfo<MemoryFailure, KernelFailure> {
public:
  static char ID;

  using ErrorInfo::ErrorInfo;
};

class Program {
public:
  virtual ~Program() = default;

  /// Takes the memory of a run on `arguments`, one buffer per argument of @main
  /// (a 0-d tensor is a buffer of one element). Uses `scratch` where it is
  /// large enough, and puts a larger one there otherwise: runs that follow one
  /// another may share it. Throws OutOfMemory.
  virtual llvm::Expected<ProgramRun>
  prepare(llvm::ArrayRef<BufferRef> arguments, Allocator &memory,
          BufferRef &scratch) = 0;

  /// Has a run that has just been prepared use what earlier ones have packed of
  /// the same contents, and keeps what it packs of contents that the last run
  /// had, too. Runs are executed in the order in which they come here. Does
  /// without where there is no memory.
  virtual void keepPacked(ProgramRun &run, Allocator &memory) {}
  /// Lets go of all that is kept; for good as long as the arguments are the
  /// same where memory is short.
  virtual void dropPacked(bool isShort) {}

  /// Computes the results of a run, or fails and leaves all arguments as they
  /// were. Takes no memory from an allocator. Where `times` is given, adds an
  /// entry for each call. May run on any thread, once at a time for one
  /// `threads`.
  ///
  /// `shouldStop` is asked from several threads, before each step and inside of
  /// long ones. A run that stops for it fails with Interrupted, and goes on
  /// when it is executed again. Until then its memory belongs to it: it may
  /// have written over arguments in part, and `progress` says whether there is
  /// anything in its scratch memory.
  virtual llvm::Error execute(ProgramRun &run, ThreadPool &threads,
                              StopCheck shouldStop = nullptr,
                              std::vector<CallTime> *times = nullptr) = 0;

  /// Returns whether a run should take so long that somebody who waits for it
  /// may want to stop it.
  virtual bool isLong(unsigned threads) const { return true; }
  /// Returns whether a run is over by the time that a thread has been woken for
  /// it.
  virtual bool isShort(unsigned threads) const { return false; }

  /// Both steps at once; appends the results.
  llvm::Error run(llvm::ArrayRef<BufferRef> arguments,
                  llvm::SmallVectorImpl<BufferRef> &results, Allocator &memory,
                  ThreadPool &threads, std::vector<CallTime> *times = nullptr);

  const ProgramInfo &getInfo() const { return info; }

protected:
  ProgramInfo info;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_PROGRAM_H
