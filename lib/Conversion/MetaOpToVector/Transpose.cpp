//===- Transpose.cpp - Transposes in registers ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transpose of 2^k vectors is k rounds in which vector i is interleaved with
// vector i + 2^(k-1), giving vectors 2i and 2i + 1: each round turns the bits
// of an element's number, row and lane together, by one place.
//
//===----------------------------------------------------------------------===//

#include "Transpose.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

SmallVector<Value, 4> metaop::emitTranspose(OpBuilder &b, Location loc,
                                            SmallVector<Value, 4> rows,
                                            int64_t lanes) {
  int64_t half = lanes / 2;
  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < half; ++lane) {
    low.append({lane, lanes + lane});
    high.append({half + lane, lanes + half + lane});
  }
  for (int64_t round = 1; round < lanes; round *= 2) {
    SmallVector<Value, 4> next;
    for (int64_t i = 0; i < half; ++i)
      for (ArrayRef<int64_t> order : {low, high})
        next.push_back(
            vector::ShuffleOp::create(b, loc, rows[i], rows[half + i], order));
    rows = std::move(next);
  }
  return rows;
}
