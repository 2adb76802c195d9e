//===- GeneralSpectra.cpp - Eigenvalues of any square matrices ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library is given the matrix in columns, so that values come in the order
// in which others have them. Of a pair of conjugate values, it gives the real
// and the imaginary parts of one vector, as two.
//
//===----------------------------------------------------------------------===//

#include "Spectra.h"
#include "Workspace.h"

using namespace metaops;

namespace {
template <typename T, typename Int> class Eig : public MatrixFunction {
public:
  Eig(void *geev, const MatrixBatch &batch, bool hasVectors)
      : geev(reinterpret_cast<Function *>(geev)), n(batch.n),
        hasVectors(hasVectors), matrix(space.add<T>(multiplyCounts(n, n))),
        right(space.add<T>(hasVectors ? multiplyCounts(n, n) : 1)) {
    if (n > 0)
      findLength();
    work = space.add<T>(length);
  }

  int64_t getScratch() const override { return space.getBytes(); }
  int64_t countFlops() const override {
    int64_t cube = multiplyCounts(multiplyCounts(n, n), n);
    return multiplyCounts(hasVectors ? 25 : 10, cube);
  }
  void run(const RoutineRun &run, int64_t number,
           char *scratch) const override {
    const T *a = at<T>(run.operands[0], number, n * n);
    T *real = at<T>(run.results[0], number, n);
    T *imag = at<T>(run.results[1], number, n);
    T *vectors = reinterpret_cast<T *>(scratch + right);
    int64_t info = isFinite(a, n * n) ? 0 : kNotFinite;
    if (n > 0 && info == 0) {
      T *x = reinterpret_cast<T *>(scratch + matrix);
      transpose(a, n, n, x);
      info = call(x, real, imag, vectors, reinterpret_cast<T *>(scratch + work),
                  length);
    }
    *at<int64_t>(run.results.back(), number, 1) = info;
    if (info != 0) {
      fillNaN(real, n);
      fillNaN(imag, n);
    }
    if (!hasVectors)
      return;
    T *vectorsReal = at<T>(run.results[2], number, n * n);
    T *vectorsImag = at<T>(run.results[3], number, n * n);
    if (info == 0)
      return split(imag, vectors, vectorsReal, vectorsImag);
    fillNaN(vectorsReal, n * n);
    fillNaN(vectorsImag, n * n);
  }

private:
  using Function = void(const char *, const char *, const Int *, T *,
                        const Int *, T *, T *, T *, const Int *, T *,
                        const Int *, T *, const Int *, Int *, size_t, size_t);

  int64_t call(T *x, T *real, T *imag, T *vectors, T *memory,
               int64_t size) const {
    Int order = n, one = 1, given = size, failed = 0;
    geev("N", hasVectors ? "V" : "N", &order, x, &order, real, imag, nullptr,
         &one, vectors, &order, memory, &given, &failed, 1, 1);
    return failed == 0 ? 0 : kNotConverged;
  }
  /// Asks the library for the length of its workspace.
  void findLength() {
    T none = 0, answer = 0;
    call(&none, &none, &none, &none, &answer, /*size=*/-1);
    length = readWorkspace(answer);
  }
  /// Writes vectors to columns.
  void split(const T *imag, const T *vectors, T *toReal, T *toImag) const {
    for (int64_t j = 0; j < n; ++j) {
      // The second one of a pair is below the axis.
      bool isPair = imag[j] != 0, isSecond = imag[j] < 0;
      const T *first = vectors + (isSecond ? j - 1 : j) * n;
      for (int64_t i = 0; i < n; ++i) {
        T part = isPair ? first[n + i] : T(0);
        toReal[i * n + j] = first[i];
        toImag[i * n + j] = isSecond ? -part : part;
      }
    }
  }

  Function *geev;
  int64_t n;
  bool hasVectors;
  int64_t length = 1;
  Workspace space;
  int64_t matrix, right, work;
};
} // namespace

std::unique_ptr<const MatrixFunction> metaops::makeEig(const MatrixBatch &batch,
                                                       void *geev, bool isWide,
                                                       bool hasVectors) {
  // A workspace of blocks of up to 512 columns.
  if (!isWide && batch.n > INT32_MAX / 512)
    return nullptr;
  return makeOfTypes<Eig>(batch.dtype, isWide, geev, batch, hasVectors);
}
