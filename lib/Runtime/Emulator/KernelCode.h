//===- KernelCode.h - An emulated kernel in machine code --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATOR_KERNELCODE_H
#define METAOPS_LIB_RUNTIME_EMULATOR_KERNELCODE_H

#include "MetaOps/Conversion/EmulatedThread.h"
#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "MetaOps/Runtime/JIT/Jit.h"
#include "mlir/IR/OwningOpRef.h"

#include <array>
#include <optional>

namespace metaops::emulator {

struct Instruction;

/// The state spaces of PTX, as numbers of the address spaces of pointers.
enum class Space : uint8_t { Generic = 0, Global = 1, Shared = 3, Cluster = 7 };

/// The types that atomic instructions work on.
enum class ValueType : uint8_t {
  I16,
  I32,
  I64,
  F16,
  BF16,
  F32,
  F64,
  V2F16,
  V2BF16
};

/// One place in the code where a thread asks something of the engine: what is
/// known of it before it runs.
struct Site {
  const Instruction *instruction = nullptr;
  std::string operation, location;
  Space space = Space::Generic;
  uint32_t bytes = 0, alignment = 1;
  /// The variant of the instruction, by the numbers of the NVVM dialect.
  int64_t kind = -1;
  ValueType type = ValueType::I32;
  SyncScope scope = SyncScope::Device;
  uint8_t order = SyncOrder::Relaxed;
  /// True if all lanes of a warp have to be there.
  bool isAligned = false;
  /// True if it reads data that is constant as long as the kernel runs.
  bool isInvariant = false;
  /// Of reductions of floats.
  bool takesMagnitudes = false, keepsNans = false;
  /// Of accesses of variables of one thread, the size of the variable.
  uint64_t variableBytes = 0;
  /// Of an asynchronous copy, the site of its source.
  uint32_t source = 0;
};

/// A variable in shared memory.
struct SharedVariable {
  std::string name;
  uint32_t offset = 0;
  /// None where the launch decides.
  std::optional<uint32_t> bytes;
};

/// Begins a thread: makes its coroutine, and returns its frame.
using StartThread = void *(*)(EmulatedThread * thread,
                              const uint64_t *arguments);

using ClassCounts =
    std::array<uint64_t, static_cast<size_t>(InstructionClass::Count)>;

/// A compiled kernel and what its code refers to.
struct KernelCode {
  std::string name;
  std::unique_ptr<Jit> jit;
  StartThread start = nullptr;
  /// The bytes of each parameter.
  std::vector<uint32_t> parameters;
  std::vector<Site> sites;
  std::vector<SharedVariable> sharedVariables;
  /// Of each block of code, the instructions of one execution.
  std::vector<ClassCounts> blockCounts;
  /// The kernel's own limits of its launches; 0 where it has none.
  Extent3 requiredThreads = {0, 0, 0}, maxThreads = {0, 0, 0},
          clusterShape = {0, 0, 0};
};

/// Reads a module that is text or bytecode.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
parseKernels(llvm::StringRef source, mlir::MLIRContext &context);

/// The names of a module's kernels.
std::vector<std::string> listKernels(mlir::ModuleOp module);

/// Compiles a kernel of a module, which stays as it is.
llvm::Expected<KernelCode> compileKernel(mlir::ModuleOp module,
                                         llvm::StringRef name);

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_KERNELCODE_H
