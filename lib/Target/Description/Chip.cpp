//===- Chip.cpp - A GPU that code is made for -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/Description/Chip.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::metaop;
using llvm::StringRef;

static constexpr int64_t kKiB = 1 << 10;
static constexpr int64_t kMiB = 1 << 20;

// PTX 8.0 came with CUDA 12.0. The figures are those of the CUDA programming
// guide's table of compute capabilities; cards, of which multiprocessors and
// caches are, are the A100, the A10, the Jetson Orin, the L4 and the H100 SXM.
static constexpr Chip kChips[] = {
    {"sm_80", 80, 1, 108, 32, 2048, 65536, 164 * kKiB, 163 * kKiB, 40 * kMiB},
    {"sm_86", 80, 1, 72, 16, 1536, 65536, 100 * kKiB, 99 * kKiB, 6 * kMiB},
    {"sm_87", 80, 1, 16, 16, 1536, 65536, 164 * kKiB, 163 * kKiB, 4 * kMiB},
    {"sm_89", 80, 1, 58, 24, 1536, 65536, 100 * kKiB, 99 * kKiB, 48 * kMiB},
    {"sm_90", 80, 16, 132, 32, 2048, 65536, 228 * kKiB, 227 * kKiB, 50 * kMiB},
    {"sm_90a", 80, 16, 132, 32, 2048, 65536, 228 * kKiB, 227 * kKiB, 50 * kMiB},
};
static constexpr unsigned kOldest = 80;

static std::string listNames() {
  auto names =
      llvm::map_range(kChips, [](const Chip &chip) { return chip.name; });
  return llvm::join(names, ", ");
}

llvm::Expected<const Chip *> Chip::find(StringRef name) {
  for (const Chip &chip : kChips)
    if (chip.name == name)
      return &chip;
  std::string known = listNames();
  unsigned number = 0;
  StringRef rest = name;
  if (rest.consume_front("sm_") && !rest.getAsInteger(10, number) &&
      number < kOldest)
    return llvm::createStringError("the chip '" + name +
                                   "' is too old; code is made for " + known);
  return llvm::createStringError("there is no chip '" + name +
                                 "'; expected one of " + known);
}

bool Chip::runsOn(int capability) const {
  StringRef number = name;
  number.consume_front("sm_");
  bool isAccelerated = number.consume_back("a");
  int own = 0;
  number.getAsInteger(10, own);
  return isAccelerated ? capability == own
                       : capability / 10 == own / 10 && capability >= own;
}

llvm::Expected<const Chip *> Chip::findFor(int capability) {
  // Later ones know more.
  for (const Chip &chip : llvm::reverse(kChips))
    if (chip.runsOn(capability))
      return &chip;
  return llvm::createStringError(
      "a GPU of compute capability " + llvm::Twine(capability / 10) + "." +
      llvm::Twine(capability % 10) + " runs none of the code that is made, " +
      listNames());
}

llvm::ArrayRef<Chip> Chip::getAll() { return kChips; }

const Chip *Chip::getDefault() { return &kChips[std::size(kChips) - 1]; }
