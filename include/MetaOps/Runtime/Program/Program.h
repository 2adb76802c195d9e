//===- Program.h - A compiled slice of the graph ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is a sequence of kernel calls with a static memory plan. It is
// compiled from a slice: the bytecode of a module whose function @main maps
// the slice's leaves to the values asked for. Programs know nothing of the
// session that they come from and may be run any number of times.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_PROGRAM_H
#define METAOPS_RUNTIME_PROGRAM_PROGRAM_H

#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace metaops {

class KernelCache;

/// What the compiler may do. Equal options and slices give equal programs.
struct CompileOptions {
  /// Fusion rules: "extended", or "paper" for those of Hu et al. (2020) alone.
  std::string rules = "extended";
};

/// One kernel call of a program, for reports.
struct KernelInfo {
  std::string name;
  /// Positions in the slice of the operations that the kernel computes.
  std::vector<unsigned> nodes;
  /// Their names, in program order; clones are listed once each.
  std::vector<std::string> operators;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
};

struct ProgramInfo {
  std::vector<KernelInfo> calls;
  /// Operations of the slice before any transformation, leaves not counted.
  unsigned metaOps = 0;
  /// Different kernels among the calls, and how many of them were compiled for
  /// this program rather than found in the cache.
  unsigned distinctKernels = 0;
  unsigned compiledKernels = 0;
  /// Memory that holds the intermediate values.
  int64_t arenaBytes = 0;
  double compileSeconds = 0;
};

/// The user's line that recorded one operation of a slice.
struct NodeLocation {
  std::string file;
  unsigned line = 0;
};

class Program {
public:
  virtual ~Program() = default;

  /// Runs the program on `arguments`, one buffer per argument of @main (a 0-d
  /// tensor is a buffer of one element). Appends one buffer per result of
  /// @main: fresh from `memory`, or a donated argument's own buffer, or, where
  /// @main returns an argument or a view of one, that argument's.
  virtual llvm::Error run(llvm::ArrayRef<BufferRef> arguments,
                          llvm::SmallVectorImpl<BufferRef> &results,
                          Allocator &memory, ThreadPool &threads) = 0;

  const ProgramInfo &getInfo() const { return info; }

protected:
  ProgramInfo info;
};

/// Compiles a slice for this machine's CPU. `donatable[i]` says that nothing
/// reads the buffer of argument i after the run, so that a result may be
/// written into it.
llvm::Expected<std::shared_ptr<Program>>
compileProgram(llvm::StringRef sliceBytecode, llvm::ArrayRef<bool> donatable,
               KernelCache &kernels, const CompileOptions &options);

/// A program that runs a slice through the interpreter, op by op.
llvm::Expected<std::shared_ptr<Program>>
interpretProgram(llvm::StringRef sliceBytecode);

/// The IR of a slice after a phase (graph, fused, scheduled, kernels, loops,
/// llvm), each operation with its line in `locations`.
llvm::Expected<std::string>
printSliceAtPhase(llvm::StringRef sliceBytecode, llvm::StringRef phase,
                  llvm::ArrayRef<NodeLocation> locations,
                  const CompileOptions &options);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_PROGRAM_H
