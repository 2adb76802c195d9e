//===- Assembler.h - From PTX to machine code -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CUDA_ASSEMBLER_H
#define METAOPS_RUNTIME_CUDA_ASSEMBLER_H

#include "MetaOps/Runtime/CUDA/Driver.h"
#include "MetaOps/Runtime/CUDA/Toolkits.h"
#include "MetaOps/Target/Description/Chip.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace metaops {

/// Resources of a multiprocessor that a kernel takes, as the assembler tells
/// them.
struct KernelResources {
  std::string name;
  /// Of each thread.
  int64_t registers = 0;
  /// Memory of each thread that is no register: arrays, and what was spilled.
  int64_t localBytes = 0;
  /// Bytes that are stored to and loaded from there because registers ran out.
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
  /// Of each block, but for what its call asks for.
  int64_t sharedBytes = 0;
  /// 0 also where the assembler does not tell.
  int64_t barriers = 0;

  bool operator==(const KernelResources &other) const;
};

/// Machine code of a GPU, as an ELF file, and its kernels.
struct Cubin {
  std::string code;
  std::vector<KernelResources> kernels;
};

/// The kernels that an assembler's messages (of its option -v) are about.
std::vector<KernelResources> parseResources(llvm::StringRef messages);

/// A maker of machine code from PTX. Threads may use one at once.
class Assembler {
public:
  virtual ~Assembler() = default;

  /// Returns its name and version: all that its output depends on besides PTX
  /// and chip.
  virtual std::string getDescription() const = 0;
  /// The same, with what tells builds of one version apart; empty where nothing
  /// does.
  virtual std::string getBuild() const { return std::string(); }

  /// PTX that is refused is an error with what the assembler says of its lines.
  virtual llvm::Expected<Cubin> assemble(llvm::StringRef ptx,
                                         const mlir::metaop::Chip &chip) = 0;
};

struct AssemblerSearch {
  Toolkits toolkits = Toolkits::detect();
  /// The libraries of nvJitLink, the best first: those in toolkits, then those
  /// that the loader finds.
  std::vector<std::string> nvJitLinks = {"libnvJitLink.so.13",
                                         "libnvJitLink.so.12"};
  /// The driver's library, as the loader finds it.
  std::string driver = "libcuda.so.1";
  /// The program, in toolkits or on the path.
  std::string ptxas = "ptxas";
};

/// The first that there is of nvJitLink, the driver's linker and the program
/// ptxas. A driver refuses code of a newer assembler than itself, so such a one
/// gives way to the driver's. If there is none, the error lists what was looked
/// for and which packages bring it.
llvm::Expected<std::shared_ptr<Assembler>>
findAssembler(const AssemblerSearch &search);

/// The driver's own linker, whatever else there is: the driver takes all that
/// it makes.
llvm::Expected<std::shared_ptr<Assembler>>
useDriverAsAssembler(std::shared_ptr<const Driver> driver);

} // namespace metaops

#endif // METAOPS_RUNTIME_CUDA_ASSEMBLER_H
