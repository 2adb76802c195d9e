//===- Jit.h - Machine code in this process ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_JIT_JIT_H
#define METAOPS_RUNTIME_JIT_JIT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
class Module;
class TargetMachine;
namespace orc {
class LLJIT;
} // namespace orc
} // namespace llvm

namespace metaops {

/// What a kernel leaves behind when it fails; part of the kernel ABI.
struct KernelStatus {
  int64_t detail = 0;
};

/// What every kernel is called through: does [begin, end) of its parallel
/// range. Returns 0, or the code of a failure that `status` tells more of.
using KernelFunction = int32_t (*)(void **buffers, const int64_t *scalars,
                                   int64_t begin, int64_t end,
                                   KernelStatus *status);

/// Compiles LLVM modules for the host and links them into this process. Not
/// safe for use from several threads at once.
class Jit {
public:
  static llvm::Expected<std::unique_ptr<Jit>> create();
  ~Jit();

  /// Bits in a vector register of the host.
  unsigned getVectorBits() const { return vectorBits; }

  /// Optimises `module` and emits an object file.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  compile(llvm::Module &module);

  /// Links an object file and returns the address of `entry` in it. `name` is
  /// unique among everything linked.
  llvm::Expected<KernelFunction>
  link(std::unique_ptr<llvm::MemoryBuffer> object, llvm::StringRef name,
       llvm::StringRef entry);

private:
  Jit();
  std::unique_ptr<llvm::TargetMachine> target;
  std::unique_ptr<llvm::orc::LLJIT> linker;
  unsigned vectorBits = 0;
  /// What the linker reported beside the errors that it returned.
  std::string reports;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_JIT_JIT_H
