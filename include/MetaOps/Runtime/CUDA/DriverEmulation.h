//===- DriverEmulation.h - Calls, for emulated drivers ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A driver sees addresses, and not what a call means to do with them. One that
// emulates GPUs is told, so that it finds more of what is wrong.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CUDA_DRIVEREMULATION_H
#define METAOPS_RUNTIME_CUDA_DRIVEREMULATION_H

#include "MetaOps/Runtime/CUDA/Driver.h"
#include "MetaOps/Runtime/Program/LaunchCounts.h"

#include <optional>
#include <string>
#include <vector>

namespace metaops {

/// Memory that a call may use, and for what.
struct CallPiece {
  /// As users are told of it: "input 0, result 1".
  std::string name;
  DevicePointer begin = 0;
  uint64_t bytes = 0;
  /// Set if it has values before the call.
  bool isInput = false;
  /// Set if the call may write it.
  bool isResult = false;
};

/// All memory of a call, in pieces that do not overlap.
struct CallDescription {
  std::vector<CallPiece> pieces;
  /// The number of arguments of each launch, where that is known.
  std::optional<size_t> numArguments;
  /// Set if accesses and instructions are to be counted.
  bool isCounted = false;
};

/// The part of an emulated driver that others lack.
class DriverEmulation {
public:
  virtual ~DriverEmulation() = default;

  /// Says what the launches of this thread use, up to the end of the call.
  virtual void beginCall(CallDescription call) = 0;
  /// Ends the call, whose launches are complete, and returns the counts of
  /// those that were counted.
  virtual LaunchCounts endCall() = 0;
  /// Returns the faults of this thread's last function that failed, a line
  /// each.
  virtual std::string takeFaults() = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_CUDA_DRIVEREMULATION_H
