//===- ColumnFft.cpp - Fourier transforms of columns ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stockham's transforms: a pass takes rows from one tile and leaves them in
// another at the places where the next one takes them, so that none puts them
// into order (P. Swarztrauber, "FFT algorithms for vector computers", 1984).
// With rows x, n' = radix * groups and w = exp(-2 pi i / n'), a pass is
//
//   y[q + span * (radix * p + k)]
//       = w^(p k) * sum over j of x[q + span * (p + groups * j)] * v^(j k)
//
// for p < groups, q < span, k < radix, where v = exp(-2 pi i / radix). Then
// groups is divided by the next radix, and span multiplied by this one.
//
// Radices 2, 4 and 8 are written out. Odd ones take rows in pairs: the sum of
// two is multiplied by cosines, their difference by sines.
//
// Highway includes this file once for each instruction set.
//
//===----------------------------------------------------------------------===//

#include "VectorTarget.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ColumnFft.cpp"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "ColumnFft.h"
#include "llvm/Support/ErrorHandling.h"

#include <array>

//===----------------------------------------------------------------------===//
// For each instruction set
//===----------------------------------------------------------------------===//

// All of this has to have a name of its own for each instruction set.
// NOLINTBEGIN(misc-use-internal-linkage, misc-unused-alias-decls)
HWY_BEFORE_NAMESPACE();
namespace metaops {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T> using Tag = hn::CappedTag<T, kTileWidth<T>>;
template <typename T> using Vector = hn::Vec<Tag<T>>;

/// The numbers of a butterfly: a vector of columns from each of its rows.
template <typename T, int kRadix> struct Rows {
  Vector<T> real[kRadix], imag[kRadix];

  HWY_INLINE void add(int to, int x, int y, const Rows &from) {
    real[to] = hn::Add(from.real[x], from.real[y]);
    imag[to] = hn::Add(from.imag[x], from.imag[y]);
  }
  HWY_INLINE void subtract(int to, int x, int y, const Rows &from) {
    real[to] = hn::Sub(from.real[x], from.real[y]);
    imag[to] = hn::Sub(from.imag[x], from.imag[y]);
  }
};

//===----------------------------------------------------------------------===//
// Butterflies
//===----------------------------------------------------------------------===//

template <typename T> HWY_INLINE void transformRows(Rows<T, 1> &) {}

template <typename T> HWY_INLINE void transformRows(Rows<T, 2> &rows) {
  Rows<T, 2> given = rows;
  rows.add(0, 0, 1, given);
  rows.subtract(1, 0, 1, given);
}

/// Transforms four numbers of which the sums and differences of those two apart
/// are given.
template <typename T, int kRadix>
HWY_INLINE void finishFour(const Rows<T, 4> &x, Rows<T, kRadix> &to, int first,
                           int step) {
  auto put = [&](int k, Vector<T> real, Vector<T> imag) HWY_ATTR {
    to.real[first + k * step] = real;
    to.imag[first + k * step] = imag;
  };
  put(0, hn::Add(x.real[0], x.real[1]), hn::Add(x.imag[0], x.imag[1]));
  put(2, hn::Sub(x.real[0], x.real[1]), hn::Sub(x.imag[0], x.imag[1]));
  put(1, hn::Add(x.real[2], x.imag[3]), hn::Sub(x.imag[2], x.real[3]));
  put(3, hn::Sub(x.real[2], x.imag[3]), hn::Add(x.imag[2], x.real[3]));
}

template <typename T> HWY_INLINE void transformRows(Rows<T, 4> &rows) {
  Rows<T, 4> x;
  x.add(0, 0, 2, rows);
  x.add(1, 1, 3, rows);
  x.subtract(2, 0, 2, rows);
  x.subtract(3, 1, 3, rows);
  finishFour(x, rows, 0, 1);
}

template <typename T> HWY_INLINE void transformRows(Rows<T, 8> &rows) {
  const Tag<T> tag;
  Rows<T, 8> x;
  for (int k = 0; k < 4; ++k) {
    x.add(k, k, k + 4, rows);
    x.subtract(k + 4, k, k + 4, rows);
  }
  // Differences times powers of exp(-2 pi i / 8).
  const auto half = hn::Set(tag, static_cast<T>(0.70710678118654752440));
  const auto sum1 = hn::Add(x.real[5], x.imag[5]);
  x.imag[5] = hn::Mul(half, hn::Sub(x.imag[5], x.real[5]));
  x.real[5] = hn::Mul(half, sum1);
  std::swap(x.real[6], x.imag[6]);
  x.imag[6] = hn::Neg(x.imag[6]);
  const auto sum3 = hn::Add(x.real[7], x.imag[7]);
  x.real[7] = hn::Mul(half, hn::Sub(x.imag[7], x.real[7]));
  x.imag[7] = hn::Neg(hn::Mul(half, sum3));
  Rows<T, 4> part;
  for (int odd = 0; odd < 2; ++odd) {
    for (int k = 0; k < 2; ++k) {
      int first = 4 * odd + k;
      part.real[k] = hn::Add(x.real[first], x.real[first + 2]);
      part.imag[k] = hn::Add(x.imag[first], x.imag[first + 2]);
      part.real[k + 2] = hn::Sub(x.real[first], x.real[first + 2]);
      part.imag[k + 2] = hn::Sub(x.imag[first], x.imag[first + 2]);
    }
    finishFour(part, rows, odd, 2);
  }
}

/// The cosines and sines of 2 pi k / radix, for k from 1 to half of the radix.
template <int kRadix> struct OddRoots;
template <> struct OddRoots<3> {
  static constexpr double kCos[] = {-0.5};
  static constexpr double kSin[] = {0.86602540378443864676};
};
template <> struct OddRoots<5> {
  static constexpr double kCos[] = {0.3090169943749474241,
                                    -0.8090169943749474241};
  static constexpr double kSin[] = {0.95105651629515357212,
                                    0.58778525229247312917};
};
template <> struct OddRoots<7> {
  static constexpr double kCos[] = {
      0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624};
  static constexpr double kSin[] = {
      0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048};
};
template <> struct OddRoots<11> {
  static constexpr double kCos[] = {
      0.84125353283118116886, 0.41541501300188642553, -0.14231483827328514044,
      -0.65486073394528506406, -0.95949297361449738989};
  static constexpr double kSin[] = {
      0.54064081745559758211, 0.90963199535451837141, 0.98982144188093273238,
      0.75574957435425828377, 0.28173255684142969771};
};
template <> struct OddRoots<13> {
  static constexpr double kCos[] = {
      0.8854560256532098959,   0.56806474673115580251,
      0.12053668025532305335,  -0.35460488704253562597,
      -0.74851074817110109863, -0.97094181742605202716};
  static constexpr double kSin[] = {
      0.46472317204376854566, 0.82298386589365639458, 0.9927088740980539928,
      0.93501624268541482344, 0.66312265824079520238, 0.23931566428755776715};
};

template <typename T, int kRadix>
HWY_INLINE void transformRows(Rows<T, kRadix> &rows) {
  using Roots = OddRoots<kRadix>;
  const Tag<T> tag;
  constexpr int kPairs = kRadix / 2;
  Rows<T, kRadix> x;
  x.real[0] = rows.real[0];
  x.imag[0] = rows.imag[0];
  for (int j = 1; j <= kPairs; ++j) {
    x.add(j, j, kRadix - j, rows);
    x.subtract(kRadix - j, j, kRadix - j, rows);
    rows.real[0] = hn::Add(rows.real[0], x.real[j]);
    rows.imag[0] = hn::Add(rows.imag[0], x.imag[j]);
  }
  HWY_UNROLL(6)
  for (int k = 1; k <= kPairs; ++k) {
    auto evenReal = x.real[0], evenImag = x.imag[0];
    auto oddReal = hn::Zero(tag), oddImag = hn::Zero(tag);
    HWY_UNROLL(6)
    for (int j = 1; j <= kPairs; ++j) {
      int power = j * k % kRadix;
      bool isMirrored = power > kPairs;
      power = isMirrored ? kRadix - power : power;
      const auto cosine = hn::Set(tag, static_cast<T>(Roots::kCos[power - 1]));
      const auto sine =
          hn::Set(tag, static_cast<T>(isMirrored ? -Roots::kSin[power - 1]
                                                 : Roots::kSin[power - 1]));
      evenReal = hn::MulAdd(x.real[j], cosine, evenReal);
      evenImag = hn::MulAdd(x.imag[j], cosine, evenImag);
      oddReal = hn::MulAdd(x.real[kRadix - j], sine, oddReal);
      oddImag = hn::MulAdd(x.imag[kRadix - j], sine, oddImag);
    }
    rows.real[k] = hn::Add(evenReal, oddImag);
    rows.imag[k] = hn::Sub(evenImag, oddReal);
    rows.real[kRadix - k] = hn::Sub(evenReal, oddImag);
    rows.imag[kRadix - k] = hn::Add(evenImag, oddReal);
  }
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// Factors of the results of a butterfly.
enum class Factors { None, Roots, Scale };

/// Transforms the rows of one group.
template <typename T, int kRadix, Factors kFactors>
HWY_INLINE void runGroup(const ColumnPass &pass, int64_t group,
                         const T *HWY_RESTRICT roots, Planes<T> from,
                         Planes<T> to, T scale) {
  const Tag<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  const int64_t step = pass.span * pass.groups * from.stride;
  const int64_t toStep = pass.span * to.stride;
  const auto factor = hn::Set(tag, scale);
  for (int64_t q = 0; q < pass.span; ++q) {
    const int64_t source = (q + pass.span * group) * from.stride;
    const int64_t target = (q + pass.span * kRadix * group) * to.stride;
    for (int64_t column = 0; column < kTileWidth<T>; column += lanes) {
      Rows<T, kRadix> rows;
      for (int k = 0; k < kRadix; ++k) {
        const int64_t place = source + k * step + column;
        rows.real[k] = hn::LoadU(tag, from.real + place);
        rows.imag[k] = hn::LoadU(tag, from.imag + place);
      }
      transformRows(rows);
      for (int k = 0; k < kRadix; ++k) {
        auto real = rows.real[k], imag = rows.imag[k];
        if (kFactors == Factors::Roots && k > 0) {
          const auto cosine = hn::Set(tag, roots[2 * k - 2]);
          const auto sine = hn::Set(tag, roots[2 * k - 1]);
          const auto crossed = hn::Mul(real, sine);
          real = hn::MulSub(real, cosine, hn::Mul(imag, sine));
          imag = hn::MulAdd(imag, cosine, crossed);
        } else if (kFactors == Factors::Scale) {
          real = hn::Mul(real, factor);
          imag = hn::Mul(imag, factor);
        }
        const int64_t place = target + k * toStep + column;
        hn::StoreU(real, tag, to.real + place);
        hn::StoreU(imag, tag, to.imag + place);
      }
    }
  }
}

template <typename T, int kRadix>
void runRadix(const ColumnPass &pass, const T *roots, Planes<T> from,
              Planes<T> to, T scale) {
  // Those of the first group are 1, and the last pass has no other.
  if (pass.groups == 1)
    return runGroup<T, kRadix, Factors::Scale>(pass, 0, roots, from, to, scale);
  runGroup<T, kRadix, Factors::None>(pass, 0, roots, from, to, scale);
  for (int64_t group = 1; group < pass.groups; ++group)
    runGroup<T, kRadix, Factors::Roots>(
        pass, group, roots + 2 * group * (kRadix - 1), from, to, scale);
}

template <typename T>
void runPass(const ColumnPass &pass, const T *roots, Planes<T> from,
             Planes<T> to, T scale) {
  switch (pass.radix) {
  case 1:
    return runRadix<T, 1>(pass, roots, from, to, scale);
  case 2:
    return runRadix<T, 2>(pass, roots, from, to, scale);
  case 3:
    return runRadix<T, 3>(pass, roots, from, to, scale);
  case 4:
    return runRadix<T, 4>(pass, roots, from, to, scale);
  case 5:
    return runRadix<T, 5>(pass, roots, from, to, scale);
  case 7:
    return runRadix<T, 7>(pass, roots, from, to, scale);
  case 8:
    return runRadix<T, 8>(pass, roots, from, to, scale);
  case 11:
    return runRadix<T, 11>(pass, roots, from, to, scale);
  case 13:
    return runRadix<T, 13>(pass, roots, from, to, scale);
  }
  llvm_unreachable("lengths are products of these");
}

} // namespace HWY_NAMESPACE
} // namespace metaops
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-use-internal-linkage, misc-unused-alias-decls)

