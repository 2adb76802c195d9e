//===- SmallMatrices.cpp - A small matrix in each lane --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elimination as the textbook has it. Lanes of matrices that are singular, or
// not positive definite, go on with infinities and NaN.
//
// Highway includes this file once for each instruction set.
//
//===----------------------------------------------------------------------===//

#include "VectorTarget.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "SmallMatrices.cpp"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "SmallMatrices.h"

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
template <typename T> using Mask = hn::Mask<Tag<T>>;

template <typename T> HWY_INLINE Vector<T> load(const T *from) {
  return hn::LoadU(Tag<T>(), from);
}
template <typename T> HWY_INLINE void store(Vector<T> x, T *to) {
  hn::StoreU(x, Tag<T>(), to);
}
/// Returns a vector of a small integer.
template <typename T> HWY_INLINE Vector<T> setNumber(int64_t number) {
  return hn::Set(Tag<T>(), static_cast<T>(number));
}

/// Calls a function with the first lane of each vector of a tile.
template <typename T, typename FunctionT>
HWY_INLINE void forLanes(FunctionT function) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  for (int64_t lane = 0; lane < kTileWidth<T>; lane += lanes)
    function(lane);
}

/// Keeps the number of the first step at which something is wrong.
template <typename T>
HWY_INLINE Vector<T> keepFirst(Vector<T> info, Mask<T> isWrong, int64_t step) {
  const auto isFirst = hn::And(isWrong, hn::Eq(info, setNumber<T>(0)));
  return hn::IfThenElse(isFirst, setNumber<T>(step + 1), info);
}

//===----------------------------------------------------------------------===//
// Positive definite matrices
//===----------------------------------------------------------------------===//

template <typename T> HWY_INLINE Vector<T> factorCholeskyOf(LaneMatrices<T> a) {
  const auto zero = hn::Zero(Tag<T>());
  auto info = zero;
  for (int64_t j = 0; j < a.rows; ++j) {
    Vector<T> row[kMaxSmall];
    auto rest = load(a.at(j, j));
    for (int64_t k = 0; k < j; ++k) {
      row[k] = load(a.at(j, k));
      rest = hn::NegMulAdd(row[k], row[k], rest);
    }
    // Of NaN it is not said, as the library does not.
    info = keepFirst<T>(info, hn::Le(rest, zero), j);
    const auto root = hn::Sqrt(rest);
    store<T>(root, a.at(j, j));
    for (int64_t i = j + 1; i < a.rows; ++i) {
      auto x = load(a.at(i, j));
      for (int64_t k = 0; k < j; ++k)
        x = hn::NegMulAdd(load(a.at(i, k)), row[k], x);
      store<T>(hn::Div(x, root), a.at(i, j));
      store<T>(zero, a.at(j, i));
    }
  }
  return info;
}

template <typename T> void factorCholesky(const LaneMatrices<T> &a, T *info) {
  forLanes<T>([&](int64_t lane) HWY_ATTR {
    store<T>(factorCholeskyOf(a.from(lane)), info + lane);
  });
}

//===----------------------------------------------------------------------===//
// Exchanged rows
//===----------------------------------------------------------------------===//

/// The row with which row `first` is exchanged, in each lane.
template <typename T> struct Exchange {
  int64_t first, end;
  Mask<T> isRow[kMaxSmall];

  HWY_INLINE Exchange(Vector<T> pivot, int64_t first, int64_t end)
      : first(first), end(end) {
    for (int64_t i = first + 1; i < end; ++i)
      isRow[i] = hn::Eq(pivot, setNumber<T>(i));
  }
  /// Returns the element of column j that comes to row `first`.
  HWY_INLINE Vector<T> findFirst(const LaneMatrices<T> &x, int64_t j) const {
    auto found = load(x.at(first, j));
    for (int64_t i = first + 1; i < end; ++i)
      found = hn::IfThenElse(isRow[i], load(x.at(i, j)), found);
    return found;
  }
  /// Returns the element of column j that comes to another row, from which
  /// `given` has gone.
  HWY_INLINE Vector<T> findOther(const LaneMatrices<T> &x, int64_t i, int64_t j,
                                 Vector<T> given) const {
    return hn::IfThenElse(isRow[i], given, load(x.at(i, j)));
  }
  HWY_INLINE void run(const LaneMatrices<T> &x, int64_t j) const {
    const auto given = load(x.at(first, j)), found = findFirst(x, j);
    for (int64_t i = first + 1; i < end; ++i)
      store<T>(findOther(x, i, j, given), x.at(i, j));
    store<T>(found, x.at(first, j));
  }
};

