// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines
// RUN: not metaop-run %s --interpret --entry=singular 2>&1 | FileCheck %s --check-prefix=SINGULAR
// RUN: not metaop-run %s --interpret --entry=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// Matrices are factored, and equations solved by the factors.

func.func @main() -> (tensor<2x2xf64>, tensor<2xi64>, tensor<1x3xf64>, tensor<1x3xf64>, tensor<2x1xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<3xi64>) {
  %a = metaop.constant dense<[[4.0, 9.0], [2.0, 5.0]]> : tensor<2x2xf64>
  // CHECK: result 0: tensor<2x2xf64>
  // CHECK-NEXT: {{\[}}[2, 0],
  // CHECK-NEXT: [1, 2]]
  %0, %none = metaop.routine "cholesky"(%a) batched total : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i64>)
  %b = metaop.constant dense<[[[1.0, 2.0], [2.0, 1.0]], [[1.0, 2.0], [2.0, 5.0]]]> : tensor<2x2x2xf64>
  // CHECK: result 1: tensor<2xi64>
  // CHECK-NEXT: [2, 0]
  %f, %info = metaop.routine "cholesky"(%b) batched total : (tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2xi64>)

  %c = metaop.constant dense<[[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [2.0, 0.0, 1.0]]> : tensor<3x3xf64>
  %rows = metaop.constant dense<[[7.0, 3.0, 5.0]]> : tensor<1x3xf64>
  %lu, %pivots, %fine = metaop.routine "lu"(%c) batched total : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi64>, tensor<i64>)
  // CHECK: result 2: tensor<1x3xf64>
  // CHECK-NEXT: {{\[}}[1, 2, 3]]
  %2 = metaop.routine "lu_solve"(%lu, %pivots, %rows) parameters = {transposed = array<i64: 0>} batched total
      : (tensor<3x3xf64>, tensor<3xi64>, tensor<1x3xf64>) -> tensor<1x3xf64>
  // CHECK: result 3: tensor<1x3xf64>
  // CHECK-NEXT: {{\[}}[-1, 1, 4]]
  %transposed = metaop.constant dense<[[9.0, -1.0, 3.0]]> : tensor<1x3xf64>
  %3 = metaop.routine "lu_solve"(%lu, %pivots, %transposed) parameters = {transposed = array<i64: 1>} batched total
      : (tensor<3x3xf64>, tensor<3xi64>, tensor<1x3xf64>) -> tensor<1x3xf64>
  %right = metaop.constant dense<[[4.0], [8.0]]> : tensor<2x1xf64>
  // CHECK: result 4: tensor<2x1xf64>
  // CHECK-NEXT: {{\[}}[2],
  // CHECK-NEXT: [3]]
  %4, %nothing = metaop.routine "triangular_solve"(%0, %right)
      parameters = {lower = array<i64: 1>, transposed = array<i64: 0>, unit = array<i64: 0>} batched total
      : (tensor<2x2xf64>, tensor<2x1xf64>) -> (tensor<2x1xf64>, tensor<i64>)
  %tall = metaop.constant dense<[[1.0, 2.0], [2.0, 2.0], [4.0, 0.0]]> : tensor<3x2xf64>
  // CHECK: result 5: tensor<3x2xf64>
  // CHECK-NEXT: {{\[}}[1, 0],
  // CHECK-NEXT: [0.5, 1],
  // CHECK-NEXT: [0.25, 1]]
  // CHECK: result 6: tensor<2x2xf64>
  // CHECK-NEXT: {{\[}}[4, 0],
  // CHECK-NEXT: [0, 2]]
  // CHECK: result 7: tensor<3xi64>
  // CHECK-NEXT: [2, 1, 0]
  %lower, %upper, %order = metaop.routine "plu"(%tall) batched total
      : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2x2xf64>, tensor<3xi64>)
  return %0, %info, %2, %3, %4, %lower, %upper, %order : tensor<2x2xf64>, tensor<2xi64>, tensor<1x3xf64>, tensor<1x3xf64>, tensor<2x1xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<3xi64>
}

// SINGULAR: matrix 1 of 3: pivot 2 is 0
func.func @singular() -> tensor<3xi64> {
  %codes = metaop.constant dense<[0, 8589934594, 4294967297]> : tensor<3xi64>
  %0 = metaop.routine "check_matrices"(%codes)
      parameters = {message = ["matrix {matrix} of 3: pivot {info} is 0"], count = array<i64: 3>} batched
      : (tensor<3xi64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// UNKNOWN: calls the routine 'any', which the interpreter does not know
func.func @unknown() -> tensor<3xi64> {
  %x = metaop.constant dense<0> : tensor<3xi64>
  %0 = metaop.routine "any"(%x) : (tensor<3xi64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