//===----------------------------------------------------------------------===//
// The choice of one
//===----------------------------------------------------------------------===//

#if HWY_ONCE

using namespace metaops;

template <typename T> using RunPass = decltype(&HWY_NAMESPACE::runPass<T>);

#define METAOPS_RUN_PASS(target) target::runPass<T>

/// Returns the pass of the best set that this processor has.
template <typename T> static RunPass<T> chooseRunPass() {
  METAOPS_RETURN_BEST(METAOPS_RUN_PASS);
}

template <typename T>
Planes<T> metaops::transformColumns(const ColumnFft<T> &fft, Planes<T> from,
                                    Planes<T> to, T *scratch, T scale) {
  static const RunPass<T> runPass = chooseRunPass<T>();
  auto [first, second] = getTiles<T>(scratch, fft.length);
  Planes<T> other = first, next = second;
  if (from.real == second.real || from.imag == second.real)
    std::swap(other, next);
  for (const ColumnPass &pass : fft.passes) {
    bool isLast = &pass == &fft.passes.back();
    Planes<T> target = isLast && to.real ? to : next;
    runPass(pass, fft.roots.data() + pass.roots, from, target, scale);
    from = target;
    std::swap(next, other);
  }
  return from;
}

template Planes<float> metaops::transformColumns(const ColumnFft<float> &,
                                                 Planes<float>, Planes<float>,
                                                 float *, float);
template Planes<double> metaops::transformColumns(const ColumnFft<double> &,
                                                  Planes<double>,
                                                  Planes<double>, double *,
                                                  double);

#endif // HWY_ONCE
