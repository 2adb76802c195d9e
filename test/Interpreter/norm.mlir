// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines
// RUN: metaop-run %s | FileCheck %s --match-full-lines

// Norms whose squares are no numbers of f32, of nothing, and of what is none.

func.func @main() -> (tensor<4xf32>, tensor<1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<4xf32>, tensor<3xf32>, tensor<5xf32>) {
  %x = metaop.constant dense<[[3.0, 4.0, 12.0], [3.0e20, 4.0e20, 12.0e20],
      [0.0, -0.0, 0.0], [3.0e-30, 4.0e-30, -12.0e-30]]> : tensor<4x3xf32>
  %0 = metaop.norm %x dims = [1] : tensor<4x3xf32> -> tensor<4xf32>
  // CHECK: result 0: tensor<4xf32>
  // CHECK-NEXT: [13, 1.3e+21, 0, 1.3e-29]
  %y = metaop.constant dense<[[1.0, 2.0, 0.0], [1.0, 2.0, 4.0]]> : tensor<2x3xf32>
  %1 = metaop.norm %y dims = [0] keep_dims divisor = 2.0 : tensor<2x3xf32> -> tensor<1x3xf32>
  // CHECK: result 1: tensor<1x3xf32>
  // CHECK-NEXT{LITERAL}: [[1, 2, 2.82843]]
  %none = metaop.constant dense<0.0> : tensor<2x0xf32>
  %2 = metaop.norm %none dims = [1] : tensor<2x0xf32> -> tensor<2xf32>
  // CHECK: result 2: tensor<2xf32>
  // CHECK-NEXT: [0, 0]
  %z = metaop.constant dense<[[0x7F800000, 1.0]]> : tensor<1x2xf32>
  %3 = metaop.norm %z dims = [1] : tensor<1x2xf32> -> tensor<1xf32>
  // CHECK: result 3: tensor<1xf32>
  // CHECK-NEXT: [inf]
  %4 = metaop.norm %x dims = [1] order = 3.0 : tensor<4x3xf32> -> tensor<4xf32>
  // CHECK: result 4: tensor<4xf32>
  // CHECK-NEXT: [12.2071, 1.22071e+21, 0, 1.22071e-29]
  %w = metaop.constant dense<[[-1.0, 2.0], [1.0, -2.0], [-1.0, 1.0]]> : tensor<3x2xf32>
  %5 = metaop.norm %w dims = [1] order = 3.0 signed : tensor<3x2xf32> -> tensor<3xf32>
  // CHECK: result 5: tensor<3xf32>
  // CHECK-NEXT: [1.91293, {{-?}}nan, 0]
  %u = metaop.constant dense<[[0xFF800000, 1.0], [0xFF800000, 0x7F800000],
      [-0.0, 0.0], [-0.0, 2.0], [-1.0, 0x7F800000]]> : tensor<5x2xf32>
  %6 = metaop.norm %u dims = [1] order = 1.5 signed : tensor<5x2xf32> -> tensor<5xf32>
  // CHECK: result 6: tensor<5xf32>
  // CHECK-NEXT: [inf, inf, 0, 2, {{-?}}nan]
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<4xf32>, tensor<3xf32>, tensor<5xf32>
}
