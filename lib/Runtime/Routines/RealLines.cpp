//===- RealLines.cpp - Real numbers, and half results ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Highway includes this file once for each instruction set.
//
//===----------------------------------------------------------------------===//

#include "VectorTarget.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "RealLines.cpp"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "RealLines.h"

//===----------------------------------------------------------------------===//
// For each instruction set
//===----------------------------------------------------------------------===//

// All of this has to have a name of its own for each instruction set.
// NOLINTBEGIN(misc-use-internal-linkage, misc-unused-alias-decls)
HWY_BEFORE_NAMESPACE();
namespace metaops {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T> using Tag = hn::ScalableTag<T>;

/// Lanes of a vector, at least.
template <typename T> int64_t countLanes() {
  return static_cast<int64_t>(hn::Lanes(Tag<T>()));
}

template <typename T>
void splitPairs(const T *from, int64_t count, Planes<T> to) {
  const Tag<T> tag;
  int64_t k = 0;
  for (; k + countLanes<T>() <= count; k += countLanes<T>()) {
    hn::Vec<Tag<T>> real, imag;
    hn::LoadInterleaved2(tag, from + 2 * k, real, imag);
    hn::StoreU(real, tag, to.real + k);
    hn::StoreU(imag, tag, to.imag + k);
  }
  for (; k < count; ++k) {
    to.real[k] = from[2 * k];
    to.imag[k] = from[2 * k + 1];
  }
}

template <typename T> void mergePairs(Planes<T> from, int64_t count, T *to) {
  const Tag<T> tag;
  int64_t k = 0;
  for (; k + countLanes<T>() <= count; k += countLanes<T>())
    hn::StoreInterleaved2(hn::LoadU(tag, from.real + k),
                          hn::LoadU(tag, from.imag + k), tag, to + 2 * k);
  for (; k < count; ++k) {
    to[2 * k] = from.real[k];
    to[2 * k + 1] = from.imag[k];
  }
}

/// A vector with the operators of numbers.
template <typename T> struct Numbers {
  hn::Vec<Tag<T>> lanes;

  HWY_INLINE friend Numbers operator+(Numbers x, Numbers y) {
    return {hn::Add(x.lanes, y.lanes)};
  }
  HWY_INLINE friend Numbers operator-(Numbers x, Numbers y) {
    return {hn::Sub(x.lanes, y.lanes)};
  }
  HWY_INLINE friend Numbers operator*(Numbers x, Numbers y) {
    return {hn::Mul(x.lanes, y.lanes)};
  }
};

/// Elements of rows k and `length` - k: a + i b and x + i y. The root of unity
/// of k is c + i s. `Vector` is a type of numbers with their operators.
template <typename Vector> struct MirroredPair {
  Vector a, b, x, y;

  HWY_INLINE void unpack(Vector c, Vector s, Vector half) {
    Vector evenReal = half * (a + x), evenImag = half * (b - y);
    Vector oddReal = half * (b + y), oddImag = half * (x - a);
    Vector real = oddReal * c - oddImag * s, imag = oddReal * s + oddImag * c;
    a = evenReal + real;
    b = evenImag + imag;
    x = evenReal - real;
    y = imag - evenImag;
  }
  HWY_INLINE void pack(Vector c, Vector s) {
    Vector evenReal = a + x, evenImag = b - y;
    Vector oddReal = (a - x) * c + (b + y) * s;
    Vector oddImag = (b + y) * c - (a - x) * s;
    a = evenReal - oddImag;
    b = evenImag + oddReal;
    x = evenReal + oddImag;
    y = oddReal - evenImag;
  }
};

/// Calls `change` with the pairs of two rows and their root.
template <typename T, typename ChangeT>
HWY_INLINE void changeRows(int64_t inner, T c, T s, Planes<T> first,
                           Planes<T> last, Planes<T> toFirst, Planes<T> toLast,
                           ChangeT change) {
  const Tag<T> tag;
  auto set = [&](T number)
                 HWY_ATTR { return Numbers<T>{hn::Set(tag, number)}; };
  auto load = [&](const T *at)
                  HWY_ATTR { return Numbers<T>{hn::LoadU(tag, at)}; };
  int64_t k = 0;
  for (; k + countLanes<T>() <= inner; k += countLanes<T>()) {
    MirroredPair<Numbers<T>> pair = {load(first.real + k), load(first.imag + k),
                                     load(last.real + k), load(last.imag + k)};
    change(pair, set(c), set(s), set(T(0.5)));
    hn::StoreU(pair.a.lanes, tag, toFirst.real + k);
    hn::StoreU(pair.b.lanes, tag, toFirst.imag + k);
    hn::StoreU(pair.x.lanes, tag, toLast.real + k);
    hn::StoreU(pair.y.lanes, tag, toLast.imag + k);
  }
  for (; k < inner; ++k) {
    MirroredPair<T> pair = {first.real[k], first.imag[k], last.real[k],
                            last.imag[k]};
    change(pair, c, s, T(0.5));
    toFirst.real[k] = pair.a;
    toFirst.imag[k] = pair.b;
    toLast.real[k] = pair.x;
    toLast.imag[k] = pair.y;
  }
}

/// Calls `change` with the pairs of a range, from a number of it on.
template <typename T, typename ChangeT>
HWY_INLINE void changeRowsOf(const MirroredRange<T> &range, int64_t first,
                             Planes<T> from, Planes<T> to, ChangeT change) {
  for (int64_t j = first; j < range.count; ++j) {
    const int64_t place = (range.begin + j) * range.inner;
    const int64_t mirrored = range.length * range.inner - place;
    const T c = range.real[j], s = range.imag[j];
    changeRows(range.inner, c * range.factorReal - s * range.factorImag,
               c * range.factorImag + s * range.factorReal, from.at(place),
               from.at(mirrored), to.at(place), to.at(mirrored), change);
  }
}

/// Calls `change` with the pairs of a range and their roots.
template <typename T, typename ChangeT>
HWY_INLINE void changeRange(const MirroredRange<T> &range, Planes<T> from,
                            Planes<T> to, ChangeT change) {
  const Tag<T> tag;
  const int64_t lanes = countLanes<T>();
  int64_t j = 0;
  for (; range.inner == 1 && j + lanes <= range.count; j += lanes) {
    const int64_t place = range.begin + j;
    const int64_t mirrored = range.length - place - lanes + 1;
    auto load = [&](const T *at)
                    HWY_ATTR { return Numbers<T>{hn::LoadU(tag, at)}; };
    auto loadReversed = [&](const T *at) HWY_ATTR {
      return Numbers<T>{hn::Reverse(tag, hn::LoadU(tag, at))};
    };
    const Numbers<T> c = load(range.real + j), s = load(range.imag + j);
    const Numbers<T> factorReal = {hn::Set(tag, range.factorReal)};
    const Numbers<T> factorImag = {hn::Set(tag, range.factorImag)};
    MirroredPair<Numbers<T>> pair = {
        load(from.real + place), load(from.imag + place),
        loadReversed(from.real + mirrored), loadReversed(from.imag + mirrored)};
    change(pair, c * factorReal - s * factorImag,
           c * factorImag + s * factorReal, Numbers<T>{hn::Set(tag, T(0.5))});
    hn::StoreU(pair.a.lanes, tag, to.real + place);
    hn::StoreU(pair.b.lanes, tag, to.imag + place);
    hn::StoreU(hn::Reverse(tag, pair.x.lanes), tag, to.real + mirrored);
    hn::StoreU(hn::Reverse(tag, pair.y.lanes), tag, to.imag + mirrored);
  }
  changeRowsOf(range, j, from, to, change);
}

template <typename T>
void unpackRange(const MirroredRange<T> &range, Planes<T> from, Planes<T> to) {
  changeRange(range, from, to,
              [](auto &pair, auto c, auto s, auto half)
                  HWY_ATTR { pair.unpack(c, s, half); });
}

template <typename T>
void packRange(const MirroredRange<T> &range, Planes<T> from, Planes<T> to) {
  changeRange(range, from, to, [](auto &pair, auto c, auto s, auto) HWY_ATTR {
    pair.pack(c, s);
  });
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

namespace {
template <typename T> struct Functions {
  decltype(&HWY_NAMESPACE::splitPairs<T>) splitPairs;
  decltype(&HWY_NAMESPACE::mergePairs<T>) mergePairs;
  decltype(&HWY_NAMESPACE::unpackRange<T>) unpackRange;
  decltype(&HWY_NAMESPACE::packRange<T>) packRange;
};
} // namespace

#define METAOPS_FUNCTIONS(target)                                              \
  {target::splitPairs<T>, target::mergePairs<T>, target::unpackRange<T>,       \
   target::packRange<T>}

/// The best that this processor has.
template <typename T> static Functions<T> choose() {
  METAOPS_RETURN_BEST(METAOPS_FUNCTIONS);
}

template <typename T> static const Functions<T> &getFunctions() {
  static const Functions<T> functions = choose<T>();
  return functions;
}

template <typename T>
void metaops::splitPairs(const T *from, int64_t count, Planes<T> to) {
  getFunctions<T>().splitPairs(from, count, to);
}
template <typename T>
void metaops::mergePairs(Planes<T> from, int64_t count, T *to) {
  getFunctions<T>().mergePairs(from, count, to);
}
template <typename T>
void metaops::unpackRange(const MirroredRange<T> &range, Planes<T> from,
                          Planes<T> to) {
  getFunctions<T>().unpackRange(range, from, to);
}
template <typename T>
void metaops::packRange(const MirroredRange<T> &range, Planes<T> from,
                        Planes<T> to) {
  getFunctions<T>().packRange(range, from, to);
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type.
#define METAOPS_INSTANTIATE(T)                                                 \
  template void metaops::splitPairs(const T *, int64_t, Planes<T>);            \
  template void metaops::mergePairs(Planes<T>, int64_t, T *);                  \
  template void metaops::unpackRange(const MirroredRange<T> &, Planes<T>,      \
                                     Planes<T>);                               \
  template void metaops::packRange(const MirroredRange<T> &, Planes<T>,        \
                                   Planes<T>);
// NOLINTEND(bugprone-macro-parentheses)
METAOPS_INSTANTIATE(float)
METAOPS_INSTANTIATE(double)

#endif // HWY_ONCE
