// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines
// RUN: not metaop-run %s --interpret --entry=unsound 2>&1 | FileCheck %s --check-prefix=UNSOUND

// Orthogonal factors, eigenvalues and singular values. What is in a batch with
// a matrix that is not finite is as it is without.

func.func @main() -> (tensor<2x2xf64>, tensor<2x2xf64>, tensor<3x3xf64>, tensor<2x2xf64>, tensor<2xi64>, tensor<2xf64>, tensor<1x1xf64>, tensor<1xf64>, tensor<1x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>) {
  %a = metaop.constant dense<[[3.0, 1.0], [4.0, 3.0]]> : tensor<2x2xf64>
  // CHECK: result 0: tensor<2x2xf64>
  // CHECK-NEXT: {{\[}}[-0.6, -0.8],
  // CHECK-NEXT: [-0.8, 0.6]]
  // CHECK: result 1: tensor<2x2xf64>
  // CHECK-NEXT: {{\[}}[-5, -3],
  // CHECK-NEXT: [0, 1]]
  %q, %r = metaop.routine "qr"(%a) batched total : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>)
  %column = metaop.constant dense<[[-2.0], [0.0], [0.0]]> : tensor<3x1xf64>
  // CHECK: result 2: tensor<3x3xf64>
  // CHECK-NEXT: {{\[}}[1, 0, 0],
  // CHECK-NEXT: [0, 1, 0],
  // CHECK-NEXT: [0, 0, 1]]
  %whole, %triangle = metaop.routine "qr_complete"(%column) batched total : (tensor<3x1xf64>) -> (tensor<3x3xf64>, tensor<3x1xf64>)

  // The upper triangle is not read.
  %b = metaop.constant dense<[[[2.0, 9.0], [0.0, 1.0]], [[1.0, 0.0], [0x7FF0000000000000, 2.0]]]> : tensor<2x2x2xf64>
  // CHECK: result 3: tensor<2x2xf64>
  // CHECK-NEXT: {{\[}}[1, 2],
  // CHECK-NEXT: [nan, nan]]
  // CHECK: result 4: tensor<2xi64>
  // CHECK-NEXT: [0, 1]
  %values, %vectors, %info = metaop.routine "eigh"(%b) batched total
      : (tensor<2x2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2x2xf64>, tensor<2xi64>)
  %symmetric = metaop.constant dense<[[1.0, 0.0], [2.0, 1.0]]> : tensor<2x2xf64>
  // CHECK: result 5: tensor<2xf64>
  // CHECK-NEXT: [-1, 3]
  %5, %fine = metaop.routine "eigvalsh"(%symmetric) batched total : (tensor<2x2xf64>) -> (tensor<2xf64>, tensor<i64>)

  %row = metaop.constant dense<[[0.0, 2.0]]> : tensor<1x2xf64>
  // CHECK: result 6: tensor<1x1xf64>
  // CHECK-NEXT: {{\[}}[1]]
  // CHECK: result 7: tensor<1xf64>
  // CHECK-NEXT: [2]
  // CHECK: result 8: tensor<1x2xf64>
  // CHECK-NEXT: {{\[}}[0, 1]]
  %u, %s, %vh, %found = metaop.routine "svd"(%row) batched total
      : (tensor<1x2xf64>) -> (tensor<1x1xf64>, tensor<1xf64>, tensor<1x2xf64>, tensor<i64>)
  // CHECK: result 9: tensor<2x2xf64>
  // CHECK-NEXT: {{\[}}[0, 1],
  // CHECK-NEXT: [1, 0]]
  %fu, %fs, %fvh, %ffound = metaop.routine "svd_full"(%row) batched total
      : (tensor<1x2xf64>) -> (tensor<1x1xf64>, tensor<1xf64>, tensor<2x2xf64>, tensor<i64>)
  %c = metaop.constant dense<[[[3.0, 0.0], [0.0, 4.0]], [[1.0, 0.0], [0x7FF8000000000000, 2.0]]]> : tensor<2x2x2xf64>
  // CHECK: result 10: tensor<2x2xf64>
  // CHECK-NEXT: {{\[}}[4, 3],
  // CHECK-NEXT: [nan, nan]]
  %10, %unsound = metaop.routine "svdvals"(%c) batched total : (tensor<2x2x2xf64>) -> (tensor<2x2xf64>, tensor<2xi64>)
  return %q, %r, %whole, %values, %info, %5, %u, %s, %vh, %fvh, %10 : tensor<2x2xf64>, tensor<2x2xf64>, tensor<3x3xf64>, tensor<2x2xf64>, tensor<2xi64>, tensor<2xf64>, tensor<1x1xf64>, tensor<1xf64>, tensor<1x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>
}

// The message is that of the number.
// UNSOUND: matrix 1 of 2 does not converge
func.func @unsound() -> tensor<2xi64> {
  %codes = metaop.constant dense<[0, 4294967298]> : tensor<2xi64>
  %0 = metaop.routine "check_matrices"(%codes)
      parameters = {message = ["matrix {matrix} of 2 is not finite", "matrix {matrix} of 2 does not converge"], count = array<i64: 2>} batched
      : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
