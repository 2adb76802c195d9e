// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// Comparisons and choices. NaN differs from everything, itself included;
// unsigned integers and booleans compare without a sign.

func.func @main() -> (
    tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>,
    tensor<6xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>,
    tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2x3xi16>) {
  %x = metaop.constant
      dense<[1.0, 2.0, 3.0, 0x7FC00000, 0x7FC00000, -0.0]> : tensor<6xf32>
  %y = metaop.constant dense<[2.0, 2.0, 1.0, 1.0, 0x7FC00000, 0.0]> : tensor<6xf32>
  %r0 = metaop.cmp eq %x, %y : tensor<6xf32> -> tensor<6xi1>
  // CHECK: result 0: tensor<6xi1>
  // CHECK-NEXT: [False, True, False, False, False, True]
  %r1 = metaop.cmp ne %x, %y : tensor<6xf32> -> tensor<6xi1>
  // CHECK: result 1: tensor<6xi1>
  // CHECK-NEXT: [True, False, True, True, True, False]
  %r2 = metaop.cmp lt %x, %y : tensor<6xf32> -> tensor<6xi1>
  // CHECK: result 2: tensor<6xi1>
  // CHECK-NEXT: [True, False, False, False, False, False]
  %r3 = metaop.cmp le %x, %y : tensor<6xf32> -> tensor<6xi1>
  // CHECK: result 3: tensor<6xi1>
  // CHECK-NEXT: [True, True, False, False, False, True]
  %r4 = metaop.cmp gt %x, %y : tensor<6xf32> -> tensor<6xi1>
  // CHECK: result 4: tensor<6xi1>
  // CHECK-NEXT: [False, False, True, False, False, False]
  %r5 = metaop.cmp ge %x, %y : tensor<6xf32> -> tensor<6xi1>
  // CHECK: result 5: tensor<6xi1>
  // CHECK-NEXT: [False, True, True, False, False, True]
  %i0 = metaop.constant dense<[-1, 5]> : tensor<2xi8>
  %i1 = metaop.constant dense<[1, 5]> : tensor<2xi8>
  %r6 = metaop.cmp lt %i0, %i1 : tensor<2xi8> -> tensor<2xi1>
  // CHECK: result 6: tensor<2xi1>
  // CHECK-NEXT: [True, False]
  %r7 = metaop.cmp ge %i0, %i1 : tensor<2xi8> -> tensor<2xi1>
  // CHECK: result 7: tensor<2xi1>
  // CHECK-NEXT: [False, True]
  %u0 = metaop.constant dense<[255, 5]> : tensor<2xui8>
  %u1 = metaop.constant dense<[1, 5]> : tensor<2xui8>
  %r8 = metaop.cmp lt %u0, %u1 : tensor<2xui8> -> tensor<2xi1>
  // CHECK: result 8: tensor<2xi1>
  // CHECK-NEXT: [False, False]
  %r9 = metaop.cmp ge %u0, %u1 : tensor<2xui8> -> tensor<2xi1>
  // CHECK: result 9: tensor<2xi1>
  // CHECK-NEXT: [True, True]
  %b0 = metaop.constant dense<[true, false]> : tensor<2xi1>
  %b1 = metaop.constant dense<[false, false]> : tensor<2xi1>
  %r10 = metaop.cmp lt %b0, %b1 : tensor<2xi1> -> tensor<2xi1>
  // CHECK: result 10: tensor<2xi1>
  // CHECK-NEXT: [False, False]
  %r11 = metaop.cmp ge %b0, %b1 : tensor<2xi1> -> tensor<2xi1>
  // CHECK: result 11: tensor<2xi1>
  // CHECK-NEXT: [True, True]
  %w0 = metaop.constant dense<[18446744073709551615, 0]> : tensor<2xui64>
  %w1 = metaop.constant dense<[1, 0]> : tensor<2xui64>
  %r12 = metaop.cmp lt %w0, %w1 : tensor<2xui64> -> tensor<2xi1>
  // CHECK: result 12: tensor<2xi1>
  // CHECK-NEXT: [False, False]
  %r13 = metaop.cmp ge %w0, %w1 : tensor<2xui64> -> tensor<2xi1>
  // CHECK: result 13: tensor<2xi1>
  // CHECK-NEXT: [True, True]
  %m = metaop.constant
      dense<[[true, false, true], [false, false, true]]> : tensor<2x3xi1>
  %a = metaop.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>
  %e = metaop.constant dense<[[-1, -2, -3], [-4, -5, -6]]> : tensor<2x3xi16>
  %r14 = metaop.select %m, %a, %e : tensor<2x3xi1>, tensor<2x3xi16>
  // CHECK: result 14: tensor<2x3xi16>
  // CHECK-NEXT{LITERAL}: [[1, -2, 3],
  // CHECK-NEXT: [-4, -5, 6]]
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12,
    %r13, %r14 :
      tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>,
      tensor<6xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>,
      tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>,
      tensor<2x3xi16>
}
