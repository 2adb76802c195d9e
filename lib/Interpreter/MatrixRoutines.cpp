//===- MatrixRoutines.cpp - The meaning of linear algebra -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Routines by their names, as the textbook has them, in f64. What they are
// given and give is described in lib/Runtime/Routines/MatrixRoutines.cpp.
//
//===----------------------------------------------------------------------===//

#include "Matrices.h"
#include "MetaOps/Support/Determinants.h"
#include "OpTable.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::metaop;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Routines
//===----------------------------------------------------------------------===//

/// Fills the lower triangle, row by row. Returns the first minor that is not
/// positive, from 1 on, or 0.
static int64_t factorCholesky(const Matrix &a, Matrix &factor) {
  for (int64_t j = 0; j < a.rows; ++j)
    for (int64_t i = j; i < a.rows; ++i) {
      double rest = a.at(i, j);
      for (int64_t k = 0; k < j; ++k)
        rest -= factor.at(i, k) * factor.at(j, k);
      if (i == j && !(rest > 0))
        return j + 1;
      factor.at(i, j) = i == j ? std::sqrt(rest) : rest / factor.at(j, j);
    }
  return 0;
}

static void runCholesky(const MatrixCall &call, int64_t number) {
  Matrix a = readMatrix(call.operands[0], number), factor(a.rows, a.columns);
  int64_t info = factorCholesky(a, factor);
  writeMatrix(factor, number, call.results[0]);
  call.results[1].set(number, Scalar::ofSigned(info));
}

/// Factors the transposed of a matrix: columns lie where LAPACK has them.
static void runLu(const MatrixCall &call, int64_t number) {
  // Element (i, j) of the transposed is at (j, i).
  Matrix a = readMatrix(call.operands[0], number);
  int64_t n = a.rows, info = 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(a.at(k, i)) > std::abs(a.at(k, pivot)))
        pivot = i;
    call.results[1].set(number * n + k, Scalar::ofSigned(pivot + 1));
    for (int64_t j = 0; j < n; ++j)
      std::swap(a.at(j, k), a.at(j, pivot));
    if (a.at(k, k) == 0) {
      info = info ? info : k + 1;
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      a.at(k, i) /= a.at(k, k);
      for (int64_t j = k + 1; j < n; ++j)
        a.at(j, i) -= a.at(k, i) * a.at(j, k);
    }
  }
  writeMatrix(a, number, call.results[0]);
  call.results[2].set(number, Scalar::ofSigned(info));
}

static void runPlu(const MatrixCall &call, int64_t number) {
  Matrix a = readMatrix(call.operands[0], number);
  int64_t rank = std::min(a.rows, a.columns);
  std::vector<int64_t> order(a.rows);
  std::iota(order.begin(), order.end(), 0);
  Matrix lower = Matrix::makeIdentity(a.rows, rank), upper(rank, a.columns);
  for (int64_t k = 0; k < rank; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (std::abs(a.at(i, k)) > std::abs(a.at(pivot, k)))
        pivot = i;
    std::swap(order[k], order[pivot]);
    for (int64_t j = 0; j < a.columns; ++j)
      std::swap(a.at(k, j), a.at(pivot, j));
    for (int64_t i = k + 1; i < a.rows && a.at(k, k) != 0; ++i) {
      a.at(i, k) /= a.at(k, k);
      for (int64_t j = k + 1; j < a.columns; ++j)
        a.at(i, j) -= a.at(i, k) * a.at(k, j);
    }
  }
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j)
      (i > j ? lower : upper).at(i, j) = a.at(i, j);
  writeMatrix(lower, number, call.results[0]);
  writeMatrix(upper, number, call.results[1]);
  for (int64_t i = 0; i < a.rows; ++i)
    call.results[2].set(number * a.rows + i, Scalar::ofSigned(order[i]));
}

