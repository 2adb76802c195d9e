//===- AssemblerMessages.cpp - What assemblers say ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All assemblers are one program in several guises and say the same, but for
// what stands at the beginning of lines:
//
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 22 registers, used 1 barriers, 48 bytes smem, ...
//
//===----------------------------------------------------------------------===//

#include "AssemblerMessages.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <tuple>

using namespace metaops;
using llvm::StringRef;

bool KernelResources::operator==(const KernelResources &other) const {
  auto all = [](const KernelResources &one) {
    return std::tie(one.name, one.registers, one.localBytes,
                    one.spillStoreBytes, one.spillLoadBytes, one.sharedBytes,
                    one.barriers);
  };
  return all(*this) == all(other);
}

/// The number before `unit` in `line`, or 0.
static int64_t numberBefore(StringRef line, StringRef unit) {
  StringRef before = line.take_front(line.find(unit)).rtrim();
  if (before.size() == line.size())
    return 0;
  int64_t number = 0;
  before.take_back(before.size() - before.find_last_not_of("0123456789") - 1)
      .getAsInteger(10, number);
  return number;
}

std::vector<KernelResources> metaops::parseResources(StringRef messages) {
  std::vector<KernelResources> kernels;
  llvm::SmallVector<StringRef> lines;
  messages.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function")) {
      kernels.emplace_back();
      kernels.back().name = line.split('\'').second.split('\'').first.str();
    }
    if (kernels.empty())
      continue;
    KernelResources &kernel = kernels.back();
    if (line.contains("bytes stack frame")) {
      kernel.localBytes = numberBefore(line, " bytes stack frame");
      kernel.spillStoreBytes = numberBefore(line, " bytes spill stores");
      kernel.spillLoadBytes = numberBefore(line, " bytes spill loads");
    } else if (line.contains("Used ")) {
      kernel.registers = numberBefore(line, " registers");
      kernel.barriers = numberBefore(line, " barriers");
      kernel.sharedBytes = numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

std::string metaops::selectErrors(StringRef messages) {
  constexpr size_t maxLines = 8;
  llvm::SmallVector<StringRef> lines, errors;
  messages.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  llvm::copy_if(lines, std::back_inserter(errors), [](StringRef line) {
    return !line.contains("info    :") && !line.contains("bytes stack frame");
  });
  size_t rest = errors.size() - std::min(errors.size(), maxLines);
  errors.truncate(errors.size() - rest);
  std::string text = llvm::join(errors, "\n");
  return rest ? text + "\nand " + std::to_string(rest) + " lines more" : text;
}
