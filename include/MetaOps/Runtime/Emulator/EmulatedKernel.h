//===- EmulatedKernel.h - Kernels of GPUs on the host -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_EMULATOR_EMULATEDKERNEL_H
#define METAOPS_RUNTIME_EMULATOR_EMULATEDKERNEL_H

#include "MetaOps/Runtime/Emulator/EmulatorReport.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/Error.h"

#include <cstring>
#include <map>
#include <memory>
#include <type_traits>

namespace metaops {

/// Numbers of threads that run, by groups.
struct LaunchShape {
  /// Blocks.
  Extent3 grid;
  /// Threads of a block.
  Extent3 threads;
  /// Blocks of a cluster, which divide the grid.
  Extent3 cluster;
  /// Bytes of shared arrays of dynamic size.
  uint32_t dynamicSharedBytes = 0;
};

/// Which bytes of an allocation have been written. It belongs to the caller,
/// and is kept from launch to launch.
class WrittenBytes {
public:
  explicit WrittenBytes(uint64_t bytes) : bits(bytes) {}

  void mark(uint64_t begin, uint64_t end) { bits.set(begin, end); }
  bool areMarked(uint64_t begin, uint64_t end) const {
    return bits.find_first_unset_in(begin, end) == -1;
  }

private:
  llvm::BitVector bits;
};

/// A range of the host's memory that kernels may use as global memory. Those of
/// one launch do not overlap.
struct Allocation {
  std::string name;
  void *begin = nullptr;
  uint64_t bytes = 0;
  /// True if writes to it are faults.
  bool isReadOnly = false;
  /// True if a grid before this one writes it, which may still run until the
  /// kernel waits for it (griddepcontrol.wait).
  bool isPending = false;
  /// The bytes that are written; null of a buffer that is written as a whole. A
  /// launch on several threads must not be given one.
  WrittenBytes *written = nullptr;
};

/// A pointer or a number that a kernel takes.
class KernelArgument {
public:
  template <typename T> KernelArgument(T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    std::memcpy(&bits, &value, sizeof(T));
  }
  uint64_t getBits() const { return bits; }

private:
  uint64_t bits = 0;
};

struct EmulatorOptions {
  /// Decides all that a GPU leaves open: the order of blocks, warps and lanes,
  /// and which lane is elected.
  uint64_t seed = 0;
  /// True if races are checked, beside bounds, alignment and synchronisation.
  bool checksRaces = true;
  /// True if sectors and bank conflicts are counted.
  bool countsAccesses = true;
  /// Threads of the host, which share the clusters of blocks. With more than
  /// one, orders of execution depend on more than the seed.
  unsigned threads = 1;
  /// After so many faults no more are written down.
  unsigned maxFaults = 16;
  /// Bytes of shared memory that a block may have.
  uint32_t sharedLimit = 227 << 10;
  /// Clusters that may be resident at once, for all that wait for each other;
  /// 0 for any number.
  uint32_t residentClusters = 0;
  /// Limit of how often a thread may ask in vain, or how many thousand
  /// iterations it may take, before the launch is given up.
  uint32_t patience = 20000;
};

/// The dialects of kernels that can be emulated, and what translates them.
void registerEmulatorDialects(mlir::DialectRegistry &registry);

/// A kernel of a GPU in the LLVM and NVVM dialects, made to run on the host.
/// Launches are independent of each other, and may be on several threads.
class EmulatedKernel {
public:
  /// Compiles the kernel `name` of the module `source`, which is text or
  /// bytecode; it may be empty where there is one kernel.
  static llvm::Expected<std::unique_ptr<EmulatedKernel>>
  compile(llvm::StringRef source, llvm::StringRef name = "");
  /// The same of a module in a context that has the dialects of
  /// registerEmulatorDialects; the module stays as it is.
  static llvm::Expected<std::unique_ptr<EmulatedKernel>>
  compile(mlir::ModuleOp module, llvm::StringRef name = "");
  /// Compiles all kernels of a module, by their names, in a context with the
  /// dialects of registerEmulatorDialects.
  static llvm::Expected<std::map<std::string, std::unique_ptr<EmulatedKernel>>>
  compileAll(llvm::StringRef source, mlir::MLIRContext &context);
  ~EmulatedKernel();

  const std::string &getName() const;
  /// The bytes of each parameter.
  llvm::ArrayRef<uint32_t> getParameters() const;
  /// The blocks of a cluster, as the kernel has them.
  Extent3 getCluster() const;

  /// Runs the kernel to its end. Fails where the launch is impossible on any
  /// GPU; what the kernel itself does wrong is in the report.
  llvm::Expected<EmulatorReport>
  launch(const LaunchShape &shape, llvm::ArrayRef<KernelArgument> arguments,
         llvm::ArrayRef<Allocation> allocations,
         const EmulatorOptions &options = EmulatorOptions()) const;

private:
  EmulatedKernel();
  struct Code;
  std::unique_ptr<Code> code;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_EMULATOR_EMULATEDKERNEL_H
