//===- GivenData.cpp - Numbers that were given as data --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/GivenData.h"

#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Runtime/Graph/Promotion.h"

#include <cstring>

using namespace metaops;
namespace metaop = mlir::metaop;

bool metaops::isGivenData(const Node &node) {
  constexpr int64_t maxElements = 1 << 16;
  return mlir::isa<metaop::BufferOp>(node.op) && node.buffer && !node.ready &&
         !node.buffer->getDeviceMemory() && !node.buffer->isForeign() &&
         !node.buffer->exported() &&
         getNumElements(node.shape()) <= maxElements;
}

std::optional<double> metaops::findOutside(const Node &node, double lowest,
                                           double highest) {
  auto isOutside = [&](double value) {
    return !(lowest <= value && value <= highest);
  };
  if (node.isScalar) {
    double value = Number::decode(node.scalar, node.dtype).getDouble();
    return isOutside(value) ? std::optional(value) : std::nullopt;
  }
  if (!isGivenData(node))
    return std::nullopt;
  auto size = static_cast<size_t>(sizeOf(node.dtype));
  const auto *at = static_cast<const char *>(node.buffer->data());
  for (int64_t left = getNumElements(node.shape()); left > 0;
       --left, at += size) {
    uint64_t bits = 0;
    std::memcpy(&bits, at, size);
    if (double value = Number::decode(bits, node.dtype).getDouble();
        isOutside(value))
      return value;
  }
  return std::nullopt;
}
