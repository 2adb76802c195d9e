//===- LaunchCounts.cpp - What a kernel moved and executed ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/LaunchCounts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace metaops;

llvm::StringRef metaops::getName(InstructionClass kind) {
  switch (kind) {
  case InstructionClass::Float:
    return "float";
  case InstructionClass::Integer:
    return "integer";
  case InstructionClass::Conversion:
    return "conversion";
  case InstructionClass::Function:
    return "function";
  case InstructionClass::Control:
    return "control";
  case InstructionClass::Global:
    return "global";
  case InstructionClass::Shared:
    return "shared";
  case InstructionClass::Local:
    return "local";
  case InstructionClass::Atomic:
    return "atomic";
  case InstructionClass::Exchange:
    return "exchange";
  case InstructionClass::Barrier:
    return "barrier";
  case InstructionClass::Fence:
    return "fence";
  case InstructionClass::AsyncCopy:
    return "async_copy";
  case InstructionClass::Count:
    break;
  }
  llvm_unreachable("all classes are handled");
}

void LaunchCounts::add(LaunchCounts other) {
  llvm::append_range(accesses, std::move(other.accesses));
  for (auto [to, from] : llvm::zip(instructions, other.instructions))
    to += from;
}

AccessCounts LaunchCounts::sum(bool isShared) const {
  AccessCounts sum;
  sum.isShared = isShared;
  for (const AccessCounts &access : accesses) {
    if (access.isShared != isShared)
      continue;
    sum.requests += access.requests;
    sum.bytes += access.bytes;
    sum.moved += access.moved;
    sum.least += access.least;
  }
  return sum;
}
