//===- Inspector.h - Looks inside of a session ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_REPORT_INSPECTOR_H
#define METAOPS_RUNTIME_REPORT_INSPECTOR_H

#include "MetaOps/Runtime/Compiler/KernelTools.h"
#include "MetaOps/Runtime/Graph/Var.h"
#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Memory/DType.h"
#include "MetaOps/Runtime/Programs/RunRecord.h"
#include "MetaOps/Runtime/Run/MemoryHolders.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace metaops {

class RecordedFunction;
class Session;
class SessionImpl;

struct SessionStatistics {
  int64_t programsCompiled = 0;
  int64_t kernelsCompiled = 0;
  double compileSeconds = 0;
  int64_t programHits = 0;
  int64_t programsRun = 0;
  /// Operators that programs have computed for values which somebody was
  /// waiting for when an earlier one had computed them.
  int64_t operatorsRepeated = 0;
  /// Values that have ever been recorded, by the user and for gradients.
  int64_t valuesRecorded = 0;
  /// Their operators that differ in more than operands and numbers.
  int64_t signatures = 0;
  /// Bytes of histories, as their bound counts them.
  int64_t historyBytes = 0;
  /// Updates that have been recorded and not run.
  int64_t updatesPending = 0;
  /// Found on disk.
  int64_t programsLoaded = 0;
  int64_t kernelsLoaded = 0;
  /// Why nothing more is written to disk; empty where all is well.
  std::string cacheFailure;
  int64_t opsInBlock = 0;
  int64_t liveVars = 0;
  AllocatorStatistics memory;
};

/// Reports of a session, which is entered. None of them changes what the
/// session computes.
class Inspector {
public:
  using Runs = std::vector<std::shared_ptr<const RunRecord>>;

  explicit Inspector(Session &session);

  SessionStatistics getStatistics() const;
  /// The block as a module that metaop-opt reads.
  std::string dump();

  // Memory (Estimate.cpp)
  /// The values in memory, largest first.
  std::vector<MemoryHolder> getMemoryHolders();
  /// The most memory that will be in use, in bytes as the allocator counts
  /// them, were the values asked for. Compiles, and runs nothing.
  int64_t estimatePeak(llvm::ArrayRef<const Var *> vars);
  /// The programs that would be run then, in order. Compiles, and runs nothing.
  /// They are for the devices of the values or, if one is given, for a target,
  /// which lives as long as the session.
  Runs planRuns(llvm::ArrayRef<const Var *> vars, Compiler *target = nullptr);
  /// The programs that a call of a recorded function would run, if its
  /// arguments were in memory and nobody else's. Compiles, runs nothing, and
  /// rebinds none of the Vars.
  Runs planCall(const RecordedFunction &function,
                llvm::ArrayRef<Var *> arguments);

  // Programs
  std::string printProgram(const RunRecord &record, llvm::StringRef phase);
  /// Describes the kernels of a program, call by call.
  ProgramDescription describeProgram(const RunRecord &record);
  /// The legal schedules near to those of a program.
  std::vector<std::string> listNeighbours(const RunRecord &record);
  /// Has programs share kernels with those of other lengths or, to be tuned,
  /// have kernels of their own.
  void shareKernels(bool mayShare);
  /// Has the session decide anew which programs share kernels, as if none had
  /// run.
  void forgetLengths();
  /// Looks for schedules by which the kernels of a program are faster, for so
  /// many seconds; see Compiler.h. No run may be on its way.
  TuningResult tuneProgram(const RunRecord &record,
                           llvm::ArrayRef<double> callSeconds, double budget);
  /// Returns what tuned schedules are for: the processor or the GPU of the
  /// current device, or that of a program, and this build.
  std::string getTargetName();
  std::string getTargetName(const RunRecord &record);
  /// Says of which entries of the schedule file no program has made use, each
  /// once.
  std::vector<std::string> takeUnusedSchedules();

private:
  Session &own;
  SessionImpl &session;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_REPORT_INSPECTOR_H
