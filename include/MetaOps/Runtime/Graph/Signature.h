//===- Signature.h - What is the same about two operations ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_SIGNATURE_H
#define METAOPS_RUNTIME_GRAPH_SIGNATURE_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace metaops {

/// What the session needs to know of all operations with one signature.
struct SignatureInfo {
  /// Leaves: a number beside the IR, and what is given in memory.
  bool isScalar = false;
  bool isBuffer = false;
  bool isTransfer = false;
  bool isDifferentiable = false;
  /// It is, or has in it, a loop that makes any number of trips.
  bool hasUnboundedLoop = false;
  /// The result is operand 0 under another name or shape.
  bool isView = false;
  /// The result is operand 0 if that has elements in range.
  bool isCheck = false;
  bool isReindex = false;
  bool isReindexReduce = false;
  /// No derivative by a float operand reads the value of any.
  bool isLinear = false;
  /// Reads its operands from memory, and writes its results there.
  bool isRoutine = false;
  /// An element depends on its index (and on 0-d operands) only.
  bool isGenerator = false;
  bool isRandom = false;
  /// Takes any number of operands of one kind.
  bool isVariadic = false;
  bool hasRegions = false;
};

/// Numbers the operations' signatures: name, properties, number of operands
/// (but of a list of any length), element type and rank of each result. Extents
/// are not part of it: they are the numbers beside a program's skeleton. Two
/// ops with one number differ in operands and extents only.
///
/// Regions are part of it with all that is in them but locations: operations,
/// types, attributes, and which value each operand is. Of a capture
/// (ControlFlow.h) it only counts which of them it is: like operands, captures
/// are what two ops with one number may differ in. The extents of an op that
/// has regions, in which they are anyway, are part of it, too.
class SignatureTable {
public:
  using Id = uint32_t;

  SignatureTable() = default;
  SignatureTable(const SignatureTable &) = delete;
  SignatureTable &operator=(const SignatureTable &) = delete;

  /// The number of an operation's signature. The first operation with one is
  /// verified; a failure is an exception with the verifier's words. So is an
  /// effect on memory in a region: a value may be computed again, or never.
  Id intern(mlir::Operation *op);

  const SignatureInfo &getInfo(Id id) const { return entries[id].info; }
  /// Whether there has been an operation with regions.
  bool haveRegions() const { return anyRegions; }

private:
  struct Entry {
    /// An operation of that signature. It has no operands and is in no block;
    /// or, if it has regions, all that it uses are arguments of a block that
    /// `owner` has for it. So nothing of the session is kept by it.
    mlir::Operation *exemplar;
    mlir::OwningOpRef<mlir::Operation *> owner;
    unsigned numOperands;
    SignatureInfo info;
    /// The next one with the same hash.
    Id next;
  };
  static constexpr Id none = ~Id(0);

  static bool matches(const Entry &entry, mlir::Operation *op);

  std::vector<Entry> entries;
  llvm::DenseMap<uint64_t, Id> firstWithHash;
  bool anyRegions = false;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_SIGNATURE_H
