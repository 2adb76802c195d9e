//===- CostModel.h - How long a kernel should take --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predictions are for reports. No decision of the compiler depends on them, nor
// on the figures of a machine, so that the same program is the same code
// everywhere that has the same instructions.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_DESCRIPTION_COSTMODEL_H
#define METAOPS_TARGET_DESCRIPTION_COSTMODEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cstdint>

namespace mlir::metaop {

/// Kinds of instructions that take different times. All but the last two work
/// on a vector, or on one element in scalar code.
enum class WorkClass : unsigned {
  Arithmetic,  ///< add, mul, max, comparisons, select, conversions
  Divide,      ///< division and square root
  Exponential, ///< exp by its polynomial, and so on
  Logarithm,
  Tanh,
  Erf,
  Move,        ///< loads and stores of neighbouring elements
  Scattered,   ///< one element that is loaded or stored alone
  LibraryCall, ///< one element through the C library
};
inline constexpr unsigned kNumWorkClasses = 9;

/// arithmetic, divide, exp, log, tanh, erf, move, scattered, library_call.
llvm::ArrayRef<llvm::StringRef> getWorkClassNames();

/// Work of a kernel, each input read and each output written once.
struct KernelWork {
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
  int64_t flops = 0;
  /// Instructions by class.
  std::array<int64_t, kNumWorkClasses> instructions = {};

  int64_t getBytes() const { return bytesRead + bytesWritten; }
};

/// Rates of a machine. The defaults are those of a server with AVX-512.
struct MachineFigures {
  /// A footprint up to so many bytes is served at that rate, in bytes per
  /// nanosecond (GB/s) and for one thread: L1, L2, L3, memory.
  std::array<int64_t, 3> cacheBytes = {int64_t(32) << 10, int64_t(1) << 20,
                                       int64_t(24) << 20};
  std::array<double, 4> bandwidth = {150, 60, 20, 10};
  /// Nanoseconds of one instruction in a long row of independent ones.
  std::array<double, kNumWorkClasses> nanoseconds = {0.2, 2.5, 4,   5, 6,
                                                     10,  0.2, 0.8, 10};
  /// Nanoseconds from one call to the next, and to start and join threads.
  double callNanoseconds = 300;
  double threadNanoseconds = 3000;

  double getBandwidth(int64_t footprint) const;
};

/// Seconds that one call takes on so many threads: the larger of the times for
/// memory and for instructions, and the call itself.
double predictSeconds(const KernelWork &work, const MachineFigures &machine,
                      int64_t threads = 1);

} // namespace mlir::metaop

#endif // METAOPS_TARGET_DESCRIPTION_COSTMODEL_H
