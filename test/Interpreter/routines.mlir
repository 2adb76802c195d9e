// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines
// RUN: metaop-run %s | FileCheck %s --match-full-lines

// Kernels and the routines of the runtime do what the interpreter does.

func.func @main() -> (tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<6xf32>,
                      tensor<6xf32>, tensor<4xf32>, tensor<6xf32>, tensor<6xi64>, tensor<6xi64>,
                      tensor<2x4xi32>, tensor<2x4xi64>, tensor<2xf32>, tensor<3xi64>,
                      tensor<1x4xi32>, tensor<1x4xi64>, tensor<2xf32>, tensor<2xf32>) {
  %i = metaop.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32>
  // CHECK: result 0: tensor<2x4xi32>
  // CHECK-NEXT: {{\[}}[1, 3, 6, 10],
  // CHECK-NEXT: [5, 11, 18, 26]]
  %0 = metaop.prefix add %i dim = 1 : tensor<2x4xi32>
  // CHECK: result 1: tensor<2x4xi32>
  // CHECK-NEXT: {{\[}}[5, 12, 21, 32],
  // CHECK-NEXT: [5, 6, 7, 8]]
  %1 = metaop.prefix mul %i dim = 0 reverse : tensor<2x4xi32>
  // CHECK: result 2: tensor<2x4xi32>
  // CHECK-NEXT: {{\[}}[-2147483648, 1, 2, 3],
  // CHECK-NEXT: [-2147483648, 5, 6, 7]]
  %2 = metaop.prefix max %i dim = 1 exclusive : tensor<2x4xi32>

  %x = metaop.constant dense<[2.0, 0x7FC00000, -1.0, 0.0, 2.0, -0.0]> : tensor<6xf32>
  // CHECK: result 3: tensor<6xf32>
  // CHECK-NEXT: [2, {{-?}}nan, {{-?}}nan, {{-?}}nan, {{-?}}nan, {{-?}}nan]
  %3 = metaop.prefix max %x dim = 0 : tensor<6xf32>
  // CHECK: result 4: tensor<6xf32>
  // CHECK-NEXT: [{{-?}}nan, {{-?}}nan, 1, 2, 2, -0]
  %4 = metaop.prefix add %x dim = 0 reverse : tensor<6xf32>
  %a = metaop.constant dense<[9.0, 2.0, 0.5, -1.0]> : tensor<4xf32>
  %b = metaop.constant dense<[1.0, 1.0, 1.0, 1.0]> : tensor<4xf32>
  // CHECK: result 5: tensor<4xf32>
  // CHECK-NEXT: [1, 3, 2.5, -1.5]
  %5 = metaop.prefix linear %b factors(%a) dim = 0 : tensor<4xf32>
  // NaN is the largest; equal elements keep their order, in both directions.
  // CHECK: result 6: tensor<6xf32>
  // CHECK-NEXT: [{{-?}}nan, 2, 2, {{-?}}0, {{-?}}0, -1]
  %6, %unused = metaop.sort %x dim = 0 descending : tensor<6xf32> -> tensor<6xf32>
  // CHECK: result 7: tensor<6xi64>
  // CHECK-NEXT: [2, 3, 5, 0, 4, 1]
  %unused2, %7 = metaop.sort %x dim = 0 : tensor<6xf32> -> tensor<6xf32>
  // CHECK: result 8: tensor<6xi64>
  // CHECK-NEXT: [1, 0, 4, 3, 5, 2]
  %y = metaop.stop_fuse %x : tensor<6xf32>
  %unused3, %8 = metaop.sort %y dim = 0 descending : tensor<6xf32> -> tensor<6xf32>
  // Both, of columns.
  // CHECK: result 9: tensor<2x4xi32>
  // CHECK-NEXT: {{\[}}[5, 6, 7, 8],
  // CHECK-NEXT: [1, 2, 3, 4]]
  // CHECK: result 10: tensor<2x4xi64>
  // CHECK-NEXT: {{\[}}[1, 1, 1, 1],
  // CHECK-NEXT: [0, 0, 0, 0]]
  %9, %10 = metaop.sort %i dim = 0 descending : tensor<2x4xi32> -> tensor<2x4xi32>
  // Parts of the order: of vectors one result, of columns both.
  // CHECK: result 11: tensor<2xf32>
  // CHECK-NEXT: [2, 2]
  %three = metaop.constant dense<3> : tensor<i64>
  %11, %unused4 = metaop.sort %x dim = 0 begin = %three : tensor<6xf32> -> tensor<2xf32>
  // CHECK: result 12: tensor<3xi64>
  // CHECK-NEXT: [1, 0, 4]
  %unused5, %12 = metaop.sort %x dim = 0 descending : tensor<6xf32> -> tensor<3xf32>
  // CHECK: result 13: tensor<1x4xi32>
  // CHECK-NEXT: {{\[}}[5, 6, 7, 8]]
  // CHECK: result 14: tensor<1x4xi64>
  // CHECK-NEXT: {{\[}}[1, 1, 1, 1]]
  %one = metaop.constant dense<1> : tensor<i64>
  %13, %14 = metaop.sort %i dim = 0 begin = %one : tensor<2x4xi32> -> tensor<1x4xi32>
  // Places behind the end count as the last ones.
  // CHECK: result 15: tensor<2xf32>
  // CHECK-NEXT: [2, {{-?}}nan]
  %large = metaop.constant dense<99> : tensor<i64>
  %15, %unused6 = metaop.sort %x dim = 0 begin = %large : tensor<6xf32> -> tensor<2xf32>
  // And those before the start as the first ones.
  // CHECK: result 16: tensor<2xf32>
  // CHECK-NEXT: [-1, {{-?}}0]
  %small = metaop.constant dense<-5> : tensor<i64>
  %16, %unused7 = metaop.sort %x dim = 0 begin = %small : tensor<6xf32> -> tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<6xf32>, tensor<6xf32>, tensor<4xf32>, tensor<6xf32>, tensor<6xi64>, tensor<6xi64>, tensor<2x4xi32>, tensor<2x4xi64>, tensor<2xf32>, tensor<3xi64>, tensor<1x4xi32>, tensor<1x4xi64>, tensor<2xf32>, tensor<2xf32>
}
