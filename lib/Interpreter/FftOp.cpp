//===- FftOp.cpp - The meaning of Fourier transforms ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each result is the sum that defines it, in f64: n * n products for n
// elements.
//
//===----------------------------------------------------------------------===//

#include "Lines.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "OpTable.h"
#include "llvm/Support/MathExtras.h"

#include <complex>

using namespace mlir;
using namespace mlir::metaop;
using llvm::Expected;

using Complex = std::complex<double>;
using Elements = std::vector<Complex>;

/// Transforms one line in place.
static void transformLine(Elements &elements, ArrayRef<int64_t> places,
                          const Elements &roots) {
  int64_t n = places.size();
  Elements sums(n);
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0, power = 0; j < n; ++j) {
      sums[k] += elements[places[j]] * roots[power];
      power += k;
      if (power >= n)
        power -= n;
    }
  for (auto [place, sum] : llvm::zip_equal(places, sums))
    elements[place] = sum;
}

static void transform(Elements &elements, ArrayRef<int64_t> shape, int64_t dim,
                      bool isInverse) {
  int64_t n = shape[dim];
  double sign = isInverse ? 1 : -1, step = sign * 2 * llvm::numbers::pi / n;
  // Those of quarters of a turn are exact.
  const Complex quarters[] = {{1, 0}, {0, sign}, {-1, 0}, {0, -sign}};
  Elements roots(n);
  for (int64_t k = 0; k < n; ++k)
    roots[k] = 4 * k % n == 0 ? quarters[4 * k / n]
                              : Complex(std::cos(step * k), std::sin(step * k));
  forEachLine(shape, dim, [&](ArrayRef<int64_t> places) {
    transformLine(elements, places, roots);
  });
}

static Elements readElements(ArrayRef<Tensor> operands) {
  Elements elements(operands[0].getNumElements());
  for (auto [number, element] : llvm::enumerate(elements))
    element = {operands[0].get(number).getFloat(),
               operands.size() == 2 ? operands[1].get(number).getFloat() : 0};
  return elements;
}

/// Makes lines along `dim` of other extents: `read` returns an element, given
/// the places of the line that was there.
static Elements
copyLines(const Elements &elements, ArrayRef<int64_t> from,
          ArrayRef<int64_t> to, int64_t dim,
          llvm::function_ref<Complex(ArrayRef<int64_t>, int64_t)> read) {
  Elements copied(ShapedType::getNumElements(to));
  std::vector<std::vector<int64_t>> sources;
  forEachLine(from, dim, [&](ArrayRef<int64_t> places) {
    sources.push_back(places.vec());
  });
  auto source = sources.begin();
  forEachLine(to, dim, [&](ArrayRef<int64_t> places) {
    for (auto [k, place] : llvm::enumerate(places))
      copied[place] = read(*source, k);
    ++source;
  });
  return copied;
}

/// Makes all n results of transforms of real numbers: those from the middle on
/// are the conjugates of the others.
static Elements mirror(const Elements &elements, ArrayRef<int64_t> from,
                       ArrayRef<int64_t> to, int64_t dim) {
  int64_t n = to[dim];
  return copyLines(elements, from, to, dim,
                   [&](ArrayRef<int64_t> line, int64_t k) -> Complex {
                     if (k == 0 || 2 * k == n)
                       return elements[line[k]].real();
                     return 2 * k < n ? elements[line[k]]
                                      : std::conj(elements[line[n - k]]);
                   });
}

/// Leaves those results of transforms of real numbers that are not conjugates
/// of others.
static Elements halve(const Elements &elements, ArrayRef<int64_t> from,
                      ArrayRef<int64_t> to, int64_t dim) {
  return copyLines(
      elements, from, to, dim,
      [&](ArrayRef<int64_t> line, int64_t k) { return elements[line[k]]; });
}

static Expected<Tensors> evaluateFft(FftOp op, ArrayRef<Tensor> operands) {
  SmallVector<int64_t> shape(operands[0].getShape());
  Elements elements = readElements(operands);
  ArrayRef<int64_t> dims = op.getDims();
  int64_t last = dims.back();
  for (int64_t dim : dims.drop_back())
    transform(elements, shape, dim, op.getInverse());
  if (op.isToReal()) {
    SmallVector<int64_t> full = shape;
    full[last] = op.getLength();
    elements = mirror(elements, shape, full, last);
    shape = full;
  }
  transform(elements, shape, last, op.getInverse());
  if (op.isFromReal()) {
    SmallVector<int64_t> half = shape;
    half[last] = shape[last] / 2 + 1;
    elements = halve(elements, shape, half, last);
    shape = half;
  }
  Tensors results;
  for (Value output : op.getOutputs()) {
    Expected<Tensor> result =
        Tensor::create(getElementTypeOrSelf(output), shape);
    if (!result)
      return result.takeError();
    bool isImaginary = !results.empty();
    for (auto [number, element] : llvm::enumerate(elements)) {
      Complex scaled = element * op.getScale().convertToDouble();
      result->set(number,
                  Scalar::ofFloat(isImaginary ? scaled.imag() : scaled.real()));
    }
    results.push_back(std::move(*result));
  }
  return results;
}

void metaop::addFftOp(OpFunctions &functions) {
  functions[FftOp::getOperationName()] = [](Operation *op,
                                            ArrayRef<Tensor> operands) {
    return evaluateFft(cast<FftOp>(op), operands);
  };
}
