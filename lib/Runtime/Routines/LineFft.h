//===- LineFft.h - Fourier transforms of lines, of any length ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_LINEFFT_H
#define METAOPS_LIB_RUNTIME_ROUTINES_LINEFFT_H

#include "Chirp.h"
#include "FourStepFft.h"

namespace metaops {

/// Transforms of lines by four steps, of a chirp where the length needs one.
template <typename T> class LineFft {
public:
  LineFft(int64_t length, FftTables &tables);

  /// Elements of memory that a line has for itself, and of scratch memory of a
  /// thread.
  int64_t countMemory() const;
  int64_t countScratch() const { return steps->countScratch(); }
  /// Adds the phases for one line. `to` may be `from`.
  void append(Phases<T> &phases, Planes<T> from, Planes<T> to, T *memory,
              T scale) const;

private:
  int64_t length;
  std::shared_ptr<const FourStepFft<T>> steps;
  /// Null where the length is smooth.
  std::shared_ptr<const Chirp<T>> chirp;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_LINEFFT_H
