//===- RoutineOps.cpp - The meaning of prefixes and sorts -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements along one dimension are a line. A prefix rounds each step to the
// type in which elements are computed, f32 for f16 and bf16; a sort is the
// stable one of the standard library.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Dialect/MetaOp/Prefix.h"
#include "OpTable.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::metaop;
using llvm::Expected;

/// Calls `visit` with the places of the elements of each line along `dim`.
static void forEachLine(ArrayRef<int64_t> shape, int64_t dim,
                        llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  int64_t extent = shape[dim], inner = 1, outer = 1;
  for (int64_t k = 0; k < dim; ++k)
    outer *= shape[k];
  for (int64_t k = dim + 1; k < static_cast<int64_t>(shape.size()); ++k)
    inner *= shape[k];
  SmallVector<int64_t> places(extent);
  for (int64_t line = 0; line < outer * inner; ++line) {
    int64_t first = line / inner * extent * inner + line % inner;
    for (int64_t k = 0; k < extent; ++k)
      places[k] = first + k * inner;
    visit(places);
  }
}

//===----------------------------------------------------------------------===//
// Prefixes
//===----------------------------------------------------------------------===//

/// log(e^x + e^y). Infinities of one sign have no difference.
static Scalar addLogs(Scalar x, Scalar y) {
  double a = x.getFloat(), b = y.getFloat();
  if (a == b)
    return Scalar::ofFloat(a + std::log(2.0));
  double difference = -std::fabs(a - b);
  return Scalar::ofFloat(std::fmax(a, b) + std::log1p(std::exp(difference)) +
                         (std::isnan(a + b) ? a + b : 0.0));
}

namespace {
/// h = a h' + x, for every kind with a factor.
class PrefixStep {
public:
  PrefixStep(PrefixKind kind, ElementKind element)
      : kind(kind), isSingle(element != ElementKind::F64),
        computed(element == ElementKind::F16 || element == ElementKind::BF16
                     ? ElementKind::F32
                     : element) {}

  Scalar combine(Scalar before, Scalar x, Scalar factor) const {
    return roundTo(computed, apply(before, x, factor));
  }
  Scalar multiply(Scalar x, Scalar y) const {
    return roundTo(computed, scalar::mul(x, y));
  }
  Scalar getIdentity(ElementKind element) const {
    switch (kind) {
    case PrefixKind::Add:
    case PrefixKind::Linear:
      return Scalar::ofInteger(element, 0);
    case PrefixKind::Mul:
      return Scalar::ofInteger(element, 1);
    case PrefixKind::Max:
      return getLimit(element, /*highest=*/false);
    case PrefixKind::Min:
      return getLimit(element, /*highest=*/true);
    case PrefixKind::LogAddExp:
      return Scalar::ofFloat(-std::numeric_limits<double>::infinity());
    }
    llvm_unreachable("all kinds are handled");
  }

private:
  static Scalar getLimit(ElementKind element, bool highest) {
    Scalar zero = Scalar::ofInteger(element, 0);
    if (zero.isFloat()) {
      double infinity = std::numeric_limits<double>::infinity();
      return Scalar::ofFloat(highest ? infinity : -infinity);
    }
    unsigned width = getWidth(element);
    APInt limit = zero.isSigned() ? (highest ? APInt::getSignedMaxValue(width)
                                             : APInt::getSignedMinValue(width))
                                  : (highest ? APInt::getMaxValue(width)
                                             : APInt::getMinValue(width));
    return zero.withBits(zero.isSigned()
                             ? static_cast<uint64_t>(limit.getSExtValue())
                             : limit.getZExtValue());
  }
  Scalar apply(Scalar before, Scalar x, Scalar factor) const {
    switch (kind) {
    case PrefixKind::Add:
      return scalar::add(before, x);
    case PrefixKind::Mul:
      return scalar::mul(before, x);
    case PrefixKind::Max:
      return scalar::max(before, x);
    case PrefixKind::Min:
      return scalar::min(before, x);
    case PrefixKind::LogAddExp:
      return addLogs(before, x);
    case PrefixKind::Linear:
      break;
    }
    if (!x.isFloat())
      return scalar::add(scalar::mul(factor, before), x);
    double a = factor.getFloat(), h = before.getFloat(), b = x.getFloat();
    return Scalar::ofFloat(isSingle ? std::fma(static_cast<float>(a),
                                               static_cast<float>(h),
                                               static_cast<float>(b))
                                    : std::fma(a, h, b));
  }

  PrefixKind kind;
  bool isSingle;
  ElementKind computed;
};
} // namespace

