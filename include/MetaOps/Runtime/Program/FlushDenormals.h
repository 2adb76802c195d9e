//===- FlushDenormals.h - Denormal numbers that count as zero ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A multiplication of a denormal number is done by microcode on x86 processors,
// which takes many times longer. A gradient of which one element in thirty is
// denormal so makes a matrix product forty times as slow.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_FLUSHDENORMALS_H
#define METAOPS_RUNTIME_PROGRAM_FLUSHDENORMALS_H

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace metaops {

/// While it lives, the calling thread takes denormal operands for 0, and gives
/// 0 for denormal results, where this makes a difference in speed. Elsewhere,
/// or if it is not asked to, it does nothing.
class FlushDenormals {
public:
#if defined(__x86_64__)
  explicit FlushDenormals(bool isAsked)
      : isAsked(isAsked), before(isAsked ? _mm_getcsr() : 0) {
    // Flush results to zero, and denormals are zeros (Intel 64 and IA-32
    // Architectures Software Developer's Manual, volume 1, section 10.2.3).
    constexpr unsigned flushResults = 1U << 15, flushOperands = 1U << 6;
    if (isAsked)
      _mm_setcsr(before | flushResults | flushOperands);
  }
  ~FlushDenormals() {
    if (isAsked)
      _mm_setcsr(before);
  }
#else
  explicit FlushDenormals(bool) {}
#endif
  FlushDenormals(const FlushDenormals &) = delete;
  FlushDenormals &operator=(const FlushDenormals &) = delete;

#if defined(__x86_64__)
private:
  bool isAsked;
  unsigned before;
#endif
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_FLUSHDENORMALS_H
