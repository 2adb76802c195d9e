//===- ExportSlice.h - Compiled programs as files ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_EXPORTSLICE_H
#define METAOPS_UNITTESTS_RUNTIME_EXPORTSLICE_H

#include "MetaOps/Runtime/Export/ProgramFile.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace metaops {

/// The parts of an exported program beside its code.
struct ExportedTensors {
  /// Of the weights and keys; all else is added.
  ProgramSignature signature;
  /// Its name is added.
  FunctionSignature function;
  /// The values of the signature's weights.
  std::vector<llvm::ArrayRef<char>> weights;
};

/// Compiles the function @main of a module for this processor and writes the
/// program file, with the module's text as its IR. Fails the process' test by
/// an exception.
std::string exportSlice(llvm::StringRef module, const ExportedTensors &tensors);

/// A perceptron with a hidden layer,
///   y = max(x * a, 0) * b,   x: 8 x 32 (an input), a: 32 x 48, b: 48 x 4
/// and exp(y) as `e`, with
///   a[i][j] = ((7 * i + 3 * j) mod 11 - 5) / 16
///   b[i][j] = ((5 * i + j) mod 13 - 6) / 32
std::string exportPerceptron();

/// A chain of kernels of different code, each with a weight of half a megabyte:
///   v = v * w_k + (k + 0.5) for each k, from x
/// over vectors, with w_k[i] = (i mod 7) / 8.
inline constexpr int kChainKernels = 100, kChainExtent = 131072;
std::string exportChain();

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_EXPORTSLICE_H
