//===- RandomTensor.cpp - Test data from a seed ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/RandomTensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::metaop;

uint64_t SplitMix64::next() {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

static Scalar makeElement(ElementKind kind, uint64_t z) {
  auto makeFloat = [z](int digits) {
    double steps = static_cast<double>(z >> (64 - digits));
    return Scalar::ofFloat(std::ldexp(steps, 1 - digits) - 1);
  };
  switch (kind) {
  case ElementKind::Bool:
    return Scalar::ofBool(z >> 63);
  case ElementKind::F16:
    return makeFloat(11);
  case ElementKind::BF16:
    return makeFloat(8);
  case ElementKind::F32:
    return makeFloat(24);
  case ElementKind::F64:
    return makeFloat(53);
  case ElementKind::I8:
  case ElementKind::I16:
  case ElementKind::I32:
  case ElementKind::I64:
    return Scalar::ofSigned(static_cast<int64_t>((z >> 32) % 12) - 4);
  default:
    return Scalar::ofUnsigned(z >> 61);
  }
}

llvm::Expected<Tensor> metaop::makeRandomTensor(Type elementType,
                                                ArrayRef<int64_t> shape,
                                                SplitMix64 &generator) {
  llvm::Expected<Tensor> tensor = Tensor::create(elementType, shape);
  if (!tensor)
    return tensor;
  for (int64_t i = 0; i < tensor->getNumElements(); ++i)
    tensor->set(i, makeElement(tensor->getElementKind(), generator.next()));
  return tensor;
}
