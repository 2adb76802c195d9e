//===- DriverLinker.cpp - The driver's assembler --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverLinker.h"
#include "AssemblerMessages.h"
#include "llvm/ADT/ScopeExit.h"

using namespace metaops;
using llvm::StringRef;

// CUjit_option and CUjitInputType.
static constexpr int kInfoBuffer = 3, kInfoBytes = 4;
static constexpr int kErrorBuffer = 5, kErrorBytes = 6;
static constexpr int kTarget = 9, kIsVerbose = 12;
static constexpr int kInputPtx = 1;
/// CU_COMPUTE_ACCELERATED_TARGET_BASE: behind sm_90a and its like.
static constexpr int kAccelerated = 0x10000;
static constexpr size_t kMessageBytes = size_t(64) << 10;

std::string DriverLinker::getBuild() const {
  const std::string &build = context->getDriver().getBuild();
  return build.empty() ? "" : getDescription() + " " + build;
}

std::string DriverLinker::getDescription() const {
  int version = context->getDriver().getCudaVersion();
  return "the driver of CUDA " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

/// CUjit_target.
static int getTarget(const mlir::metaop::Chip &chip) {
  StringRef name = chip.name;
  name.consume_front("sm_");
  int base = name.consume_back("a") ? kAccelerated : 0;
  int number = 0;
  name.getAsInteger(10, number);
  return base + number;
}

static void *asOption(uintptr_t number) {
  return reinterpret_cast<void *>(number);
}

llvm::Expected<Cubin> DriverLinker::assemble(StringRef ptx,
                                             const mlir::metaop::Chip &chip) {
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    return std::move(error);
  const Driver &driver = context->getDriver();
  std::string info(kMessageBytes, '\0'), errors(kMessageBytes, '\0');
  int names[] = {kInfoBuffer, kInfoBytes, kErrorBuffer,
                 kErrorBytes, kTarget,    kIsVerbose};
  void *values[] = {info.data(),
                    asOption(info.size()),
                    errors.data(),
                    asOption(errors.size()),
                    asOption(getTarget(chip)),
                    asOption(1)};
  DriverHandle link = nullptr;
  llvm::scope_exit destroy([&] {
    if (link)
      driver.destroyLink(link);
  });
  std::string text = ptx.str();
  void *code = nullptr;
  size_t size = 0;
  DriverResult result =
      driver.createLink(std::size(names), names, values, &link);
  if (result == 0)
    result = driver.addLinkData(link, kInputPtx, text.data(), text.size() + 1,
                                "ptx", 0, nullptr, nullptr);
  if (result == 0)
    result = driver.completeLink(link, &code, &size);
  if (result != 0) {
    std::string lines = selectErrors(errors.c_str());
    llvm::Error error = driver.check(result, "assembling");
    return llvm::createStringError(
        getDescription() + " refuses the PTX: " + toString(std::move(error)) +
        (lines.empty() ? "" : "\n" + lines));
  }
  // The code belongs to the link.
  return Cubin{std::string(static_cast<const char *>(code), size),
               parseResources(info.c_str())};
}
