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
#include "llvm/ADT/SmallBitVector.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace metaops {

/// Facts that all operations with one signature share.
struct SignatureInfo {
  /// Leaves: a number beside the IR, and what is given in memory.
  bool isScalar = false;
  bool isBuffer = false;
  bool isTransfer = false;
  bool isDifferentiable = false;
  /// It is, or has in its regions, what may have no derivatives.
  bool mayMissDerivatives = false;
  /// One of its results may be made of another one, in its regions.
  bool mayReadResults = false;
  /// A routine without derivatives, which may fail.
  bool isExtern = false;
  /// Each result is the operand of its number under another name or shape.
  bool isView = false;
  /// Its derivatives are a function's own (FunctionCall.h). No gradient flows
  /// to the first operands, the values of its results.
  bool isCustom = false;
  uint32_t numValues = 0;
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
  /// By result the operands and captures that derivatives of it depend on, as
  /// bits; empty where they depend on all but the values of results.
  std::vector<llvm::SmallBitVector> sources;
  /// By result the others that regions make it of, as bits; empty where there
  /// are none.
  std::vector<llvm::SmallBitVector> siblings;

  /// Returns whether gradients of a result flow to an operand or capture.
  bool flows(uint32_t result, uint32_t operand) const {
    return sources.empty() ? operand >= numValues
                           : sources[result].test(operand);
  }
  /// Returns whether the regions make a result of another one.
  bool isMadeOf(uint32_t result, uint32_t sibling) const {
    return !siblings.empty() && siblings[result].test(sibling);
  }
};

/// Appends the numbers that a program has of an operation beside the skeleton:
/// the extents of its results and of all values that are defined in its
/// regions, the trips of scans, the extents that indices are checked against,
/// and integers that are constants, such as follow from extents. How many there
/// are follows from its signature.
void appendNumbers(mlir::Operation *op, std::vector<int64_t> &numbers);

/// Numbers the operations' signatures: name, properties, number of operands
/// (but of a list of any length), element type and rank of each result. Extents
/// and other numbers beside a program's skeleton (appendNumbers) are not part
/// of it. Two ops with one signature differ in operands and these only.
///
/// Regions are part of it with all that is in them but locations and these
/// numbers: operations, attributes, and which value each operand is. Of a
/// capture (ControlFlow.h) it only counts which of them it is: like operands,
/// captures are what two ops with one signature may differ in. The trips of
/// scans are, too, as far as results are made of the same (ResultSources.h).
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
  /// Returns the number of signatures that there have been.
  size_t size() const { return entries.size(); }
  /// Returns whether there has been an operation that may have no derivatives.
  bool mayMissDerivatives() const { return hasMissing; }

private:
  struct Entry {
    /// An operation of that signature, without operands and in no block; null
    /// for one with regions. So nothing of the session is kept by it.
    mlir::OwningOpRef<mlir::Operation *> exemplar;
    unsigned numOperands;
    SignatureInfo info;
    /// The next one with the same hash.
    Id next;
    /// From which numbers of trips on it is the signature of scans; those of
    /// fewer ones have their own.
    std::vector<int64_t> tripBounds;
  };
  static constexpr Id none = ~Id(0);

  /// The numbers that tell operations with regions apart (RegionWords.cpp).
  using Words = std::vector<uint64_t>;
  struct WordsHash {
    size_t operator()(const Words &words) const;
  };

  /// Numbers an operation without what is in its regions.
  Id internAlone(mlir::Operation *op);
  /// Numbers an operation with regions, of which the words tell, with scans
  /// that make many trips or as many as they do.
  Id internWords(mlir::Operation *op, Words words, bool areMany);

  std::vector<Entry> entries;
  llvm::DenseMap<uint64_t, Id> firstWithHash;
  std::unordered_map<Words, Id, WordsHash> withRegions;
  bool hasMissing = false;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_SIGNATURE_H