template <typename T>
void exchangeRows(const T *pivots, bool isLastFirst, const LaneMatrices<T> &x) {
  forLanes<T>([&](int64_t lane) HWY_ATTR {
    const LaneMatrices<T> rows = x.from(lane);
    for (int64_t step = 0; step < rows.rows; ++step) {
      const int64_t i = isLastFirst ? rows.rows - 1 - step : step;
      const auto pivot = load(pivots + i * kTileWidth<T> + lane);
      const Exchange<T> exchange(pivot, i, rows.rows);
      for (int64_t j = 0; j < rows.columns; ++j)
        exchange.run(rows, j);
    }
  });
}

//===----------------------------------------------------------------------===//
// Any matrices
//===----------------------------------------------------------------------===//

/// The largest element of what is left of a column, and its row.
template <typename T> struct Pivot {
  Vector<T> size, row;

  HWY_INLINE Pivot(const LaneMatrices<T> &a, int64_t k) {
    size = hn::Abs(load(a.at(k, k)));
    row = setNumber<T>(k);
    for (int64_t i = k + 1; i < a.rows; ++i) {
      const auto x = hn::Abs(load(a.at(i, k)));
      const auto isNumber = hn::Eq(size, size);
      const auto isMore = hn::And(hn::Not(hn::Le(x, size)), isNumber);
      size = hn::IfThenElse(isMore, x, size);
      row = hn::IfThenElse(isMore, setNumber<T>(i), row);
    }
  }
};

/// Exchanges rows of a column, and subtracts multiples of row k from those
/// below it. Makes the multiples in column k.
template <typename T>
HWY_INLINE void eliminate(const LaneMatrices<T> &a, int64_t k,
                          const Exchange<T> &exchange, Mask<T> isZero) {
  Vector<T> factors[kMaxSmall];
  const auto diagonal = load(a.at(k, k)), pivot = exchange.findFirst(a, k);
  store<T>(pivot, a.at(k, k));
  // Below a pivot that is 0 all elements are.
  const auto divisor = hn::IfThenElse(isZero, setNumber<T>(1), pivot);
  for (int64_t i = k + 1; i < a.rows; ++i) {
    factors[i] = hn::Div(exchange.findOther(a, i, k, diagonal), divisor);
    store<T>(factors[i], a.at(i, k));
  }
  for (int64_t j = k + 1; j < a.columns; ++j) {
    const auto given = load(a.at(k, j)), top = exchange.findFirst(a, j);
    for (int64_t i = k + 1; i < a.rows; ++i) {
      const auto x = exchange.findOther(a, i, j, given);
      store<T>(hn::NegMulAdd(factors[i], top, x), a.at(i, j));
    }
    store<T>(top, a.at(k, j));
  }
}

template <typename T>
HWY_INLINE Vector<T> factorLuOf(const LaneMatrices<T> &a, T *pivots) {
  const auto zero = hn::Zero(Tag<T>());
  auto info = zero;
  for (int64_t k = 0; k < HWY_MIN(a.rows, a.columns); ++k) {
    const Pivot<T> pivot(a, k);
    store<T>(pivot.row, pivots + k * kTileWidth<T>);
    const auto isZero = hn::Eq(pivot.size, zero);
    info = keepFirst<T>(info, isZero, k);
    const Exchange<T> exchange(pivot.row, k, a.rows);
    for (int64_t j = 0; j < k; ++j)
      exchange.run(a, j);
    eliminate<T>(a, k, exchange, isZero);
  }
  return info;
}

template <typename T>
void factorLu(const LaneMatrices<T> &a, T *pivots, T *info) {
  forLanes<T>([&](int64_t lane) HWY_ATTR {
    store<T>(factorLuOf(a.from(lane), pivots + lane), info + lane);
  });
}

