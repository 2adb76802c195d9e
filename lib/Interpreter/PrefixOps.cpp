//===- PrefixOps.cpp - The meaning of prefixes ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A prefix rounds each step to the type in which elements are computed, f32 for
// f16 and bf16.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "Lines.h"
#include "OpTable.h"

#include <cmath>

using namespace mlir;
using namespace mlir::metaop;
using llvm::Expected;

namespace {
/// A step, rounded.
class PrefixStep {
public:
  PrefixStep(Combiner kind, ElementKind element)
      : kind(kind), isSingle(element != ElementKind::F64),
        computed(element == ElementKind::F16 || element == ElementKind::BF16
                     ? ElementKind::F32
                     : element) {}

  Scalar combine(Scalar before, Scalar x, Scalar factor) const {
    return roundTo(computed, apply(before, x, factor));
  }

private:
  Scalar apply(Scalar before, Scalar x, Scalar factor) const {
    if (auto combine = getCombiner(kind))
      return combine(before, x);
    if (!x.isFloat())
      return scalar::add(scalar::mul(factor, before), x);
    double a = factor.getFloat(), h = before.getFloat(), b = x.getFloat();
    return Scalar::ofFloat(isSingle ? std::fma(static_cast<float>(a),
                                               static_cast<float>(h),
                                               static_cast<float>(b))
                                    : std::fma(a, h, b));
  }

  Combiner kind;
  bool isSingle;
  ElementKind computed;
};
} // namespace

/// `visit` is given the number of each element and what all up to it make.
static void forEachPrefix(const PrefixStep &step, int64_t block, int64_t count,
                          llvm::function_ref<Scalar(int64_t)> getX,
                          llvm::function_ref<Scalar(int64_t)> getFactor,
                          llvm::function_ref<void(int64_t, Scalar)> visit) {
  Scalar carry;
  for (int64_t begin = 0; begin < count; begin += block) {
    Scalar local, result;
    for (int64_t k = begin; k < std::min(begin + block, count); ++k) {
      local = k == begin ? getX(k) : step.combine(local, getX(k), getFactor(k));
      // Kinds with factors have one block.
      result = begin == 0 ? local : step.combine(carry, local, Scalar());
      visit(k, result);
    }
    carry = result;
  }
}

static Expected<Tensor> evaluatePrefix(PrefixOp op, ArrayRef<Tensor> operands) {
  Tensor result = operands[0];
  ElementKind element = result.getElementKind();
  PrefixStep step(op.getKind(), element);
  const Tensor &factors = operands.back();
  forEachLine(result.getShape(), op.getDim(), [&](ArrayRef<int64_t> places) {
    std::vector<int64_t> order(places.begin(), places.end());
    if (op.getReverse())
      std::reverse(order.begin(), order.end());
    int64_t count = order.size();
    if (op.getExclusive() && count > 0)
      result.set(order[0], getIdentity(op.getKind(), element));
    forEachPrefix(
        step, op.getBlock().value_or(count), count,
        [&](int64_t k) { return operands[0].get(order[k]); },
        [&](int64_t k) { return factors.get(order[k]); },
        [&](int64_t k, Scalar value) {
          int64_t place = k + (op.getExclusive() ? 1 : 0);
          if (place < count)
            result.set(order[place], value);
        });
  });
  return result;
}

void metaop::addPrefixOps(OpFunctions &functions) {
  addOp<PrefixOp>(functions, evaluatePrefix);
}
