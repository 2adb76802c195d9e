//===- Contraction.cpp - Sums of products ---------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The value that is summed is a product. The loops that each factor depends on,
// and those that the result keeps, sort the loops:
//
//              | both factors | one factor
//   -----------+--------------+-----------
//   kept       | batch        | own (m or n)
//   summed     | reduced (k)  | reduced
//
// A reduced loop that is added to a kept one where a factor is read is one of a
// window.
//
// A factor is an expression of reads and element-wise operations (its
// prologue); numbers out of tensors, and values that only an iteration's number
// gives, have no place in it.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StageRoles.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

bool Contraction::Factor::isInPlace(const Stage &stage) const {
  return reads.size() == 1 && reads.front()->value == value &&
         !reads.front()->place.isGuarded();
}

/// Collects the reads below a value. Returns false where there is something
/// else.
static bool collectReads(const Stage &stage, Value value,
                         llvm::SmallDenseSet<Value> &seen,
                         SmallVectorImpl<const StageRead *> &reads) {
  if (!seen.insert(value).second)
    return true;
  // Booleans are bytes in memory and bits elsewhere.
  if (getElementTypeOrSelf(value.getType()).isInteger(1))
    return false;
  if (const StageRead *read = stage.findRead(value);
      read != stage.reads.end()) {
    reads.push_back(read);
    return !read->isIndirect && !stage.isIndirect(read->place);
  }
  Operation *op = value.getDefiningOp();
  if (!op || !isa<ElementwiseOpInterface>(op))
    return isa_and_nonnull<ConstantOp>(op);
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return collectReads(stage, operand, seen, reads);
  });
}

/// Returns the reduced loops that an index of a factor's tensor is a function
/// of together with a kept loop.
static SmallBitVector findWindow(const Contraction &contraction) {
  SmallBitVector window(contraction.reduced.size());
  for (const Contraction::Factor &factor : contraction.factors)
    for (const StageRead *read : factor.reads)
      for (AffineExpr index : read->map.getResults()) {
        SmallBitVector loops(window.size());
        for (unsigned loop = 0; loop < loops.size(); ++loop)
          loops[loop] = index.isFunctionOfDim(loop);
        SmallBitVector summed = loops;
        summed &= contraction.reduced;
        if (summed != loops)
          window |= summed;
      }
  return window;
}

std::optional<Contraction> Contraction::match(const Stage &stage) {
  if (stage.writes.size() != 1)
    return std::nullopt;
  const StageWrite &write = stage.writes.front();
  auto product = write.value.getDefiningOp<MulOp>();
  if (write.kind != Combiner::Add || !write.isProjection || !product ||
      stage.isIndirect(write.place))
    return std::nullopt;

  Contraction result;
  unsigned numLoops = stage.getNumLoops();
  result.batch = result.reduced = SmallBitVector(numLoops);
  for (auto [factor, operand] :
       llvm::zip_equal(result.factors, product->getOperands())) {
    factor.value = operand;
    factor.own = SmallBitVector(numLoops);
    llvm::SmallDenseSet<Value> seen;
    if (!collectReads(stage, operand, seen, factor.reads))
      return std::nullopt;
  }
  auto &[lhs, rhs] = result.factors;
  SmallBitVector loopsOfLhs = stage.getLoopsOf(lhs.value);
  SmallBitVector loopsOfRhs = stage.getLoopsOf(rhs.value);
  loopsOfLhs.resize(numLoops);
  loopsOfRhs.resize(numLoops);
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    bool isInLhs = loopsOfLhs.test(loop), isInRhs = loopsOfRhs.test(loop);
    if (!write.loops.test(loop))
      result.reduced.set(loop);
    else if (isInLhs == isInRhs)
      result.batch.set(loop);
    else
      (isInLhs ? lhs : rhs).own.set(loop);
  }
  if (lhs.own.none() || rhs.own.none() || result.reduced.none())
    return std::nullopt;
  result.window = findWindow(result);
  return result;
}

std::string Contraction::describe() const {
  SmallBitVector k = reduced;
  k.reset(window);
  std::string text;
  llvm::raw_string_ostream os(text);
  std::pair<StringRef, const SmallBitVector &> parts[] = {{"batch", batch},
                                                          {"m", factors[0].own},
                                                          {"n", factors[1].own},
                                                          {"k", k},
                                                          {"window", window}};
  for (const auto &[name, loops] : parts) {
    if (loops.none())
      continue;
    os << (text.empty() ? "" : ", ") << name;
    for (unsigned loop : loops.set_bits())
      os << " d" << loop;
  }
  return text;
}

FailureOr<bool> metaop::isContraction(FusedOp op) {
  // Most stages are none by their bodies alone.
  if (!sumsProducts(op))
    return false;
  FailureOr<Stage> stage = Stage::build(op);
  if (failed(stage))
    return failure();
  return Contraction::match(*stage).has_value();
}

bool metaop::isTiled(ScheduleAttr schedule) {
  return !schedule.isFlat() || schedule.getTranspose() >= 0 ||
         llvm::any_of(schedule.getLevels(), [](const LoopLevel &level) {
           return level.tail == LevelTail::Sizes;
         });
}

bool metaop::isTiledContraction(FusedOp op) {
  return op.hasRole(StageRole::Contraction) && isTiled(op.getScheduleAttr());
}