//===----------------------------------------------------------------------===//
// Triangles
//===----------------------------------------------------------------------===//

/// Solves for a few columns of x at once, from column `first` on.
template <typename T, int kColumns>
HWY_INLINE void solveColumns(const LaneMatrices<T> &a, TriangleForm form,
                             const LaneMatrices<T> &x, int64_t first) {
  const int64_t n = a.rows;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t k = form.isLower ? step : n - 1 - step;
    Vector<T> known[kColumns];
    for (int c = 0; c < kColumns; ++c)
      known[c] = load(x.at(k, first + c));
    if (!form.isUnit) {
      const auto divisor = load(a.at(k, k));
      for (int c = 0; c < kColumns; ++c) {
        known[c] = hn::Div(known[c], divisor);
        store<T>(known[c], x.at(k, first + c));
      }
    }
    for (int64_t rest = step + 1; rest < n; ++rest) {
      const int64_t i = form.isLower ? rest : n - 1 - rest;
      const auto factor = load(a.at(i, k));
      for (int c = 0; c < kColumns; ++c) {
        T *place = x.at(i, first + c);
        store<T>(hn::NegMulAdd(factor, known[c], load(place)), place);
      }
    }
  }
}

template <typename T>
void solveTriangle(const LaneMatrices<T> &a, TriangleForm form,
                   const LaneMatrices<T> &x) {
  forLanes<T>([&](int64_t lane) HWY_ATTR {
    constexpr int kColumns = 4;
    const LaneMatrices<T> triangle = a.from(lane), right = x.from(lane);
    int64_t column = 0;
    for (; column + kColumns <= right.columns; column += kColumns)
      solveColumns<T, kColumns>(triangle, form, right, column);
    for (; column < right.columns; ++column)
      solveColumns<T, 1>(triangle, form, right, column);
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
  decltype(&HWY_NAMESPACE::factorCholesky<T>) factorCholesky;
  decltype(&HWY_NAMESPACE::factorLu<T>) factorLu;
  decltype(&HWY_NAMESPACE::solveTriangle<T>) solveTriangle;
  decltype(&HWY_NAMESPACE::exchangeRows<T>) exchangeRows;
};
} // namespace

#define METAOPS_FUNCTIONS(target)                                              \
  {target::factorCholesky<T>, target::factorLu<T>, target::solveTriangle<T>,   \
   target::exchangeRows<T>}

/// The best that this processor has.
template <typename T> static Functions<T> choose() {
  METAOPS_RETURN_BEST(METAOPS_FUNCTIONS);
}

template <typename T> static const Functions<T> &getFunctions() {
  static const Functions<T> functions = choose<T>();
  return functions;
}

template <typename T>
void metaops::factorCholesky(const LaneMatrices<T> &a, T *info) {
  getFunctions<T>().factorCholesky(a, info);
}
template <typename T>
void metaops::factorLu(const LaneMatrices<T> &a, T *pivots, T *info) {
  getFunctions<T>().factorLu(a, pivots, info);
}
template <typename T>
void metaops::solveTriangle(const LaneMatrices<T> &a, TriangleForm form,
                            const LaneMatrices<T> &x) {
  getFunctions<T>().solveTriangle(a, form, x);
}
template <typename T>
void metaops::exchangeRows(const T *pivots, bool isLastFirst,
                           const LaneMatrices<T> &x) {
  getFunctions<T>().exchangeRows(pivots, isLastFirst, x);
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type.
#define METAOPS_INSTANTIATE(T)                                                 \
  template void metaops::factorCholesky(const LaneMatrices<T> &, T *);         \
  template void metaops::factorLu(const LaneMatrices<T> &, T *, T *);          \
  template void metaops::solveTriangle(const LaneMatrices<T> &, TriangleForm,  \
                                       const LaneMatrices<T> &);               \
  template void metaops::exchangeRows(const T *, bool, const LaneMatrices<T> &);
// NOLINTEND(bugprone-macro-parentheses)
METAOPS_INSTANTIATE(float)
METAOPS_INSTANTIATE(double)

#endif // HWY_ONCE
