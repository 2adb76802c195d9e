//===- Processor.h - What schedules depend on -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_DESCRIPTION_PROCESSOR_H
#define METAOPS_TARGET_DESCRIPTION_PROCESSOR_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace mlir::metaop {

/// The bytes of a cache line, at which buffers begin. All processors that code
/// is made for have lines of so many (or twice as many).
inline constexpr int64_t kLineBytes = 64;

/// The bytes of a page of memory. Lines at this distance are translated one by
/// one, are not foreseen by the processor, and have the same place in a first
/// cache, whose ways hold so much.
inline constexpr int64_t kPageBytes = 4096;

/// The processor that heuristics choose schedules for: one with AVX-512, if
/// nothing else is said. As text, the name of a usual one, or some of its
/// facts, or the one and then the others:
///
///   avx2
///   vector-bits=256 registers=16
///   avx2 l2=1048576
struct Processor {
  /// Of vector registers; 0 for scalar code.
  unsigned vectorBits = 512;
  /// The number of vector registers.
  int64_t registers = 32;
  /// The first and the second cache of a core, in bytes.
  int64_t firstCacheBytes = int64_t(48) << 10;
  int64_t secondCacheBytes = int64_t(2) << 20;
  /// Bytes that the caches of a core hold together with those that it shares:
  /// larger results are stored past them. 0 for none.
  int64_t streamBytes = int64_t(32) << 20;
  /// A product and a sum are one instruction.
  bool hasFma = true;
  /// It is of x86, and the C library has functions of its vectors of f64.
  bool hasVectorMath = true;

  /// Returns the bytes that are to stay in a cache beside all that passes by.
  int64_t getFirstCacheShare() const { return firstCacheBytes / 3; }
  int64_t getSecondCacheShare() const { return secondCacheBytes / 2; }

  /// Returns the bits of the vectors of f64 that there are functions of, or 0.
  unsigned getVectorMathBits() const {
    bool isOfSomeWidth =
        vectorBits == 128 || vectorBits == 256 || vectorBits == 512;
    return hasVectorMath && isOfSomeWidth ? vectorBits : 0;
  }

  /// scalar, sse, avx2, avx512 or neon: vectors and registers of these
  /// instructions, and caches as usual beside them.
  static llvm::Expected<Processor> find(llvm::StringRef name);
  static llvm::Expected<Processor> parse(llvm::StringRef text);
  /// All facts, for `parse`.
  std::string str() const;
};

} // namespace mlir::metaop

/// Has passes take a processor as an option: `processor={avx2 l2=1048576}`.
template <>
class llvm::cl::parser<mlir::metaop::Processor>
    : public llvm::cl::basic_parser<mlir::metaop::Processor> {
public:
  using basic_parser::basic_parser;

  bool parse(Option &option, StringRef, StringRef text,
             mlir::metaop::Processor &value) {
    auto parsed = mlir::metaop::Processor::parse(text);
    if (!parsed)
      return option.error(toString(parsed.takeError()));
    value = *parsed;
    return false;
  }
  StringRef getValueName() const override { return "processor"; }
  void printOptionDiff(const Option &option, const mlir::metaop::Processor &,
                       OptVal, size_t globalWidth) const {
    printOptionName(option, globalWidth);
  }
  static void print(raw_ostream &os, const mlir::metaop::Processor &value) {
    os << '{' << value.str() << '}';
  }
};

#endif // METAOPS_TARGET_DESCRIPTION_PROCESSOR_H