/// Solves T x = x by a triangle T of which `read` gives elements.
static void solveTriangle(MutableArrayRef<double> x, bool isLower, bool isUnit,
                          llvm::function_ref<double(int64_t, int64_t)> read) {
  int64_t n = x.size();
  for (int64_t step = 0; step < n; ++step) {
    int64_t i = isLower ? step : n - 1 - step;
    for (int64_t j = isLower ? 0 : i + 1; j < (isLower ? i : n); ++j)
      x[i] -= read(i, j) * x[j];
    if (!isUnit)
      x[i] /= read(i, i);
  }
}

static void runLuSolve(const MatrixCall &call, int64_t number) {
  Matrix lu = readMatrix(call.operands[0], number);
  Matrix rows = readMatrix(call.operands[2], number);
  int64_t n = lu.rows;
  auto exchange = [&](MutableArrayRef<double> x, int64_t i) {
    int64_t pivot = call.operands[1].get(number * n + i).getSigned() - 1;
    std::swap(x[i], x[std::clamp<int64_t>(pivot, 0, n - 1)]);
  };
  // M = P L U is the transposed of A, and lies in columns.
  auto read = [&](int64_t i, int64_t j) { return lu.at(j, i); };
  auto readTransposed = [&](int64_t i, int64_t j) { return lu.at(i, j); };
  for (int64_t row = 0; row < rows.rows; ++row) {
    MutableArrayRef<double> x(&rows.elements[row * n], n);
    if (call.has("transposed")) {
      for (int64_t i = 0; i < n; ++i)
        exchange(x, i);
      solveTriangle(x, /*isLower=*/true, /*isUnit=*/true, read);
      solveTriangle(x, /*isLower=*/false, /*isUnit=*/false, read);
    } else {
      solveTriangle(x, /*isLower=*/true, /*isUnit=*/false, readTransposed);
      solveTriangle(x, /*isLower=*/false, /*isUnit=*/true, readTransposed);
      for (int64_t i = n; i-- > 0;)
        exchange(x, i);
    }
  }
  writeMatrix(rows, number, call.results[0]);
}

static void runTriangularSolve(const MatrixCall &call, int64_t number) {
  Matrix a = readMatrix(call.operands[0], number);
  Matrix b = readMatrix(call.operands[1], number);
  bool isTransposed = call.has("transposed"), isUnit = call.has("unit");
  int64_t info = 0;
  for (int64_t i = 0; i < a.rows && info == 0 && !isUnit; ++i)
    info = a.at(i, i) == 0 ? i + 1 : 0;
  std::vector<double> x(a.rows);
  for (int64_t column = 0; column < b.columns; ++column) {
    for (int64_t i = 0; i < a.rows; ++i)
      x[i] = b.at(i, column);
    solveTriangle(x, call.has("lower") != isTransposed, isUnit,
                  [&](int64_t i, int64_t j) {
                    return isTransposed ? a.at(j, i) : a.at(i, j);
                  });
    for (int64_t i = 0; i < a.rows; ++i)
      b.at(i, column) = x[i];
  }
  writeMatrix(b, number, call.results[0]);
  call.results[1].set(number, Scalar::ofSigned(info));
}

static void runPivotProduct(const MatrixCall &call, int64_t number) {
  Matrix factors = readMatrix(call.operands[0], number);
  ::metaops::ScaledProduct product;
  for (int64_t i = 0; i < factors.rows; ++i) {
    int64_t pivot = call.operands[1].get(number * factors.rows + i).getSigned();
    product.multiply(pivot == i + 1 ? factors.at(i, i) : -factors.at(i, i));
  }
  call.results[0].set(number, Scalar::ofFloat(product.get()));
}

