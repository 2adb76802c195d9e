//===- Schedule.h - Work in the order that events allow ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATEDDRIVER_SCHEDULE_H
#define METAOPS_LIB_RUNTIME_EMULATEDDRIVER_SCHEDULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/SparseBitVector.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace metaops::emulated {

/// Bytes that an operation reads or writes, of the host or of a GPU.
struct Access {
  uint64_t begin, end;
  bool isWrite;

  bool overlaps(uint64_t otherBegin, uint64_t otherEnd) const {
    return begin < otherEnd && otherBegin < end;
  }
};

struct Operation;
using OperationRef = std::shared_ptr<Operation>;

/// Work in a stream: a copy, a launch, or a place to wait for.
struct Operation {
  /// As faults have it: "a copy of 64 bytes to GPU 0".
  std::string description;
  std::vector<Access> accesses;
  /// Null of a place.
  std::function<void()> run;

  /// Operations that have to be done before; empty when they are.
  llvm::SmallVector<OperationRef, 2> before;
  /// In the order in which they were enqueued.
  unsigned number = 0;
  /// The numbers of all that is before it and that the host may not know to be
  /// done.
  llvm::SparseBitVector<> ancestors;
  bool isDone = false;
  /// Set if the host knows that.
  bool isKnown = false;
  /// The time at which it was done.
  std::chrono::steady_clock::time_point time;
};

/// A copy within the host's addresses, which a GPU's are, too.
OperationRef makeCopy(std::string description, void *to, const void *from,
                      size_t bytes);
/// The same of a byte that is written many times.
OperationRef makeFill(std::string description, void *to, unsigned char value,
                      size_t bytes);

/// Operations and their order. Each runs as late as it may: when the host waits
/// for it, or for what is behind it. Which of several comes first, and which
/// others come along, is drawn from a seed.
class Schedule {
public:
  explicit Schedule(uint64_t seed) : random(seed) {}
  ~Schedule();

  /// Adds an operation behind others, which may be null. Where it and another
  /// one use the same bytes, one of them writes, and nothing orders them, it is
  /// not added, and the other one is returned.
  OperationRef add(const OperationRef &operation,
                   llvm::ArrayRef<OperationRef> before);

  /// Runs what is needed for an operation to be done, and it. The host knows it
  /// then.
  void complete(const OperationRef &operation);
  /// Runs one that may run, if there is one.
  void runOne();
  /// Completes what uses some bytes, and returns the last of it or null.
  OperationRef completeUses(uint64_t begin, uint64_t end);

private:
  using Set = llvm::SparseBitVector<>;

  /// Those that are not done, and whose predecessors are.
  std::vector<OperationRef> listReady() const;
  void run(Operation &operation);
  size_t draw(size_t bound) { return random() % bound; }

  std::mt19937_64 random;
  unsigned nextNumber = 0;
  /// Operations that the host does not know to be done, in order.
  std::vector<OperationRef> unknown;
};

} // namespace metaops::emulated

#endif // METAOPS_LIB_RUNTIME_EMULATEDDRIVER_SCHEDULE_H
