// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// Conversions: truncation and saturation from float to integer, wrapping
// between integers, one rounding to float, and booleans.

func.func @main() -> (
    tensor<8xi8>, tensor<8xui8>, tensor<8xi32>, tensor<8xi64>,
    tensor<8xui64>, tensor<8xi1>, tensor<5xi8>, tensor<5xui8>,
    tensor<5xui16>, tensor<5xi64>, tensor<5xui64>, tensor<5xf32>,
    tensor<5xi1>, tensor<2xf32>, tensor<2xf16>, tensor<2xi8>,
    tensor<2xui64>, tensor<3xf64>, tensor<3xi64>, tensor<1xf32>,
    tensor<1xi1>, tensor<6xf16>, tensor<6xbf16>, tensor<2xf16>,
    tensor<2xbf16>) {
  %x = metaop.constant
      dense<[2.9, -2.9, 300.0, -300.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0.0]> : tensor<8xf32>
  %r0 = metaop.cast %x : tensor<8xf32> -> tensor<8xi8>
  // CHECK: result 0: tensor<8xi8>
  // CHECK-NEXT: [2, -2, 127, -128, 0, 127, -128, 0]
  %r1 = metaop.cast %x : tensor<8xf32> -> tensor<8xui8>
  // CHECK: result 1: tensor<8xui8>
  // CHECK-NEXT: [2, 0, 255, 0, 0, 255, 0, 0]
  %r2 = metaop.cast %x : tensor<8xf32> -> tensor<8xi32>
  // CHECK: result 2: tensor<8xi32>
  // CHECK-NEXT: [2, -2, 300, -300, 0, 2147483647, -2147483648, 0]
  %r3 = metaop.cast %x : tensor<8xf32> -> tensor<8xi64>
  // CHECK: result 3: tensor<8xi64>
  // CHECK-NEXT: [2, -2, 300, -300, 0, 9223372036854775807, -9223372036854775808, 0]
  %r4 = metaop.cast %x : tensor<8xf32> -> tensor<8xui64>
  // CHECK: result 4: tensor<8xui64>
  // CHECK-NEXT: [2, 0, 300, 0, 0, 18446744073709551615, 0, 0]
  %r5 = metaop.cast %x : tensor<8xf32> -> tensor<8xi1>
  // CHECK: result 5: tensor<8xi1>
  // CHECK-NEXT: [True, True, True, True, True, True, True, False]
  %y = metaop.constant dense<[300, -1, 128, -129, 0]> : tensor<5xi32>
  %r6 = metaop.cast %y : tensor<5xi32> -> tensor<5xi8>
  // CHECK: result 6: tensor<5xi8>
  // CHECK-NEXT: [44, -1, -128, 127, 0]
  %r7 = metaop.cast %y : tensor<5xi32> -> tensor<5xui8>
  // CHECK: result 7: tensor<5xui8>
  // CHECK-NEXT: [44, 255, 128, 127, 0]
  %r8 = metaop.cast %y : tensor<5xi32> -> tensor<5xui16>
  // CHECK: result 8: tensor<5xui16>
  // CHECK-NEXT: [300, 65535, 128, 65407, 0]
  %r9 = metaop.cast %y : tensor<5xi32> -> tensor<5xi64>
  // CHECK: result 9: tensor<5xi64>
  // CHECK-NEXT: [300, -1, 128, -129, 0]
  %r10 = metaop.cast %y : tensor<5xi32> -> tensor<5xui64>
  // CHECK: result 10: tensor<5xui64>
  // CHECK-NEXT: [300, 18446744073709551615, 128, 18446744073709551487, 0]
  %r11 = metaop.cast %y : tensor<5xi32> -> tensor<5xf32>
  // CHECK: result 11: tensor<5xf32>
  // CHECK-NEXT: [300, -1, 128, -129, 0]
  %r12 = metaop.cast %y : tensor<5xi32> -> tensor<5xi1>
  // CHECK: result 12: tensor<5xi1>
  // CHECK-NEXT: [True, True, True, True, False]
  %b = metaop.constant dense<[true, false]> : tensor<2xi1>
  %r13 = metaop.cast %b : tensor<2xi1> -> tensor<2xf32>
  // CHECK: result 13: tensor<2xf32>
  // CHECK-NEXT: [1, 0]
  %r14 = metaop.cast %b : tensor<2xi1> -> tensor<2xf16>
  // CHECK: result 14: tensor<2xf16>
  // CHECK-NEXT: [1, 0]
  %r15 = metaop.cast %b : tensor<2xi1> -> tensor<2xi8>
  // CHECK: result 15: tensor<2xi8>
  // CHECK-NEXT: [1, 0]
  %r16 = metaop.cast %b : tensor<2xi1> -> tensor<2xui64>
  // CHECK: result 16: tensor<2xui64>
  // CHECK-NEXT: [1, 0]
  %u = metaop.constant
      dense<[18446744073709551615, 9223372036854775808, 5]> : tensor<3xui64>
  %r17 = metaop.cast %u : tensor<3xui64> -> tensor<3xf64>
  // CHECK: result 17: tensor<3xf64>
  // CHECK-NEXT: [1.84467e+19, 9.22337e+18, 5]
  %r18 = metaop.cast %u : tensor<3xui64> -> tensor<3xi64>
  // CHECK: result 18: tensor<3xi64>
  // CHECK-NEXT: [-1, -9223372036854775808, 5]
  %v = metaop.constant dense<[18014399583223809]> : tensor<1xi64>
  // 2^54 + 2^30 + 1 is above the middle of two floats; by way of f64 it would be in it.
  %r19 = metaop.cast %v : tensor<1xi64> -> tensor<1xf32>
  // CHECK: result 19: tensor<1xf32>
  // CHECK-NEXT: [1.80144e+16]
  %w = metaop.constant dense<[1.8014399e+16]> : tensor<1xf32>
  %r20 = metaop.cmp gt %r19, %w : tensor<1xf32> -> tensor<1xi1>
  // CHECK: result 20: tensor<1xi1>
  // CHECK-NEXT: [True]
  %h = metaop.constant
      dense<[65519.0, 65520.0, 1.0e-08, 0.1, 2049.0, 2051.0]> : tensor<6xf32>
  // f16: the largest number, infinity, zero, and ties to even.
  %r21 = metaop.cast %h : tensor<6xf32> -> tensor<6xf16>
  // CHECK: result 21: tensor<6xf16>
  // CHECK-NEXT: [65504, inf, 0, 0.0999756, 2048, 2052]
  %r22 = metaop.cast %h : tensor<6xf32> -> tensor<6xbf16>
  // CHECK: result 22: tensor<6xbf16>
  // CHECK-NEXT: [65536, 65536, 1.00117e-08, 0.100098, 2048, 2048]
  %d = metaop.constant
      dense<[1.0004882812509095, 1.0039062500009095]> : tensor<2xf64>
  // f64 is rounded once: not by way of f32.
  %r23 = metaop.cast %d : tensor<2xf64> -> tensor<2xf16>
  // CHECK: result 23: tensor<2xf16>
  // CHECK-NEXT: [1.00098, 1.00391]
  %r24 = metaop.cast %d : tensor<2xf64> -> tensor<2xbf16>
  // CHECK: result 24: tensor<2xbf16>
  // CHECK-NEXT: [1, 1.00781]
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12,
    %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24 :
      tensor<8xi8>, tensor<8xui8>, tensor<8xi32>, tensor<8xi64>,
      tensor<8xui64>, tensor<8xi1>, tensor<5xi8>, tensor<5xui8>,
      tensor<5xui16>, tensor<5xi64>, tensor<5xui64>, tensor<5xf32>,
      tensor<5xi1>, tensor<2xf32>, tensor<2xf16>, tensor<2xi8>,
      tensor<2xui64>, tensor<3xf64>, tensor<3xi64>, tensor<1xf32>,
      tensor<1xi1>, tensor<6xf16>, tensor<6xbf16>, tensor<2xf16>,
      tensor<2xbf16>
}
