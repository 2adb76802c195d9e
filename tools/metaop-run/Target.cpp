//===- Target.cpp - What compiled functions run on ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target.h"
#include "MetaOps/Runtime/CPU/CpuCompiler.h"
#include "MetaOps/Runtime/Emulator/GuardedMemory.h"
#include "MetaOps/Runtime/GPU/CudaDevice.h"
#include "MetaOps/Runtime/GPU/EmulatedDevice.h"
#include "MetaOps/Target/Description/Chip.h"

using namespace mlir::metaop;
using llvm::createStringError;
using llvm::Expected;

static Expected<Target> createCpuTarget(const TargetChoice &choice) {
  if (choice.emulate)
    return createStringError(
        "--emulate is for GPUs: it expects --target=cuda, given --target=cpu");
  if (!choice.chip.empty())
    return createStringError(
        "--chip is for GPUs: it expects --target=cuda, given --target=cpu");
  return Target{metaops::createCpuCompiler(), metaops::createHostMemory()};
}

static Expected<Target> createCudaTarget(const TargetChoice &choice) {
  // Without a name, what is emulated is the best, and what is used is there.
  const Chip *chip = choice.emulate ? Chip::getDefault() : nullptr;
  if (!choice.chip.empty()) {
    Expected<const Chip *> found = Chip::find(choice.chip);
    if (!found)
      return createStringError("--chip: " + toString(found.takeError()));
    chip = *found;
  }
  if (!choice.emulate) {
    metaops::CudaOptions options;
    options.chip = chip;
    options.search = [toolkits = choice.toolkits] {
      metaops::AssemblerSearch search;
      search.toolkits = metaops::Toolkits::detect(toolkits);
      return search;
    };
    return Target{metaops::createCudaCompiler(std::move(options)),
                  metaops::createHostMemory()};
  }
  return Target{metaops::createEmulatorCompiler(*chip),
                metaops::createGuardedMemory()};
}

Expected<Target> Target::create(const TargetChoice &choice) {
  if (choice.name == "cpu")
    return createCpuTarget(choice);
  if (choice.name == "cuda")
    return createCudaTarget(choice);
  return createStringError("--target=" + choice.name +
                           ": expected one of cpu, cuda");
}
