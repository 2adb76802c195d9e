//===- Kernel.h - Machine code that computes --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_KERNEL_H
#define METAOPS_RUNTIME_PROGRAM_KERNEL_H

#include "MetaOps/Runtime/Program/FlushDenormals.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace metaops {

/// The kernel ABI: does [begin, end) of the parallel range. `buffers` are what
/// the kernel reads, then what it writes; `scalars` the numbers that its code
/// takes as arguments. Kernels do not fail: what can be wrong about their data,
/// such as an index out of range, is found by values that they compute.
using KernelFunction = void (*)(void **buffers, const int64_t *scalars,
                                int64_t begin, int64_t end);

struct KernelCall;
struct LaunchCounts;
class ThreadPool;

/// Memory that a kernel reads or writes.
using KernelBuffer = llvm::MutableArrayRef<char>;

/// A launcher's measures of a call.
struct LaunchMeasures {
  /// The time of the kernel, where that is not all of the call: it may be the
  /// least part of it where memory is copied.
  std::optional<int64_t> nanoseconds;
  /// Counts of what it moved, where there are any.
  std::shared_ptr<const LaunchCounts> counts;
};

/// Runs a kernel that is no code of our own in this process: one on a GPU, or
/// of a user's.
class KernelLauncher {
public:
  virtual ~KernelLauncher() = default;

  /// Does all of a call's range. The first `numInputs` buffers are read, the
  /// others written; no other step of the program runs meanwhile, so `threads`
  /// are idle. An error says what the kernel did wrong, or why it could not
  /// run. Where `measures` is given, the launcher says what it can tell.
  virtual llvm::Error launch(const KernelCall &call,
                             llvm::ArrayRef<KernelBuffer> buffers,
                             unsigned numInputs, ThreadPool &threads,
                             LaunchMeasures *measures) const = 0;
};

/// The source of a kernel that is code of a user's.
class KernelSource {
public:
  virtual ~KernelSource() = default;

  /// Compiles a kernel of this name for another process, on a processor of a
  /// kind that is named: an object file whose symbol it is, and which throws
  /// nothing.
  virtual llvm::Expected<std::string>
  compileFor(llvm::StringRef target) const = 0;
  /// Says where it is.
  virtual const std::string &getPlace() const = 0;
};

/// A kernel that was compiled, which may serve calls with different numbers.
struct Kernel {
  /// Null where the code has not been found yet (see readProgram), or is none
  /// of this process.
  KernelFunction function = nullptr;
  /// The symbol of the code; kernels with the same one are equal.
  std::string name;
  /// Runs it instead of `function`, if it is not null.
  std::shared_ptr<const KernelLauncher> launcher = nullptr;
  /// Of code of a user's, if it may be compiled for other processes.
  std::shared_ptr<const KernelSource> source = nullptr;
  /// Set if the name means nothing in another process.
  bool isLocal = false;
};

/// A kernel and the numbers that make it compute what one function says.
struct KernelCall {
  std::shared_ptr<const Kernel> kernel;
  /// Numbers that the code is called with beside buffers: extents, strides,
  /// offsets.
  std::vector<int64_t> scalars;
  /// Length of the range that calls may split among threads.
  int64_t parallelRange = 1;
  /// Of a kernel of several functions, on a GPU: the blocks of each but the
  /// first, whose blocks are the parallel range.
  std::vector<int64_t> furtherGrids;
  /// The predicted picoseconds of one step of that range, for deciding whether
  /// threads are worth it.
  int64_t workPerStep = 0;
  /// Denormal numbers count as 0, as in a contraction.
  bool flushesDenormals = false;
  /// Operations of the loops that the code was made of; 0 where it was loaded.
  int64_t loopOps = 0;

  void run(void **buffers, int64_t begin, int64_t end) const {
    FlushDenormals flush(flushesDenormals);
    kernel->function(buffers, scalars.data(), begin, end);
  }
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_KERNEL_H
