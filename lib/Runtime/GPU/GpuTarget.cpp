//===- GpuTarget.cpp - Programs for GPUs that are not here ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/GPU/GpuTarget.h"
#include "GpuBackend.h"
#include "MetaOps/Runtime/Kernels/ProgramCompiler.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace metaops {
namespace {

class GpuTargetBackend : public GpuBackend {
public:
  using GpuBackend::GpuBackend;

  llvm::Expected<Kernel> load(StringRef name,
                              std::unique_ptr<llvm::MemoryBuffer>) override {
    return Kernel{nullptr, name.str()};
  }
};

class GpuTargetCompiler : public ProgramCompiler {
public:
  explicit GpuTargetCompiler(const metaop::Chip &chip) : chip(chip) {}

private:
  llvm::Expected<std::shared_ptr<KernelBackend>> createBackend() override {
    return std::make_shared<GpuTargetBackend>(chip);
  }

  const metaop::Chip &chip;
};

} // namespace

llvm::Expected<std::unique_ptr<Compiler>>
createTargetCompiler(StringRef target) {
  StringRef name = target;
  auto getTarget = [](const metaop::Chip &chip) {
    return "cuda:" + chip.name.str();
  };
  if (name.consume_front("cuda:"))
    for (const metaop::Chip &chip : metaop::Chip::getAll())
      if (chip.name == name)
        return std::make_unique<GpuTargetCompiler>(chip);
  return llvm::createStringError(
      "there is no target '" + target + "'; expected one of " +
      llvm::join(llvm::map_range(metaop::Chip::getAll(), getTarget), ", "));
}

} // namespace metaops
