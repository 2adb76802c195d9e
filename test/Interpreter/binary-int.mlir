// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// Element-wise ops of two integers or booleans: wrapping, floors of negative
// quotients, and division by zero, which gives 0.

func.func @main() -> (
    tensor<7xi32>, tensor<7xi32>, tensor<7xi32>, tensor<7xi32>,
    tensor<7xi32>, tensor<7xi32>, tensor<7xi32>, tensor<7xi32>,
    tensor<7xi32>, tensor<7xi32>, tensor<5xui8>, tensor<5xui8>,
    tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>,
    tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>,
    tensor<2xui64>, tensor<2xui64>, tensor<2xui64>, tensor<2xui64>,
    tensor<3xi64>, tensor<3xi64>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %x = metaop.constant
      dense<[7, -7, 7, -7, 5, -2147483648, 2147483647]> : tensor<7xi32>
  %y = metaop.constant dense<[2, 2, -2, -2, 0, -1, 1]> : tensor<7xi32>
  %r0 = metaop.add %x, %y : tensor<7xi32>
  // CHECK: result 0: tensor<7xi32>
  // CHECK-NEXT: [9, -5, 5, -9, 5, 2147483647, -2147483648]
  %r1 = metaop.sub %x, %y : tensor<7xi32>
  // CHECK: result 1: tensor<7xi32>
  // CHECK-NEXT: [5, -9, 9, -5, 5, -2147483647, 2147483646]
  %r2 = metaop.mul %x, %y : tensor<7xi32>
  // CHECK: result 2: tensor<7xi32>
  // CHECK-NEXT: [14, -14, -14, 14, 0, -2147483648, 2147483647]
  %r3 = metaop.floor_div %x, %y : tensor<7xi32>
  // CHECK: result 3: tensor<7xi32>
  // CHECK-NEXT: [3, -4, -4, 3, 0, -2147483648, 2147483647]
  %r4 = metaop.mod %x, %y : tensor<7xi32>
  // CHECK: result 4: tensor<7xi32>
  // CHECK-NEXT: [1, 1, -1, -1, 0, 0, 0]
  %r5 = metaop.max %x, %y : tensor<7xi32>
  // CHECK: result 5: tensor<7xi32>
  // CHECK-NEXT: [7, 2, 7, -2, 5, -1, 2147483647]
  %r6 = metaop.min %x, %y : tensor<7xi32>
  // CHECK: result 6: tensor<7xi32>
  // CHECK-NEXT: [2, -7, -2, -7, 0, -2147483648, 1]
  %r7 = metaop.and %x, %y : tensor<7xi32>
  // CHECK: result 7: tensor<7xi32>
  // CHECK-NEXT: [2, 0, 6, -8, 0, -2147483648, 1]
  %r8 = metaop.or %x, %y : tensor<7xi32>
  // CHECK: result 8: tensor<7xi32>
  // CHECK-NEXT: [7, -5, -1, -1, 5, -1, 2147483647]
  %r9 = metaop.xor %x, %y : tensor<7xi32>
  // CHECK: result 9: tensor<7xi32>
  // CHECK-NEXT: [5, -5, -7, 7, 5, 2147483647, 2147483646]
  %u = metaop.constant dense<[250, 3, 255, 9, 0]> : tensor<5xui8>
  %v = metaop.constant dense<[10, 5, 255, 0, 7]> : tensor<5xui8>
  %r10 = metaop.add %u, %v : tensor<5xui8>
  // CHECK: result 10: tensor<5xui8>
  // CHECK-NEXT: [4, 8, 254, 9, 7]
  %r11 = metaop.sub %u, %v : tensor<5xui8>
  // CHECK: result 11: tensor<5xui8>
  // CHECK-NEXT: [240, 254, 0, 9, 249]
  %r12 = metaop.mul %u, %v : tensor<5xui8>
  // CHECK: result 12: tensor<5xui8>
  // CHECK-NEXT: [196, 15, 1, 0, 0]
  %r13 = metaop.floor_div %u, %v : tensor<5xui8>
  // CHECK: result 13: tensor<5xui8>
  // CHECK-NEXT: [25, 0, 1, 0, 0]
  %r14 = metaop.mod %u, %v : tensor<5xui8>
  // CHECK: result 14: tensor<5xui8>
  // CHECK-NEXT: [0, 3, 0, 0, 0]
  %r15 = metaop.max %u, %v : tensor<5xui8>
  // CHECK: result 15: tensor<5xui8>
  // CHECK-NEXT: [250, 5, 255, 9, 7]
  %r16 = metaop.min %u, %v : tensor<5xui8>
  // CHECK: result 16: tensor<5xui8>
  // CHECK-NEXT: [10, 3, 255, 0, 0]
  %r17 = metaop.and %u, %v : tensor<5xui8>
  // CHECK: result 17: tensor<5xui8>
  // CHECK-NEXT: [10, 1, 255, 0, 0]
  %r18 = metaop.or %u, %v : tensor<5xui8>
  // CHECK: result 18: tensor<5xui8>
  // CHECK-NEXT: [250, 7, 255, 9, 7]
  %r19 = metaop.xor %u, %v : tensor<5xui8>
  // CHECK: result 19: tensor<5xui8>
  // CHECK-NEXT: [240, 6, 0, 9, 7]
  %p = metaop.constant
      dense<[18446744073709551615, 9223372036854775808]> : tensor<2xui64>
  %q = metaop.constant dense<[2, 9223372036854775807]> : tensor<2xui64>
  %r20 = metaop.floor_div %p, %q : tensor<2xui64>
  // CHECK: result 20: tensor<2xui64>
  // CHECK-NEXT: [9223372036854775807, 1]
  %r21 = metaop.mod %p, %q : tensor<2xui64>
  // CHECK: result 21: tensor<2xui64>
  // CHECK-NEXT: [1, 1]
  %r22 = metaop.max %p, %q : tensor<2xui64>
  // CHECK: result 22: tensor<2xui64>
  // CHECK-NEXT: [18446744073709551615, 9223372036854775808]
  %r23 = metaop.mul %p, %q : tensor<2xui64>
  // CHECK: result 23: tensor<2xui64>
  // CHECK-NEXT: [18446744073709551614, 9223372036854775808]
  %s = metaop.constant
      dense<[-9223372036854775808, -9223372036854775808, 9223372036854775807]> : tensor<3xi64>
  %t = metaop.constant dense<[-1, 3, 2]> : tensor<3xi64>
  // The lowest number over -1 wraps.
  %r24 = metaop.floor_div %s, %t : tensor<3xi64>
  // CHECK: result 24: tensor<3xi64>
  // CHECK-NEXT: [-9223372036854775808, -3074457345618258603, 4611686018427387903]
  %r25 = metaop.mod %s, %t : tensor<3xi64>
  // CHECK: result 25: tensor<3xi64>
  // CHECK-NEXT: [0, 1, 1]
  %b = metaop.constant dense<[false, false, true, true]> : tensor<4xi1>
  %c = metaop.constant dense<[false, true, false, true]> : tensor<4xi1>
  %r26 = metaop.and %b, %c : tensor<4xi1>
  // CHECK: result 26: tensor<4xi1>
  // CHECK-NEXT: [False, False, False, True]
  %r27 = metaop.or %b, %c : tensor<4xi1>
  // CHECK: result 27: tensor<4xi1>
  // CHECK-NEXT: [False, True, True, True]
  %r28 = metaop.xor %b, %c : tensor<4xi1>
  // CHECK: result 28: tensor<4xi1>
  // CHECK-NEXT: [False, True, True, False]
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12,
    %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24,
    %r25, %r26, %r27, %r28 :
      tensor<7xi32>, tensor<7xi32>, tensor<7xi32>, tensor<7xi32>,
      tensor<7xi32>, tensor<7xi32>, tensor<7xi32>, tensor<7xi32>,
      tensor<7xi32>, tensor<7xi32>, tensor<5xui8>, tensor<5xui8>,
      tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>,
      tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>,
      tensor<2xui64>, tensor<2xui64>, tensor<2xui64>, tensor<2xui64>,
      tensor<3xi64>, tensor<3xi64>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
