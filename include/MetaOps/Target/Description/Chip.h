//===- Chip.h - A GPU that code is made for ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_DESCRIPTION_CHIP_H
#define METAOPS_TARGET_DESCRIPTION_CHIP_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace mlir::metaop {

/// Facts of a GPU: data, of which nothing is measured or asked of a machine, so
/// that the same program is the same code wherever it is compiled.
struct Chip {
  /// As PTX and its assemblers call it, such as `sm_90a`.
  llvm::StringLiteral name;
  /// The version of PTX that code is written in, times ten: the oldest with all
  /// instructions that are emitted for it, so that older drivers take it.
  unsigned ptxVersion;
  /// The most blocks of a cluster; 1 where there are no clusters.
  int64_t maxCluster;
  /// A multiprocessor: how many there are, at least, of the cards that have the
  /// chip; its blocks; the threads, the registers of 32 bits and the bytes of
  /// shared memory that these have together.
  int64_t multiprocessors;
  int64_t maxBlocks;
  int64_t maxThreads;
  int64_t registers;
  int64_t sharedBytes;
  /// The most shared memory of one block.
  int64_t sharedBytesOfBlock;
  /// The second cache, which all share.
  int64_t secondCacheBytes;

  /// Of any chip: the most threads of a block and registers of a thread, and
  /// the most bytes of one access.
  static constexpr int64_t kMaxThreadsOfBlock = 1024;
  static constexpr int64_t kMaxRegistersOfThread = 255;
  static constexpr int64_t kMaxAccessBytes = 16;
  static constexpr int64_t kWarpThreads = 32;
  /// Words of shared memory that are accessed at once lie in different ones.
  static constexpr int64_t kBanks = 32;
  static constexpr int64_t kBankBytes = 4;

  /// Blocks that keep the chip busy, with some for multiprocessors that are
  /// done before others.
  int64_t getEnoughBlocks() const { return 2 * multiprocessors; }

  /// Returns whether a GPU of this compute capability, such as 90, runs machine
  /// code of the chip: one of the same kind and no older, or, of `sm_90a`, the
  /// same.
  bool runsOn(int capability) const;
  /// The chip whose code suits a GPU of this compute capability best.
  static llvm::Expected<const Chip *> findFor(int capability);

  /// The chip of that name. Chips before sm_80 are refused as such; for any
  /// other name the error lists those that there are.
  static llvm::Expected<const Chip *> find(llvm::StringRef name);
  static llvm::ArrayRef<Chip> getAll();
  /// The one that code is made for where nothing is said.
  static const Chip *getDefault();
};

} // namespace mlir::metaop

/// Has passes take a chip as an option: `chip=sm_90a`.
template <>
class llvm::cl::parser<const mlir::metaop::Chip *>
    : public llvm::cl::basic_parser<const mlir::metaop::Chip *> {
public:
  using basic_parser::basic_parser;

  bool parse(Option &option, StringRef, StringRef text,
             const mlir::metaop::Chip *&value) {
    auto chip = mlir::metaop::Chip::find(text);
    if (!chip)
      return option.error(toString(chip.takeError()));
    value = *chip;
    return false;
  }
  StringRef getValueName() const override { return "chip"; }
  void printOptionDiff(const Option &option, const mlir::metaop::Chip *, OptVal,
                       size_t globalWidth) const {
    printOptionName(option, globalWidth);
  }
  static void print(raw_ostream &os, const mlir::metaop::Chip *value) {
    os << value->name;
  }
};

#endif // METAOPS_TARGET_DESCRIPTION_CHIP_H
