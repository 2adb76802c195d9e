// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines
// RUN: metaop-run %s | FileCheck %s --match-full-lines

// The transforms of the runtime are those of the interpreter, which sums.

func.func @main() -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<3xf64>, tensor<3xf64>, tensor<4xf32>,
                      tensor<5xf64>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1xf32>) {
  %x = metaop.constant dense<[[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %y = metaop.constant dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<2x4xf32>
  // CHECK: result 0: tensor<2x4xf32>
  // CHECK-NEXT: {{\[}}[10, -2, -2, -2],
  // CHECK-NEXT: [1, -1, -1, 1]]
  // CHECK: result 1: tensor<2x4xf32>
  // CHECK-NEXT: {{\[}}[0, 2, {{-?}}0, -2],
  // CHECK-NEXT: [1, -1, -1, 1]]
  %0, %1 = metaop.fft(%x, %y) dims = [1] scale = 1.0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %v = metaop.constant dense<[1.0, 0.0, 2.0, 0.0]> : tensor<4xf64>
  // Of real numbers a half is there; the middle one is real.
  // CHECK: result 2: tensor<3xf64>
  // CHECK-NEXT: [6, -2, 6]
  // CHECK: result 3: tensor<3xf64>
  // CHECK-NEXT: [0, {{-?}}0, 0]
  %2, %3 = metaop.fft(%v) dims = [0] scale = 2.0 : (tensor<4xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  // Imaginary parts of the first and the middle one are not read.
  %a = metaop.constant dense<[4.0, 1.0, 2.0]> : tensor<3xf32>
  %b = metaop.constant dense<[0x7FC00000, 1.0, 0x7F800000]> : tensor<3xf32>
  // CHECK: result 4: tensor<4xf32>
  // CHECK-NEXT: [2, 0, 1, 1]
  %4 = metaop.fft(%a, %b) dims = [0] inverse scale = 0.25 : (tensor<3xf32>, tensor<3xf32>) -> tensor<4xf32>
  %c = metaop.constant dense<[5.0, 0.0, 0.0]> : tensor<3xf64>
  // CHECK: result 5: tensor<5xf64>
  // CHECK-NEXT: [1, 1, 1, 1, 1]
  %5 = metaop.fft(%c, %c) dims = [0] inverse scale = 0.2 : (tensor<3xf64>, tensor<3xf64>) -> tensor<5xf64>
  // Along both dimensions, of which the last one given has a half.
  %m = metaop.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  // CHECK: result 6: tensor<2x2xf32>
  // CHECK-NEXT: {{\[}}[10, -2],
  // CHECK-NEXT: [-4, 0]]
  // CHECK: result 7: tensor<2x2xf32>
  // CHECK-NEXT: {{\[}}[0, {{-?}}0],
  // CHECK-NEXT: [{{-?}}0, {{-?}}0]]
  %6, %7 = metaop.fft(%m) dims = [1, 0] scale = 1.0 : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  %s = metaop.constant dense<[3.0]> : tensor<1xf32>
  // CHECK: result 8: tensor<1xf32>
  // CHECK-NEXT: [1.5]
  %8 = metaop.fft(%s, %s) dims = [0] inverse scale = 0.5 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<3xf64>, tensor<3xf64>, tensor<4xf32>, tensor<5xf64>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1xf32>
}
