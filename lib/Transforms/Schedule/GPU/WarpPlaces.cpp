//===- WarpPlaces.cpp - Places that a warp accesses -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are the emulator's (lib/Runtime/Emulator/Requests.cpp): accesses of
// more than a word are of as many threads at a time as have words in all banks.
//
//===----------------------------------------------------------------------===//

#include "WarpPlaces.h"
#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

#include <array>

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

/// A number out of a tensor is so far from that of the next iteration, in
/// elements.
static constexpr int64_t kApart = 97;

/// The rest of a division, at least 0.
static int64_t getRest(int64_t number, int64_t divisor) {
  return number - llvm::divideFloorSigned(number, divisor) * divisor;
}

/// Calls `visit` with each of the units of so many bytes that some threads
/// access, once. Places that no element has, which conditions leave out, may be
/// below 0.
static void forEachUnit(ArrayRef<int64_t> addresses, int64_t bytes,
                        int64_t unitBytes, function_ref<void(int64_t)> visit) {
  llvm::SmallSet<int64_t, 32> seen;
  for (int64_t address : addresses) {
    int64_t last = llvm::divideFloorSigned(address + bytes - 1, unitBytes);
    for (int64_t unit = llvm::divideFloorSigned(address, unitBytes);
         unit <= last; ++unit)
      if (seen.insert(unit).second)
        visit(unit);
  }
}

int64_t WarpRequest::countPasses() const {
  int64_t together =
      Chip::kWarpThreads * Chip::kBankBytes / std::max(bytes, Chip::kBankBytes);
  int64_t passes = 0;
  for (ArrayRef<int64_t> rest = addresses; !rest.empty();) {
    std::array<int64_t, Chip::kBanks> words = {};
    int64_t count = std::min<int64_t>(together, rest.size()), most = 0;
    forEachUnit(rest.take_front(count), bytes, Chip::kBankBytes,
                [&](int64_t word) {
                  int64_t bank = getRest(word, Chip::kBanks);
                  most = std::max(most, ++words[bank]);
                });
    passes += most;
    rest = rest.drop_front(count);
  }
  return passes;
}

int64_t WarpRequest::countLines() const {
  int64_t lines = 0;
  forEachUnit(addresses, bytes, kFirstLineBytes, [&](int64_t) { ++lines; });
  return lines;
}

WarpPlaces::WarpPlaces(const ThreadLevels &levels) : stage(levels.getStage()) {
  int64_t count = std::min(levels.getNumThreads(), Chip::kWarpThreads);
  for (int64_t thread = 0; thread < count; ++thread) {
    SmallVector<int64_t> positions(stage.getNumLoops(), 0);
    for (const ThreadLevels::Distributed &level : levels.getDistributed())
      positions[level.dim] += thread / level.stride % level.count * level.step;
    threads.push_back(std::move(positions));
  }
}

/// Numbers out of tensors, which decide places, lie apart.
int64_t WarpPlaces::evaluateSymbol(unsigned symbol,
                                   ArrayRef<int64_t> positions) const {
  const StageSymbol &known = stage.symbols[symbol];
  if (known.kind == StageSymbol::Kind::Scalar)
    return 0;
  if (known.kind != StageSymbol::Kind::Indirect)
    return kAssumedExtent;
  int64_t number = 0;
  SmallBitVector loops = stage.getLoopsOf(known.value);
  for (unsigned loop : loops.set_bits())
    number += kApart * positions[loop];
  return number;
}

int64_t WarpPlaces::evaluate(AffineExpr expr,
                             ArrayRef<int64_t> positions) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return positions[loop.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return evaluateSymbol(symbol.getPosition(), positions);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = evaluate(binary.getLHS(), positions);
  int64_t rhs = evaluate(binary.getRHS(), positions);
  if (expr.getKind() == AffineExprKind::Add)
    return lhs + rhs;
  if (expr.getKind() == AffineExprKind::Mul)
    return lhs * rhs;
  if (rhs <= 0)
    return 0;
  if (expr.getKind() == AffineExprKind::Mod)
    return getRest(lhs, rhs);
  return expr.getKind() == AffineExprKind::FloorDiv
             ? llvm::divideFloorSigned(lhs, rhs)
             : llvm::divideCeilSigned(lhs, rhs);
}

WarpRequest WarpPlaces::request(PlaceFn getPlace, int64_t elementBytes,
                                int64_t bytes) const {
  WarpRequest request;
  request.bytes = bytes;
  for (ArrayRef<int64_t> positions : threads)
    request.addresses.push_back(getPlace(positions) * elementBytes);
  return request;
}
