//===- CostModel.cpp - How long a kernel should take ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A roofline: a processor moves data and computes at the same time, so a kernel
// takes as long as the slower of both. The data come at the rate of the
// smallest cache that holds all inputs and outputs; instructions are counted by
// class, each with its own time. Threads share the instructions and, in their
// own caches, the data; the rate of memory is taken to grow with them as well,
// which two threads do not disprove and many would.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/Description/CostModel.h"

#include <algorithm>

using namespace mlir::metaop;

llvm::ArrayRef<llvm::StringRef> mlir::metaop::getWorkClassNames() {
  static constexpr llvm::StringRef names[kNumWorkClasses] = {
      "arithmetic", "divide", "exp",       "log",         "tanh",
      "erf",        "move",   "scattered", "library_call"};
  return names;
}

double MachineFigures::getBandwidth(int64_t footprint) const {
  for (auto [bytes, rate] : llvm::zip(cacheBytes, bandwidth))
    if (footprint <= bytes)
      return rate;
  return bandwidth.back();
}

double mlir::metaop::predictSeconds(const KernelWork &work,
                                    const MachineFigures &machine,
                                    int64_t threads) {
  threads = std::max<int64_t>(threads, 1);
  int64_t bytes = work.getBytes();
  double memory = bytes / machine.getBandwidth(bytes / threads);
  double compute = 0;
  for (auto [count, time] : llvm::zip(work.instructions, machine.nanoseconds))
    compute += count * time;
  double start = machine.callNanoseconds;
  if (threads > 1)
    start += machine.threadNanoseconds;
  return (std::max(memory, compute) / threads + start) * 1e-9;
}
