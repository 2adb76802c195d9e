//===- Matrices.h - Matrices of tensors -------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_INTERPRETER_MATRICES_H
#define METAOPS_LIB_INTERPRETER_MATRICES_H

#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "MetaOps/Interpreter/Interpreter.h"

#include <vector>

namespace mlir::metaop {

/// A matrix in rows.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> elements;

  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), elements(rows * columns) {}
  /// Returns the first columns of an identity matrix.
  static Matrix makeIdentity(int64_t rows, int64_t columns) {
    Matrix matrix(rows, columns);
    for (int64_t i = 0; i < std::min(rows, columns); ++i)
      matrix.at(i, i) = 1;
    return matrix;
  }

  double &at(int64_t i, int64_t j) { return elements[i * columns + j]; }
  double at(int64_t i, int64_t j) const { return elements[i * columns + j]; }

  Matrix transposed() const {
    Matrix other(columns, rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        other.at(j, i) = at(i, j);
    return other;
  }
};

/// The matrix of a number in a tensor, whose last two dimensions it is.
inline Matrix readMatrix(const Tensor &tensor, int64_t number) {
  ArrayRef<int64_t> shape = tensor.getShape().take_back(2);
  Matrix matrix(shape[0], shape[1]);
  int64_t count = shape[0] * shape[1];
  for (int64_t i = 0; i < count; ++i)
    matrix.elements[i] = tensor.get(number * count + i).getFloat();
  return matrix;
}

/// Writes the vector or the matrix of a number.
inline void writeElements(ArrayRef<double> elements, int64_t number,
                          Tensor &tensor) {
  int64_t count = elements.size();
  for (int64_t i = 0; i < count; ++i)
    tensor.set(number * count + i, Scalar::ofFloat(elements[i]));
}
inline void writeMatrix(const Matrix &matrix, int64_t number, Tensor &tensor) {
  writeElements(matrix.elements, number, tensor);
}

/// A call of a routine, and what it makes.
struct MatrixCall {
  RoutineOp op;
  ArrayRef<Tensor> operands;
  Tensors &results;

  bool has(StringRef flag) const {
    DictionaryAttr parameters = getParameters();
    auto values =
        parameters ? parameters.getAs<DenseI64ArrayAttr>(flag) : nullptr;
    return values && values.size() == 1 && values[0] == 1;
  }
  /// Returns null where there are none.
  DictionaryAttr getParameters() const {
    return RoutineOp(op).getParameters().value_or(nullptr);
  }
};

// MatrixDecompositions.cpp

/// "qr" and "qr_complete" of one matrix.
void runQr(const MatrixCall &call, int64_t number);
/// "eigh" and "eigvalsh".
void runEigh(const MatrixCall &call, int64_t number);
/// "svd", "svd_full" and "svdvals".
void runSvd(const MatrixCall &call, int64_t number);

// MatrixEigenvalues.cpp

/// "eig" and "eigvals".
void runEig(const MatrixCall &call, int64_t number);

// ProductRoutine.cpp

/// "product".
llvm::Error runProduct(const MatrixCall &call);

} // namespace mlir::metaop

#endif // METAOPS_LIB_INTERPRETER_MATRICES_H
