//===- EmulatorReport.cpp - What an emulated launch found -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Emulator/EmulatorReport.h"

using namespace metaops;

std::string Extent3::str() const {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " +
         std::to_string(z) + ")";
}

llvm::StringRef metaops::getName(FaultKind kind) {
  switch (kind) {
  case FaultKind::OutOfBounds:
    return "out of bounds";
  case FaultKind::Misaligned:
    return "misaligned address";
  case FaultKind::ReadOnly:
    return "write to read-only memory";
  case FaultKind::Uninitialised:
    return "uninitialised memory";
  case FaultKind::Race:
    return "race";
  case FaultKind::PendingCopy:
    return "copy not waited for";
  case FaultKind::StaleRead:
    return "constant data that changes";
  case FaultKind::RemoteBlock:
    return "memory of a block that may not run";
  case FaultKind::PendingGrid:
    return "grid not waited for";
  case FaultKind::DivergentBarrier:
    return "barrier in divergent code";
  case FaultKind::WrongBarrier:
    return "wrong barrier";
  case FaultKind::WrongMask:
    return "wrong mask of lanes";
  case FaultKind::InactiveLane:
    return "value of an inactive lane";
  case FaultKind::WrongCopy:
    return "wrong size of a copy";
  case FaultKind::Deadlock:
    return "deadlock";
  case FaultKind::Stall:
    return "no progress";
  case FaultKind::Trap:
    return "trap";
  }
  return "fault";
}

std::string Fault::str() const {
  std::string text = kernel + ": " + location + ": " + getName(kind).str() +
                     ": " + operation + " by thread " + thread.str() +
                     " of block " + block.str();
  if (!address.empty())
    text += " at " + address;
  return text + ": " + message;
}

std::string EmulatorReport::str() const {
  std::string text;
  for (const Fault &fault : faults)
    text += fault.str() + "\n";
  return text;
}
