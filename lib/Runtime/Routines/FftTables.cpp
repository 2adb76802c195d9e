//===- FftTables.cpp - Tables of Fourier transforms -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FftTables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace metaops;

/// The odd radices of passes.
static constexpr int64_t kOddRadices[] = {13, 11, 7, 5, 3};

std::complex<double> metaops::getRootOfUnity(int64_t k, int64_t n) {
  // The angle is less than an eighth of a turn beyond a multiple of it, or
  // before one.
  int64_t octant = 8 * k / n, rest = 8 * k - octant * n;
  bool isBefore = octant % 2 != 0;
  double angle = llvm::numbers::pi / 4 *
                 (static_cast<double>(isBefore ? n - rest : rest) / n);
  double cosine = std::cos(angle), sine = std::sin(angle);
  switch ((octant + 1) / 2 % 4) {
  case 0:
    return {cosine, isBefore ? sine : -sine};
  case 1:
    return {isBefore ? sine : -sine, -cosine};
  case 2:
    return {-cosine, isBefore ? -sine : sine};
  default:
    return {isBefore ? -sine : sine, cosine};
  }
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

bool metaops::isSmooth(int64_t length) {
  length >>= llvm::countr_zero(static_cast<uint64_t>(length));
  for (int64_t radix : kOddRadices)
    while (length % radix == 0)
      length /= radix;
  return length == 1;
}

/// Long lengths are multiples of a square of tiles, which have no rests.
static constexpr int64_t kSquare = 256;

int64_t metaops::findSmoothLength(int64_t least) {
  int64_t step = least > 16 * kSquare ? kSquare : 1;
  int64_t factor = llvm::divideCeil(least, step);
  while (!isSmooth(factor))
    ++factor;
  return factor * step;
}

/// Returns the largest factor that is not above the root.
static int64_t findFactorBelowRoot(int64_t length) {
  auto factor = static_cast<int64_t>(std::sqrt(static_cast<double>(length)));
  while (length % factor != 0)
    --factor;
  return factor;
}

int64_t metaops::findMiddleFactor(int64_t length) {
  if (length % kSquare == 0)
    return 16 * findFactorBelowRoot(length / kSquare);
  return findFactorBelowRoot(length);
}

/// Returns the radices of the passes for a smooth length. The last pass has no
/// roots, so it is one of the largest.
static std::vector<int64_t> findRadices(int64_t length) {
  std::vector<int64_t> radices;
  for (int64_t radix : kOddRadices)
    for (; length % radix == 0; length /= radix)
      radices.push_back(radix);
  unsigned twos = llvm::Log2_64(length);
  // Two of 4 are sooner done than one of 2 and one of 8.
  unsigned fours = twos % 3 == 0 ? 0 : twos % 3 == 2 ? 1 : twos >= 4 ? 2 : 0;
  if (twos == 1)
    radices.push_back(2);
  radices.insert(radices.end(), fours, 4);
  radices.insert(radices.end(), (twos - 2 * fours) / 3, 8);
  if (radices.empty())
    radices.push_back(1);
  return radices;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

template <typename T> ColumnTable<T>::ColumnTable(int64_t length, FftTables &) {
  this->length = length;
  int64_t rest = length, span = 1;
  for (int64_t radix : findRadices(length)) {
    ColumnPass pass{radix, rest / radix, span,
                    static_cast<int64_t>(this->roots.size())};
    for (int64_t group = 0; pass.groups > 1 && group < pass.groups; ++group)
      for (int64_t k = 1; k < radix; ++k) {
        std::complex<double> root = getRootOfUnity(group * k, rest);
        this->roots.push_back(static_cast<T>(root.real()));
        this->roots.push_back(static_cast<T>(root.imag()));
      }
    this->passes.push_back(pass);
    rest /= radix;
    span *= radix;
  }
}

template struct metaops::ColumnTable<float>;
template struct metaops::ColumnTable<double>;

TwoLevelRoots::TwoLevelRoots(int64_t order) {
  bits = llvm::divideCeil(llvm::Log2_64_Ceil(order), 2);
  mask = (int64_t(1) << bits) - 1;
  for (int64_t k = 0; k <= std::min(mask, order - 1); ++k)
    fine.push_back(getRootOfUnity(k, order));
  for (int64_t k = 0; k < order; k += mask + 1)
    coarse.push_back(getRootOfUnity(k, order));
}

FftTables::Table FftTables::find(Key key, llvm::function_ref<Table()> make) {
  auto take = [&]() -> Table {
    auto found = llvm::find_if(
        tables, [&](const auto &each) { return each.first == key; });
    if (found == tables.end())
      return nullptr;
    tables.splice(tables.begin(), tables, found);
    return found->second;
  };
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (Table table = take())
      return table;
  }
  // It asks for other tables.
  Table made = make();
  std::lock_guard<std::mutex> lock(mutex);
  if (Table table = take())
    return table;
  tables.emplace_front(key, made);
  bytes += made->countBytes();
  while (bytes > kMaxBytes) {
    bytes -= tables.back().second->countBytes();
    tables.pop_back();
  }
  return made;
}
