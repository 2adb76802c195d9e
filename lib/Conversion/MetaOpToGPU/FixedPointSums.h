//===- FixedPointSums.h - Sums of floats in any order -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_FIXEDPOINTSUMS_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_FIXEDPOINTSUMS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "mlir/IR/Builders.h"

namespace mlir::metaop {

class GpuFunction;

/// A sum of floats that threads of the whole grid add to in any order, with the
/// same bits whatever the order is.
struct FixedPointSum {
  /// Makes that of a write, of which all extents are known.
  static FixedPointSum create(const Stage &stage, const StageWrite &write);

  /// Words of 64 bits of its memory: an exponent of 32 bits for each element of
  /// the result, then one or two words for each.
  int64_t getNumWords() const {
    return getNumExponentWords() + numElements * wordsPerElement;
  }
  int64_t getNumExponentWords() const { return (numElements + 1) / 2; }

  const Stage *stage;
  const StageWrite *write;
  /// Elements from the first to the last of the result's buffer.
  int64_t numElements;
  int64_t wordsPerElement;
  /// So many values are added: at most two to the power of this.
  int64_t termBits;
};

/// Conversions of a function's sums into fixed point.
class FixedPointSums {
public:
  enum class Pass {
    /// Finds the largest exponent of each element's values.
    Measure,
    /// Adds.
    Add
  };

  explicit FixedPointSums(Pass pass) : pass(pass) {}

  bool isMeasuring() const { return pass == Pass::Measure; }
  /// Says where a sum's result and its words are.
  void bind(const FixedPointSum &sum, Value result, Value words) {
    sums.push_back({sum, result, words});
  }
  bool contains(Value result) const { return find(result) != nullptr; }
  /// Does the function's part for a value that is added at `place`.
  void emit(GpuFunction &function, Value result, Value place,
            Value value) const;

private:
  struct Bound {
    FixedPointSum sum;
    Value result, words;
  };
  const Bound *find(Value result) const;

  Pass pass;
  SmallVector<Bound, 1> sums;
};

/// Sets the words of a sum to zero, shared among the threads of the grid.
void emitZeroWords(GpuFunction &function, const FixedPointSum &sum,
                   Value words);

/// Makes floats of a sum's words, shared among the threads of the grid.
void emitFloatsOfWords(GpuFunction &function, const FixedPointSum &sum,
                       Value result, Value words);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_FIXEDPOINTSUMS_H
