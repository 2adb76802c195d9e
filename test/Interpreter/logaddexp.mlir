// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines
// RUN: metaop-run %s | FileCheck %s --match-full-lines
// RUN: metaop-run %s --target=cuda --emulate | FileCheck %s --match-full-lines

// Logarithms of sums of exponentials: numbers of which the exponentials would
// overflow, infinities, no numbers, nothing.

func.func @main() -> (tensor<8xf32>, tensor<2xf32>, tensor<2xf16>, tensor<4xf32>) {
  %x = metaop.constant dense<[
    [0.0, 0.0], [1000.0, 1000.0], [-1000.0, -1000.0],
    [0xFF800000, 2.0], [0xFF800000, 0xFF800000], [0x7F800000, 1.0],
    [0x7F800000, 0xFF800000], [0x7FC00000, 0xFF800000]
  ]> : tensor<8x2xf32>
  %0 = metaop.reduce logaddexp %x dims = [1] : tensor<8x2xf32> -> tensor<8xf32>
  // CHECK: result 0: tensor<8xf32>
  // CHECK-NEXT: [0.693147, 1000.69, -999.307, 2, -inf, inf, inf, {{-?}}nan]
  %e = metaop.constant dense<> : tensor<2x0xf32>
  %1 = metaop.reduce logaddexp %e dims = [1] : tensor<2x0xf32> -> tensor<2xf32>
  // CHECK: result 1: tensor<2xf32>
  // CHECK-NEXT: [-inf, -inf]
  // Halves accumulate in f32.
  %h = metaop.constant dense<0.0> : tensor<2x4096xf16>
  %2 = metaop.reduce logaddexp %h dims = [1] : tensor<2x4096xf16> -> tensor<2xf16>
  // CHECK: result 2: tensor<2xf16>
  // CHECK-NEXT: [8.32031, 8.32031]
  %v = metaop.constant dense<[1.0, 1.0, -3.0, 5.0]> : tensor<4xf32>
  %i = metaop.constant dense<[2, 2, 0, 9]> : tensor<4xi64>
  %3 = metaop.scatter logaddexp %v[%i] map affine_map<(d0)[s0] -> (s0)>
      : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  // CHECK: result 3: tensor<4xf32>
  // CHECK-NEXT: [-3, -inf, 1.69315, -inf]
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<2xf32>, tensor<2xf16>, tensor<4xf32>
}
