// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// Element-wise ops of two floats: signs of floor_div and mod, division by
// zero, and NaN, which max and min keep.

func.func @main() -> (
    tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
    tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
    tensor<7xf32>, tensor<6xf32>, tensor<3xf32>, tensor<3xf32>,
    tensor<2xf64>, tensor<2xf64>, tensor<2xf32>, tensor<2xf32>,
    tensor<2x0xf32>) {
  %x = metaop.constant
      dense<[7.5, -7.5, 7.5, -7.5, 0.0, 1.0, 0x7FC00000, 3.0]> : tensor<8xf32>
  %y = metaop.constant
      dense<[2.0, 2.0, -2.0, -2.0, 3.0, 0.0, 1.0, 0x7FC00000]> : tensor<8xf32>
  %r0 = metaop.add %x, %y : tensor<8xf32>
  // CHECK: result 0: tensor<8xf32>
  // CHECK-NEXT: [9.5, -5.5, 5.5, -9.5, 3, 1, nan, nan]
  %r1 = metaop.sub %x, %y : tensor<8xf32>
  // CHECK: result 1: tensor<8xf32>
  // CHECK-NEXT: [5.5, -9.5, 9.5, -5.5, -3, 1, nan, nan]
  %r2 = metaop.mul %x, %y : tensor<8xf32>
  // CHECK: result 2: tensor<8xf32>
  // CHECK-NEXT: [15, -15, -15, 15, 0, 0, nan, nan]
  %r3 = metaop.div %x, %y : tensor<8xf32>
  // CHECK: result 3: tensor<8xf32>
  // CHECK-NEXT: [3.75, -3.75, -3.75, 3.75, 0, inf, nan, nan]
  %r4 = metaop.floor_div %x, %y : tensor<8xf32>
  // CHECK: result 4: tensor<8xf32>
  // CHECK-NEXT: [3, -4, -4, 3, 0, inf, nan, nan]
  %r5 = metaop.mod %x, %y : tensor<8xf32>
  // CHECK: result 5: tensor<8xf32>
  // CHECK-NEXT: [1.5, 0.5, -0.5, -1.5, 0, nan, nan, nan]
  %r6 = metaop.max %x, %y : tensor<8xf32>
  // CHECK: result 6: tensor<8xf32>
  // CHECK-NEXT: [7.5, 2, 7.5, -2, 3, 1, nan, nan]
  %r7 = metaop.min %x, %y : tensor<8xf32>
  // CHECK: result 7: tensor<8xf32>
  // CHECK-NEXT: [2, -7.5, -2, -7.5, 0, 0, nan, nan]
  %a = metaop.constant dense<[2.0, 9.0, -2.0, -2.0, 0.0, 2.0, 4.0]> : tensor<7xf32>
  %b = metaop.constant dense<[10.0, 0.5, 3.0, 0.5, 0.0, -1.0, -0.5]> : tensor<7xf32>
  %r8 = metaop.pow %a, %b : tensor<7xf32>
  // CHECK: result 8: tensor<7xf32>
  // CHECK-NEXT: [1024, 3, -8, nan, 1, 0.5, 0.5]
  %c = metaop.constant dense<[5.0, -5.0, 5.0, -5.0, 6.0, 1.0e+20]> : tensor<6xf32>
  %e = metaop.constant
      dense<[0x7F800000, 0x7F800000, 0xFF800000, 0xFF800000, -3.0, 7.0]> : tensor<6xf32>
  // The remainder is exact, and has the sign of the divisor even where it is zero.
  %r9 = metaop.mod %c, %e : tensor<6xf32>
  // CHECK: result 9: tensor<6xf32>
  // CHECK-NEXT: [5, inf, -inf, -5, -0, 3]
  %zp = metaop.constant dense<[0.0, -0.0, 0.0]> : tensor<3xf32>
  %zn = metaop.constant dense<[-0.0, 0.0, 0.0]> : tensor<3xf32>
  // -0 is less than +0.
  %r10 = metaop.max %zp, %zn : tensor<3xf32>
  // CHECK: result 10: tensor<3xf32>
  // CHECK-NEXT: [0, 0, 0]
  %r11 = metaop.min %zp, %zn : tensor<3xf32>
  // CHECK: result 11: tensor<3xf32>
  // CHECK-NEXT: [-0, -0, 0]
  %g = metaop.constant dense<[1.0e+16, 0.1]> : tensor<2xf64>
  %h = metaop.constant dense<[1.0, 0.2]> : tensor<2xf64>
  %r12 = metaop.add %g, %h : tensor<2xf64>
  // CHECK: result 12: tensor<2xf64>
  // CHECK-NEXT: [1e+16, 0.3]
  // f64 rounds to f64.
  %r13 = metaop.sub %r12, %g : tensor<2xf64>
  // CHECK: result 13: tensor<2xf64>
  // CHECK-NEXT: [0, 0.2]
  %k = metaop.constant dense<[1.6777216e+07, 0.1]> : tensor<2xf32>
  %l = metaop.constant dense<[1.0, 0.2]> : tensor<2xf32>
  %r14 = metaop.add %k, %l : tensor<2xf32>
  // CHECK: result 14: tensor<2xf32>
  // CHECK-NEXT: [1.67772e+07, 0.3]
  // f32 rounds to f32 at each op.
  %r15 = metaop.sub %r14, %k : tensor<2xf32>
  // CHECK: result 15: tensor<2xf32>
  // CHECK-NEXT: [0, 0.2]
  %n = metaop.constant dense<> : tensor<2x0xf32>
  %r16 = metaop.add %n, %n : tensor<2x0xf32>
  // CHECK: result 16: tensor<2x0xf32>
  // CHECK-NEXT{LITERAL}: [[],
  // CHECK-NEXT: []]
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12,
    %r13, %r14, %r15, %r16 :
      tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
      tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
      tensor<7xf32>, tensor<6xf32>, tensor<3xf32>, tensor<3xf32>,
      tensor<2xf64>, tensor<2xf64>, tensor<2xf32>, tensor<2xf32>,
      tensor<2x0xf32>
}
