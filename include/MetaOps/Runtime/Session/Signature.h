//===- Signature.h - What is the same about two operations ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_SIGNATURE_H
#define METAOPS_RUNTIME_SESSION_SIGNATURE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace metaops {

/// What the session needs to know of all operations with one signature.
struct SignatureInfo {
  bool isDifferentiable = false;
  /// The result is operand 0 under another name or shape.
  bool isView = false;
  bool isReindex = false;
  bool isReindexReduce = false;
  /// Reads its operands from memory, and writes its results there.
  bool isRoutine = false;
  /// An element depends on its index (and on 0-d operands) only.
  bool isGenerator = false;
  bool isRandom = false;
  /// Takes any number of operands of one kind.
  bool isVariadic = false;
};

/// Numbers the operations' signatures: name, properties, number of operands
/// (but of a list of any length), element type and rank of each result. Extents
/// are not part of it: they are the numbers beside a program's skeleton. Two
/// ops with one number differ in operands and extents only.
class SignatureTable {
public:
  using Id = uint32_t;

  SignatureTable() = default;
  ~SignatureTable();
  SignatureTable(const SignatureTable &) = delete;
  SignatureTable &operator=(const SignatureTable &) = delete;

  /// The number of an operation's signature. The first operation with one is
  /// verified; a failure is an exception with the verifier's words.
  Id intern(mlir::Operation *op);

  const SignatureInfo &getInfo(Id id) const { return entries[id].info; }

private:
  struct Entry {
    /// An operation of that signature without operands, in no block.
    mlir::Operation *exemplar;
    unsigned numOperands;
    SignatureInfo info;
    /// The next one with the same hash.
    Id next;
  };
  static constexpr Id none = ~Id(0);

  static bool matches(const Entry &entry, mlir::Operation *op);

  std::vector<Entry> entries;
  llvm::DenseMap<uint64_t, Id> firstWithHash;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_SIGNATURE_H
