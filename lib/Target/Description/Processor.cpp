//===- Processor.cpp - What schedules depend on ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/Description/Processor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::metaop;
using llvm::StringRef;

/// Wider than any register there is.
static constexpr unsigned kMaxVectorBits = 2048;

namespace {
struct UsualProcessor {
  StringRef name;
  unsigned vectorBits;
  int64_t registers;
  int64_t firstCacheBytes, secondCacheBytes;
  bool hasFma, hasVectorMath;
};
} // namespace

/// x86-64 has 16 registers, with AVX-512 32; so has AArch64. Functions of
/// vectors are those of the GNU C library, for x86-64 from version 2.35 on.
static constexpr UsualProcessor kUsual[] = {
    {"scalar", 0, 16, 32 << 10, 1 << 20, true, false},
    {"sse", 128, 16, 32 << 10, 1 << 19, false, true},
    {"avx2", 256, 16, 32 << 10, 1 << 19, true, true},
    {"avx512", 512, 32, 48 << 10, 1 << 21, true, true},
    {"neon", 128, 32, 64 << 10, 1 << 20, true, false},
};

llvm::Expected<Processor> Processor::find(StringRef name) {
  for (const UsualProcessor &usual : kUsual) {
    if (usual.name != name)
      continue;
    Processor processor;
    processor.vectorBits = usual.vectorBits;
    processor.registers = usual.registers;
    processor.firstCacheBytes = usual.firstCacheBytes;
    processor.secondCacheBytes = usual.secondCacheBytes;
    processor.hasFma = usual.hasFma;
    processor.hasVectorMath = usual.hasVectorMath;
    return processor;
  }
  auto names = llvm::map_range(
      kUsual, [](const UsualProcessor &usual) { return usual.name; });
  return llvm::createStringError("there is no processor '" + name +
                                 "'; expected one of " +
                                 llvm::join(names, ", "));
}

llvm::Expected<Processor> Processor::parse(StringRef text) {
  Processor processor;
  llvm::SmallVector<StringRef> words;
  llvm::SplitString(text, words);
  bool isFirst = true;
  for (StringRef word : words) {
    if (!word.contains('=') && isFirst) {
      auto usual = find(word);
      if (!usual)
        return usual.takeError();
      processor = *usual;
      isFirst = false;
      continue;
    }
    isFirst = false;
    auto [key, number] = word.split('=');
    int64_t value = 0;
    if (number.getAsInteger(10, value) || value < 0)
      return llvm::createStringError(
          "expected FACT=NUMBER of a processor, given '" + word + "'");
    if (key == "vector-bits") {
      if (value != 0 && (!llvm::isPowerOf2_64(value) || value > kMaxVectorBits))
        return llvm::createStringError(
            "vector-bits is 0 or a power of two up to " +
            llvm::Twine(kMaxVectorBits) + ", given " + number);
      processor.vectorBits = static_cast<unsigned>(value);
    } else if (key == "registers") {
      processor.registers = value;
    } else if (key == "l1") {
      processor.firstCacheBytes = value;
    } else if (key == "l2") {
      processor.secondCacheBytes = value;
    } else if (key == "stream") {
      processor.streamBytes = value;
    } else if (key == "fma") {
      processor.hasFma = value != 0;
    } else if (key == "vector-math") {
      processor.hasVectorMath = value != 0;
    } else {
      return llvm::createStringError("there is no fact '" + key +
                                     "' of a processor; expected one of "
                                     "vector-bits, registers, l1, l2, stream, "
                                     "fma, vector-math");
    }
  }
  return processor;
}

std::string Processor::str() const {
  return "vector-bits=" + std::to_string(vectorBits) +
         " registers=" + std::to_string(registers) +
         " l1=" + std::to_string(firstCacheBytes) +
         " l2=" + std::to_string(secondCacheBytes) +
         " stream=" + std::to_string(streamBytes) +
         " fma=" + std::to_string(hasFma) +
         " vector-math=" + std::to_string(hasVectorMath);
}
