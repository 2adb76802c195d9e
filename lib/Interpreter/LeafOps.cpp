//===- LeafOps.cpp - The meaning of ops without tensor inputs -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers and scalars are no part of this file: their values come from the
// user of the interpreter.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "OpTable.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::metaop;
using llvm::Expected;

static Expected<Tensor> evaluateConstant(ConstantOp op, ArrayRef<Tensor>) {
  return Tensor::fromElements(op.getValue());
}

static Expected<Tensor> evaluateIota(IotaOp op, ArrayRef<Tensor> operands) {
  Expected<Tensor> result =
      createResult(op.getResult(), valuesOf(op.getExtents(), operands));
  if (!result)
    return result;
  ElementKind kind = result->getElementKind();
  forEachIndex(result->getShape(), [&](ArrayRef<int64_t> i, int64_t position) {
    result->set(position,
                convert(kind, Scalar::ofSigned(i[op.getDimension()])));
  });
  return result;
}

/// Philox2x32-10 of Salmon et al. (SC 2011), with the names of the paper.
static std::array<uint32_t, 2> philox(std::array<uint32_t, 2> counter,
                                      uint32_t key) {
  constexpr uint64_t multiplier = 0xD256D193;
  constexpr uint32_t weyl = 0x9E3779B9;
  for (int round = 0; round < 10; ++round) {
    uint64_t product = multiplier * counter[0];
    counter = {uint32_t(product >> 32) ^ key ^ counter[1], uint32_t(product)};
    key += weyl;
  }
  return counter;
}

/// The element that the words of one block make.
static Scalar toUniform(ElementKind kind, std::array<uint32_t, 2> words) {
  switch (kind) {
  case ElementKind::F32:
    return Scalar::ofFloat(std::ldexp(words[0] >> 8, -24));
  case ElementKind::F16:
    return Scalar::ofFloat(std::ldexp(words[0] >> 21, -11));
  case ElementKind::BF16:
    return Scalar::ofFloat(std::ldexp(words[0] >> 24, -8));
  case ElementKind::F64: {
    uint64_t bits = (uint64_t(words[1]) << 32 | words[0]) >> 11;
    return Scalar::ofFloat(std::ldexp(static_cast<double>(bits), -53));
  }
  default:
    return Scalar::ofUnsigned(words[0]);
  }
}

static Expected<Tensor> evaluateRandom(RandomOp op, ArrayRef<Tensor> operands) {
  Expected<Tensor> result =
      createResult(op.getResult(), valuesOf(op.getExtents(), operands));
  if (!result)
    return result;
  uint64_t key = operands[0].get(0).getBits();
  uint64_t counter = operands[1].get(0).getBits();
  for (int64_t i = 0; i < result->getNumElements(); ++i) {
    uint64_t position = counter + static_cast<uint64_t>(i);
    std::array<uint32_t, 2> words = philox(
        {uint32_t(position), uint32_t((position ^ key) >> 32)}, uint32_t(key));
    result->set(i, toUniform(result->getElementKind(), words));
  }
  return result;
}

void metaop::addLeafOps(OpFunctions &functions) {
  addOp<ConstantOp>(functions, evaluateConstant);
  addOp<IotaOp>(functions, evaluateIota);
  addOp<RandomOp>(functions, evaluateRandom);
}