static void runDiagonalForm(const MatrixCall &call, int64_t number) {
  Matrix form = readMatrix(call.operands[0], number);
  Matrix left = form, right = form;
  ::metaops::DiagonalForm<double>(form.elements.data(), left.elements.data(),
                                  right.elements.data(), form.rows)
      .compute();
  writeMatrix(left, number, call.results[0]);
  writeMatrix(right, number, call.results[1]);
  writeMatrix(form, number, call.results[2]);
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

char MatrixIsInvalid::ID = 0;

static std::string replace(std::string text, StringRef name, int64_t number) {
  size_t place = text.find(name.str());
  if (place != std::string::npos)
    text.replace(place, name.size(), std::to_string(number));
  return text;
}

/// Fails for the largest code, if there is one; see CheckMatrices.cpp.
static llvm::Error checkMatrices(const MatrixCall &call) {
  int64_t worst = 0, place = 0;
  const Tensor &codes = call.operands[0];
  int64_t elements = codes.getNumElements();
  for (int64_t i = 0; i < elements; ++i) {
    if (int64_t code = codes.get(i).getSigned(); code > worst) {
      worst = code;
      place = i;
    }
    call.results[0].set(i, codes.get(i));
  }
  DictionaryAttr parameters = call.getParameters();
  auto message = parameters ? parameters.getAs<ArrayAttr>("message") : nullptr;
  auto count =
      parameters ? parameters.getAs<DenseI64ArrayAttr>("count") : nullptr;
  if (!message || message.empty() || !count || count.size() != 1)
    return llvm::createStringError("lacks a message and a count");
  if (worst == 0)
    return llvm::Error::success();
  int64_t info = worst & 0xffffffff;
  size_t number = std::clamp<int64_t>(info, 1, message.size()) - 1;
  std::string text = cast<StringAttr>(message[number]).str();
  text = replace(std::move(text), "{matrix}", count[0] - (worst >> 32));
  text = replace(std::move(text), "{info}", info);
  if (count[0] > 0 && elements > count[0])
    text += llvm::formatv(", in example {0} of {1}", place / count[0],
                          elements / count[0]);
  return llvm::make_error<MatrixIsInvalid>(describePlace(call.op),
                                           std::move(text));
}

Expected<Tensors> metaop::evaluateRoutine(RoutineOp op,
                                          ArrayRef<Tensor> operands) {
  Tensors results;
  for (Type type : op.getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    auto made = Tensor::create(tensor.getElementType(), tensor.getShape());
    if (!made)
      return made.takeError();
    results.push_back(std::move(*made));
  }
  MatrixCall call = {op, operands, results};
  if (op.getRoutine() == "check_matrices") {
    if (llvm::Error error = checkMatrices(call))
      return std::move(error);
    return results;
  }
  if (op.getRoutine() == "product") {
    if (llvm::Error error = runProduct(call))
      return std::move(error);
    return results;
  }
  using Run = void (*)(const MatrixCall &, int64_t);
  Run run = llvm::StringSwitch<Run>(op.getRoutine())
                .Case("cholesky", runCholesky)
                .Case("lu", runLu)
                .Case("plu", runPlu)
                .Case("lu_solve", runLuSolve)
                .Case("triangular_solve", runTriangularSolve)
                .Case("pivot_product", runPivotProduct)
                .Case("diagonal_form", runDiagonalForm)
                .Case("qr", runQr)
                .Case("qr_complete", runQr)
                .Case("eigh", runEigh)
                .Case("eigvalsh", runEigh)
                .Case("eig", runEig)
                .Case("eigvals", runEig)
                .Case("svd", runSvd)
                .Case("svd_full", runSvd)
                .Case("svdvals", runSvd)
                .Default(nullptr);
  if (!run || operands.empty() || operands[0].getRank() < 2)
    return llvm::createStringError("calls the routine '" + op.getRoutine() +
                                   "', which the interpreter does not know");
  int64_t count = 1;
  for (int64_t extent : operands[0].getShape().drop_back(2))
    count *= extent;
  for (int64_t number = 0; number < count; ++number)
    run(call, number);
  return results;
}
