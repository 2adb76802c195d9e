//===- Programs.h - The programs of slices ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAMS_PROGRAMS_H
#define METAOPS_RUNTIME_PROGRAMS_PROGRAMS_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Device/Device.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Programs/ExtentWatch.h"
#include "MetaOps/Runtime/Programs/ProgramCache.h"
#include "MetaOps/Runtime/Programs/RunRecord.h"
#include "MetaOps/Runtime/Programs/Settings.h"
#include "MetaOps/Runtime/Programs/UserSchedules.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

/// The program of a slice.
struct FoundProgram {
  std::shared_ptr<const CachedProgram> cached;
  /// It was compiled now, not found.
  bool wasCompiled = false;
};

/// A value that a plan has a program compute for later, or that does not fit.
struct PlannedValue {
  Node *node;
  KeptFor reason;
  bool fits;
};

/// Makes the record that a run of the slice is reported by.
std::shared_ptr<const RunRecord> makeRecord(const Slice &slice,
                                            llvm::ArrayRef<PlannedValue> kept,
                                            FoundProgram found);

/// Finds the programs of slices, or compiles them. Runs none.
class Programs {
public:
  /// `compiler` may be null.
  Programs(Graph &graph, const Settings &settings,
           std::shared_ptr<Compiler> compiler);

  /// Null where there is none.
  const std::shared_ptr<Compiler> &getCompiler() const { return compiler; }
  const std::shared_ptr<Compiler> &getInterpreter() const {
    return interpreter;
  }
  /// Which of them makes the programs of a device, as the flags are.
  Compiler &getCompiler(const Device &on) const;

  /// Returns what, beside its slice, tells a program of a backend from others.
  ProgramFlags getFlags(const Compiler &backend);
  /// Ends the slice's key. `shouldStop` is asked while a program is compiled.
  /// Where a target is given, the program is for that and not for the slice's
  /// device; it is only to be looked at.
  FoundProgram lookUp(Slice &slice, llvm::ArrayRef<bool> donatable,
                      StopCheck shouldStop, Compiler *target = nullptr);

  /// Has programs share kernels with those of other lengths, as they do from
  /// the beginning, or have kernels for their own extents alone.
  void shareKernels(bool mayShare) { sharesKernels = mayShare; }
  /// Forgets the lengths that have come, and which programs share kernels.
  void forgetLengths();

  /// Takes the schedules in the file of the settings, and notes them there.
  void readSchedules(Settings &changed);
  std::vector<std::string> takeUnusedSchedules() {
    return schedules.takeUnused();
  }
  /// Takes what the user is to be told of, each once.
  std::vector<std::string> takeWarnings() {
    return std::exchange(warnings, {});
  }
  /// See Program.h.
  void dropPacked(bool isShort) { cache.dropPacked(isShort); }

  struct Counts {
    int64_t compiled = 0, hits = 0, kernelsCompiled = 0;
    double compileSeconds = 0;
  };
  const Counts &getCounts() const { return counts; }
  void setHits(int64_t hits) { counts.hits = hits; }

private:
  std::shared_ptr<const CachedProgram> compile(Slice &slice,
                                               llvm::ArrayRef<bool> donatable,
                                               std::vector<VaryingDim> varying,
                                               Compiler &backend,
                                               StopCheck shouldStop);

  // Copies.cpp
  /// A program for the slice where that is copies alone, else null.
  std::shared_ptr<const CachedProgram> makeCopies(const Slice &slice,
                                                  Compiler &backend);

  Graph &graph;
  const Settings &settings;
  std::shared_ptr<Compiler> compiler;
  std::shared_ptr<Compiler> interpreter;
  /// Distinguishes backends in keys.
  llvm::DenseMap<const Compiler *, uint32_t> targets;

  ProgramCache cache;
  ExtentWatch watch;
  bool sharesKernels = true;
  UserSchedules schedules;
  std::vector<std::string> warnings;
  /// The dump_dir that the user was warned of last.
  std::string unwritableDirectory;
  Counts counts;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAMS_PROGRAMS_H
