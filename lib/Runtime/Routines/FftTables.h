//===- FftTables.h - Tables of Fourier transforms ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables depend on a length alone, and are computed in f64. Plans share them:
// those that were made last are kept, as many as fit into some memory.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_FFTTABLES_H
#define METAOPS_LIB_RUNTIME_ROUTINES_FFTTABLES_H

#include "ColumnFft.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <complex>
#include <list>
#include <memory>
#include <mutex>

namespace metaops {

/// Returns exp(-2 pi i k / n) for 0 <= k < n, right to the last bits.
std::complex<double> getRootOfUnity(int64_t k, int64_t n);

/// Returns true if a length is a product of radices of passes.
bool isSmooth(int64_t length);

/// Returns the least such length that is not below another one.
int64_t findSmoothLength(int64_t least);

/// Returns a factor of a smooth length, as near to its root as there is.
int64_t findMiddleFactor(int64_t length);

/// The roots of unity of one order, each a product of two of a table.
class TwoLevelRoots {
public:
  explicit TwoLevelRoots(int64_t order);

  /// Returns exp(-2 pi i k / order) for 0 <= k < order.
  std::complex<double> get(int64_t k) const {
    const std::complex<double> x = coarse[k >> bits], y = fine[k & mask];
    // Without a test for NaN.
    return {x.real() * y.real() - x.imag() * y.imag(),
            x.real() * y.imag() + x.imag() * y.real()};
  }
  int64_t countBytes() const {
    return (fine.size() + coarse.size()) * sizeof(fine[0]);
  }

private:
  int64_t bits = 0, mask = 0;
  std::vector<std::complex<double>> fine, coarse;
};

class FftTables;

/// A table that plans share. It is made of a length and, perhaps, other tables.
class FftTable {
public:
  virtual ~FftTable() = default;
  virtual int64_t countBytes() const = 0;
};

/// Passes for columns of a smooth length.
template <typename T> struct ColumnTable : FftTable, ColumnFft<T> {
  static constexpr int kKind = sizeof(T);
  ColumnTable(int64_t length, FftTables &);
  int64_t countBytes() const override { return this->roots.size() * sizeof(T); }
};

/// All roots of unity of one order.
struct RootTable : FftTable, TwoLevelRoots {
  static constexpr int kKind = 1;
  RootTable(int64_t order, FftTables &) : TwoLevelRoots(order) {}
  int64_t countBytes() const override { return TwoLevelRoots::countBytes(); }
};

/// The tables that are kept. May be used from several threads.
class FftTables {
public:
  /// Tables beyond so many bytes are dropped, the oldest first. Plans keep
  /// theirs.
  static constexpr int64_t kMaxBytes = int64_t(1) << 26;

  template <typename TableT> std::shared_ptr<const TableT> get(int64_t length) {
    return std::static_pointer_cast<const TableT>(
        find({TableT::kKind, length},
             [&] { return std::make_shared<TableT>(length, *this); }));
  }

private:
  using Key = std::pair<int, int64_t>;
  using Table = std::shared_ptr<const FftTable>;

  Table find(Key key, llvm::function_ref<Table()> make);

  std::mutex mutex;
  /// The last ones that were asked for come first.
  std::list<std::pair<Key, Table>> tables;
  int64_t bytes = 0;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_FFTTABLES_H
