//===- ProgramInfo.h - What a program consists of, for reports --*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_PROGRAMINFO_H
#define METAOPS_RUNTIME_PROGRAM_PROGRAMINFO_H

#include <cstdint>
#include <string>
#include <vector>

namespace metaops {

/// One step of a program, for reports: the call of a kernel or of a routine,
/// the copies that one placement makes, a check, or control flow.
struct KernelInfo {
  std::string name;
  /// Else it is copies, a routine, a check or control flow.
  bool isKernel = true;
  /// Positions in the slice of the operations that the kernel computes.
  std::vector<unsigned> nodes;
  /// Their names, in program order; clones are listed once each.
  std::vector<std::string> operators;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
  /// Arithmetic operations, those of the index computation not counted.
  int64_t flops = 0;
  /// Instructions by mlir::metaop::WorkClass, for predictions.
  std::vector<int64_t> instructions;
  /// Predicted picoseconds of a routine on one thread.
  int64_t routineWork = 0;
  /// Predicted picoseconds of a kernel for a GPU, on the first card that has
  /// its chip; 0 of others.
  int64_t cardWork = 0;
  /// Operations of its loops: how much there is to compile to machine code.
  int64_t loopOps = 0;
  /// The number of threads that there is work for.
  int64_t maxThreads = 1;
  /// Later runs may do without the call; see Program::keepPacked.
  bool mayKeep = false;
  /// Lines of the file of schedules that the kernel's are from.
  std::vector<unsigned> scheduleLines;
};

struct ProgramInfo {
  /// Of all steps: those of the regions of a step stand behind it.
  std::vector<KernelInfo> calls;
  /// Operations of the slice before any transformation, leaves not counted.
  unsigned metaOps = 0;
  /// Different kernels among the calls, and how many of them were compiled for
  /// this program rather than found in the cache.
  unsigned distinctKernels = 0;
  unsigned compiledKernels = 0;
  /// True if the program was found on disk, and how many kernels were.
  bool isLoaded = false;
  unsigned loadedKernels = 0;
  /// Memory that holds the intermediate values.
  int64_t arenaBytes = 0;
  double compileSeconds = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_PROGRAMINFO_H
