//===- MatrixBatch.h - Batches of matrices ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A routine of linear algebra is a function of one matrix, or of a group of
// small ones, and a plan that calls it for each of a batch, in scratch memory
// of the thread's own.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_MATRIXBATCH_H
#define METAOPS_LIB_RUNTIME_ROUTINES_MATRIXBATCH_H

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"
#include "MetaOps/Support/Counts.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace metaops {

/// Square matrices of more rows, and others of as many elements, are left to
/// the library's threads.
inline constexpr int64_t kMaxShared = 64;

/// Sizes of a batch of matrices.
struct MatrixBatch {
  DType dtype = DType::F64;
  int64_t count = 1;
  /// Rows and columns of a matrix; both are n where it is square.
  int64_t m = -1, n = -1;
  /// Rows or columns of what is on the right.
  int64_t rows = -1, columns = -1;
  /// Set where no result has an element.
  bool isEmpty = false;

  int64_t getRank() const { return std::min(m, n); }
};

/// Computes one matrix of a batch, or a group of several at once.
class MatrixFunction {
public:
  virtual ~MatrixFunction() = default;

  /// Computes a group in scratch memory that nobody else uses meanwhile.
  virtual void run(const RoutineRun &run, int64_t number,
                   char *scratch) const = 0;
  /// Returns the matrices of a group.
  virtual int64_t getGroup() const { return 1; }
  /// Returns the bytes of scratch memory of one group.
  virtual int64_t getScratch() const { return 0; }
  /// Returns the operations of one matrix, saturated.
  virtual int64_t countFlops() const = 0;
  /// Returns the largest rank for which the library starts no threads of its
  /// own.
  virtual int64_t getSharedRank() const { return kMaxShared; }
};

/// Makes the plan that calls a function for each matrix of a batch.
std::shared_ptr<const RoutinePlan>
makeMatrixPlan(const MatrixBatch &batch,
               std::unique_ptr<const MatrixFunction> function);

/// Makes a function of a class whose parameters are the types of elements and
/// of the library's integers.
template <template <typename, typename> class Function, typename... Arguments>
std::unique_ptr<const MatrixFunction>
makeOfTypes(DType dtype, bool isWide, const Arguments &...arguments) {
  if (dtype == DType::F32) {
    if (isWide)
      return std::make_unique<Function<float, int64_t>>(arguments...);
    return std::make_unique<Function<float, int32_t>>(arguments...);
  }
  if (isWide)
    return std::make_unique<Function<double, int64_t>>(arguments...);
  return std::make_unique<Function<double, int32_t>>(arguments...);
}

/// Returns where a matrix of so many elements is in a buffer.
template <typename T> T *at(void *buffer, int64_t number, int64_t elements) {
  return static_cast<T *>(buffer) + number * elements;
}

/// Returns a matrix of a result into which that of an operand has been copied,
/// unless it is made in its memory.
template <typename T>
T *copyOver(const RoutineRun &run, int64_t operand, int64_t result,
            int64_t number, int64_t elements) {
  const T *from = at<T>(run.operands[operand], number, elements);
  T *to = at<T>(run.results[result], number, elements);
  if (to != from)
    std::memcpy(to, from, elements * sizeof(T));
  return to;
}

/// Writes the transposed of a matrix in rows, in blocks whose lines stay in a
/// cache.
template <typename T>
void transpose(const T *from, int64_t rows, int64_t columns, T *to) {
  constexpr int64_t kBlock = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kBlock)
    for (int64_t j0 = 0; j0 < columns; j0 += kBlock)
      for (int64_t i = i0; i < std::min(i0 + kBlock, rows); ++i)
        for (int64_t j = j0; j < std::min(j0 + kBlock, columns); ++j)
          to[j * rows + i] = from[i * columns + j];
}

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_MATRIXBATCH_H