/// `visit` is given the number of each element and what all up to it make.
static void forEachPrefix(const PrefixStep &step, int64_t count,
                          llvm::function_ref<Scalar(int64_t)> getX,
                          llvm::function_ref<Scalar(int64_t)> getFactor,
                          llvm::function_ref<void(int64_t, Scalar)> visit) {
  Scalar carry;
  for (int64_t begin = 0; begin < count; begin += kPrefixBlock) {
    Scalar local, factors, result;
    for (int64_t k = begin; k < std::min(begin + kPrefixBlock, count); ++k) {
      Scalar x = getX(k), factor = getFactor(k);
      local = k == begin ? x : step.combine(local, x, factor);
      factors = k == begin ? factor : step.multiply(factors, factor);
      result = begin == 0 ? local : step.combine(carry, local, factors);
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
    SmallVector<int64_t> order(places);
    if (op.getReverse())
      std::reverse(order.begin(), order.end());
    int64_t count = order.size();
    if (op.getExclusive() && count > 0)
      result.set(order[0], step.getIdentity(element));
    forEachPrefix(
        step, count, [&](int64_t k) { return operands[0].get(order[k]); },
        [&](int64_t k) { return factors.get(order[k]); },
        [&](int64_t k, Scalar value) {
          int64_t place = k + (op.getExclusive() ? 1 : 0);
          if (place < count)
            result.set(order[place], value);
        });
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// NaN is the largest, and both zeros are equal.
static bool isBefore(Scalar x, Scalar y) {
  if (x.isFloat() && (std::isnan(x.getFloat()) || std::isnan(y.getFloat())))
    return !std::isnan(x.getFloat());
  return scalar::less(x, y);
}

/// The numbers of a line's elements, in order; stable in both directions.
static SmallVector<int64_t>
sortLine(const Tensor &source, ArrayRef<int64_t> places, bool descending) {
  SmallVector<int64_t> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t i, int64_t j) {
    Scalar x = source.get(places[i]), y = source.get(places[j]);
    if (descending)
      std::swap(x, y);
    return isBefore(x, y) || (!isBefore(y, x) && i < j);
  });
  return order;
}

/// The source's shape with the places that are wanted along the dimension.
template <typename OpT>
static Expected<Tensor> makeResult(OpT op, const Tensor &source) {
  SmallVector<int64_t> shape(source.getShape());
  int64_t count = op.getType().getDimSize(op.getDim());
  if (!ShapedType::isDynamic(count))
    shape[op.getDim()] = count;
  else
    shape[op.getDim()] -= op.getBegin();
  if (shape[op.getDim()] < 0 || int64_t(op.getBegin()) + shape[op.getDim()] >
                                    source.getShape()[op.getDim()])
    return llvm::createStringError(
        "the order of %lld elements lacks places that are wanted",
        static_cast<long long>(source.getShape()[op.getDim()]));
  return Tensor::create(op.getType().getElementType(), shape);
}

/// Tells `visit` the place in the result, the source's line and the number in
/// it of what comes at each wanted place.
template <typename OpT>
static Expected<Tensor> evaluateOrder(
    OpT op, const Tensor &source,
    llvm::function_ref<Scalar(ArrayRef<int64_t> places, int64_t number)>
        getResult) {
  Expected<Tensor> result = makeResult(op, source);
  if (!result)
    return result;
  SmallVector<SmallVector<int64_t>> targets;
  forEachLine(result->getShape(), op.getDim(),
              [&](ArrayRef<int64_t> places) { targets.emplace_back(places); });
  auto target = targets.begin();
  forEachLine(source.getShape(), op.getDim(), [&](ArrayRef<int64_t> places) {
    auto order = sortLine(source, places, op.getDescending());
    for (auto [k, place] : llvm::enumerate(*target++))
      result->set(place, getResult(places, order[op.getBegin() + k]));
  });
  return result;
}

static Expected<Tensor> evaluateSort(SortOp op, ArrayRef<Tensor> operands) {
  return evaluateOrder(op, operands[0],
                       [&](ArrayRef<int64_t> places, int64_t number) {
                         return operands[0].get(places[number]);
                       });
}

static Expected<Tensor> evaluateArgsort(ArgsortOp op,
                                        ArrayRef<Tensor> operands) {
  return evaluateOrder(op, operands[0], [](ArrayRef<int64_t>, int64_t number) {
    return Scalar::ofSigned(number);
  });
}

void metaop::addRoutineOps(OpFunctions &functions) {
  addOp<PrefixOp>(functions, evaluatePrefix);
  addOp<SortOp>(functions, evaluateSort);
  addOp<ArgsortOp>(functions, evaluateArgsort);
}
