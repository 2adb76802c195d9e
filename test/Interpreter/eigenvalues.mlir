// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// Eigenvalues of matrices that are not symmetric, also in a batch with one that
// is not finite.

func.func @main() -> (tensor<2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2xi64>) {
  %a = metaop.constant dense<[[1.0, 2.0], [-2.0, 1.0]]> : tensor<2x2xf64>
  // CHECK: result 0: tensor<2xf64>
  // CHECK-NEXT: [1, 1]
  // CHECK: result 1: tensor<2xf64>
  // CHECK-NEXT: [2, -2]
  // CHECK: result 2: tensor<2x2xf64>
  // CHECK-NEXT: {{\[}}[0.707{{[0-9]*}}, 0.707{{[0-9]*}}],
  // CHECK-NEXT: [0, 0]]
  // CHECK: result 3: tensor<2x2xf64>
  // CHECK-NEXT: {{\[}}[0, 0],
  // CHECK-NEXT: [0.707{{[0-9]*}}, -0.707{{[0-9]*}}]]
  %real, %imag, %vreal, %vimag, %info = metaop.routine "eig"(%a) batched total
      : (tensor<2x2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<i64>)
  %b = metaop.constant dense<[[[3.0, 1.0, 5.0], [0.0, 2.0, 4.0], [0.0, 0.0, -1.0]], [[1.0, 0.0, 0.0], [0x7FF0000000000000, 2.0, 0.0], [0.0, 0.0, 1.0]]]> : tensor<2x3x3xf64>
  // CHECK: result 4: tensor<2x3xf64>
  // CHECK-NEXT: {{\[}}[3, 2, -1],
  // CHECK-NEXT: [nan, nan, nan]]
  // CHECK: result 5: tensor<2x3xf64>
  // CHECK-NEXT: {{\[}}[0, 0, 0],
  // CHECK-NEXT: [nan, nan, nan]]
  // CHECK: result 6: tensor<2xi64>
  // CHECK-NEXT: [0, 1]
  %vals, %none, %found = metaop.routine "eigvals"(%b) batched total
      : (tensor<2x3x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2xi64>)
  return %real, %imag, %vreal, %vimag, %vals, %none, %found : tensor<2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2xi64>
}
