//===- RandomTensor.h - Test data from a seed -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_INTERPRETER_RANDOMTENSOR_H
#define METAOPS_INTERPRETER_RANDOMTENSOR_H

#include "MetaOps/Interpreter/Tensor.h"

namespace mlir::metaop {

/// Sebastiano Vigna's splitmix64: one 64-bit number a call.
class SplitMix64 {
public:
  explicit SplitMix64(uint64_t seed) : state(seed) {}
  uint64_t next();

private:
  uint64_t state;
};

/// A tensor of test data: one draw z of the generator for each element, in
/// row-major order. Floats with p significant bits are
/// `(z >> (64 - p)) * 2^(1-p) - 1`, uniform in [-1, 1) and exact; signed
/// integers `(z >> 32) mod 12 - 4`, in [-4, 8); unsigned ones and indices
/// `z >> 61`, in [0, 8); booleans `z >> 63`.
llvm::Expected<Tensor> makeRandomTensor(Type elementType,
                                        ArrayRef<int64_t> shape,
                                        SplitMix64 &generator);

} // namespace mlir::metaop

#endif // METAOPS_INTERPRETER_RANDOMTENSOR_H
