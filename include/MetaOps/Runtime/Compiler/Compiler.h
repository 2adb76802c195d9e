//===- Compiler.h - What turns slices into programs -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_COMPILER_COMPILER_H
#define METAOPS_RUNTIME_COMPILER_COMPILER_H

#include "MetaOps/Runtime/Cache/DiskStore.h"
#include "MetaOps/Runtime/Program/Kernel.h"
#include "MetaOps/Runtime/Program/Program.h"
#include "MetaOps/Target/Description/CostModel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace metaops {

class KernelTools;
class RoutineRegistry;

/// A dimension of an argument of a program.
struct VaryingDim {
  unsigned argument = 0;
  unsigned dimension = 0;
};

/// Which programs may share kernels with those of other lengths: none, those
/// whose extents grow step by step, or those whose extents vary in any order.
enum class KernelSharing { None, Growing, Varying };

/// Options of the compiler. Equal options and slices give equal programs.
struct CompileOptions {
  /// Fusion rules: "extended", or "paper" for those of Hu et al. (2020) alone.
  std::string rules = "extended";
  /// True if operations share kernels at all.
  bool fuse = true;
  /// True if intermediate values share memory, and results are written over
  /// arguments.
  bool reuseMemory = true;
  /// True if GPUs may add floats in any order; see the options of nvgpu.
  bool floatAtomics = false;
  /// True if libraries compute what they are faster for.
  bool libraries = false;
  /// Schedules that replace those of the heuristics: the contents of a file,
  /// and its name for messages.
  std::string schedules;
  std::string scheduleFile;
  /// Dimensions that have other extents in other programs of this kind:
  /// kernels are made for all lengths of a class.
  std::vector<VaryingDim> varying;
};

/// The user's line that recorded one operation of a slice.
struct NodeLocation {
  std::string file;
  unsigned line = 0;
};

/// Counts of what a compiler has found on disk instead of compiling it.
struct CompilerStatistics {
  int64_t programsLoaded = 0;
  int64_t kernelsLoaded = 0;
  DiskStoreStatistics disk;
};

/// A way to run slices. A session owns one for each of its backends.
class Compiler {
public:
  virtual ~Compiler() = default;

  /// `donatable[i]` says that nothing reads the buffer of argument i after the
  /// run, so that a result may be written into it. `shouldStop` is asked on the
  /// calling thread, and makes the compilation fail with Interrupted.
  virtual llvm::Expected<std::shared_ptr<Program>>
  compile(llvm::StringRef slice, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop = nullptr) = 0;

  /// Adds code of a user's, which slices may call by its name. Fails where
  /// programs do not run on the host.
  virtual llvm::Error addExtern(std::shared_ptr<const Kernel> kernel) {
    return llvm::createStringError("it runs no code of the host");
  }

  /// Has programs call the routines of a registry, instead of the host's. Is
  /// called before anything is compiled.
  virtual void setRoutines(std::shared_ptr<const RoutineRegistry> routines) {}

  /// Returns what looks into kernels; null where a slice is run as it is.
  virtual KernelTools *getTools() { return nullptr; }

  virtual KernelSharing getSharing() const { return KernelSharing::None; }

  /// Keeps what is compiled in a folder, and looks there first. Empty: nowhere.
  virtual void setCacheDirectory(llvm::StringRef folder) {}

  virtual CompilerStatistics getStatistics() const { return {}; }

  /// The phases that a slice goes through, in order: those of the target, or
  /// the graph alone where there are no kernels.
  virtual llvm::Expected<std::vector<std::string>> getPhases() {
    return std::vector<std::string>{"graph"};
  }
  /// The IR of a slice after a phase, each operation with its line in
  /// `locations`.
  virtual llvm::Expected<std::string>
  print(llvm::StringRef slice, llvm::StringRef phase,
        llvm::ArrayRef<NodeLocation> locations,
        const CompileOptions &options) = 0;
};

/// Runs slices op by op through the reference interpreter.
std::unique_ptr<Compiler> createInterpreterCompiler();
/// A program that does so.
llvm::Expected<std::shared_ptr<Program>>
interpretProgram(llvm::StringRef sliceBytecode);

/// Seconds that a call should take; see CostModel.h.
double predictSeconds(const KernelInfo &call,
                      const mlir::metaop::MachineFigures &machine,
                      int64_t threads);

} // namespace metaops

#endif // METAOPS_RUNTIME_COMPILER_COMPILER_H
