//===- EmulatedDriver.h - A driver without a GPU ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// It fills the table that NVIDIA's driver fills, for GPUs that are not there. A
// module is one in the phase nvvm, whose kernels the emulator runs. What a
// driver leaves open is drawn from a seed, and what it would not tell of is a
// fault: see docs/Emulator.md.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_EMULATEDDRIVER_EMULATEDDRIVER_H
#define METAOPS_RUNTIME_EMULATEDDRIVER_EMULATEDDRIVER_H

#include "MetaOps/Runtime/CUDA/Driver.h"
#include "MetaOps/Target/Description/Chip.h"

#include <memory>
#include <string>
#include <vector>

namespace metaops {

namespace emulated {
class Machine;
} // namespace emulated

struct EmulatedDriverOptions {
  /// The number of GPUs, all of them alike.
  unsigned devices = 1;
  /// The bytes of each one's memory.
  uint64_t memory = uint64_t(8) << 30;
  /// Decides the order of what nothing orders, and how late it comes.
  uint64_t seed = 0;
  const mlir::metaop::Chip *chip = mlir::metaop::Chip::getDefault();
  /// Set if CUDA_VISIBLE_DEVICES hides them, as it does NVIDIA's.
  bool mayBeHidden = true;

  /// Reads "emulated", with options behind a colon:
  /// "emulated:devices=2,memory=64M,seed=7,chip=sm_90a".
  static llvm::Expected<EmulatedDriverOptions> parse(llvm::StringRef text);
};

class EmulatedDriver {
public:
  explicit EmulatedDriver(EmulatedDriverOptions options = {});

  const EmulatedDriverOptions &getOptions() const { return options; }

  /// Opens the driver. It fails where all GPUs are hidden.
  llvm::Expected<std::shared_ptr<const Driver>> open() const;

  /// Makes what `loadModule` takes of a module in the phase nvvm, which is text
  /// or bytecode.
  static std::string makeImage(llvm::StringRef module);

  /// Lists the things that were not given back, as "4000 bytes of GPU 0".
  std::vector<std::string> listLeaks() const;

private:
  const EmulatedDriverOptions options;
  std::shared_ptr<emulated::Machine> machine;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_EMULATEDDRIVER_EMULATEDDRIVER_H
