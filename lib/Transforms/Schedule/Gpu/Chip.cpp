//===- Chip.cpp - A GPU that code is made for -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Gpu/Chip.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::metaop;
using llvm::StringRef;

// PTX 8.0 came with CUDA 12.0.
static constexpr Chip kChips[] = {
    {"sm_80", 80, 1}, {"sm_86", 80, 1},  {"sm_87", 80, 1},
    {"sm_89", 80, 1}, {"sm_90", 80, 16}, {"sm_90a", 80, 16},
};
static constexpr unsigned kOldest = 80;

llvm::Expected<const Chip *> Chip::find(StringRef name) {
  for (const Chip &chip : kChips)
    if (chip.name == name)
      return &chip;
  auto names =
      llvm::map_range(kChips, [](const Chip &chip) { return chip.name; });
  std::string known = llvm::join(names, ", ");
  unsigned number = 0;
  StringRef rest = name;
  if (rest.consume_front("sm_") && !rest.getAsInteger(10, number) &&
      number < kOldest)
    return llvm::createStringError("the chip '" + name +
                                   "' is too old; code is made for " + known);
  return llvm::createStringError("there is no chip '" + name +
                                 "'; expected one of " + known);
}

const Chip *Chip::getDefault() { return &kChips[std::size(kChips) - 1]; }
