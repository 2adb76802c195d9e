// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// Element-wise ops of one operand, on ordinary and on special values.

func.func @main() -> (
    tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>,
    tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>,
    tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<6xf32>,
    tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>,
    tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>,
    tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<5xi8>, tensor<5xi8>,
    tensor<5xi8>, tensor<5xi8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>,
    tensor<4xui8>, tensor<2xi1>, tensor<3xf64>, tensor<3xf64>) {
  %x = metaop.constant
      dense<[[0.5, -1.25, 3.0], [0.0, 7.5, -2.5]]> : tensor<2x3xf32>
  %p = metaop.constant dense<[0.5, 1.0, 2.0, 10.0, 0.0, -1.0]> : tensor<6xf32>
  %s = metaop.constant
      dense<[0x7FC00000, 0x7F800000, 0xFF800000, -0.0, 1.0e+30, -2.5]> : tensor<6xf32>
  %r0 = metaop.neg %x : tensor<2x3xf32>
  // CHECK: result 0: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[-0.5, 1.25, -3],
  // CHECK-NEXT: [-0, -7.5, 2.5]]
  %r1 = metaop.neg %s : tensor<6xf32>
  // CHECK: result 1: tensor<6xf32>
  // CHECK-NEXT: [nan, -inf, inf, 0, -1e+30, 2.5]
  %r2 = metaop.abs %x : tensor<2x3xf32>
  // CHECK: result 2: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0.5, 1.25, 3],
  // CHECK-NEXT: [0, 7.5, 2.5]]
  %r3 = metaop.abs %s : tensor<6xf32>
  // CHECK: result 3: tensor<6xf32>
  // CHECK-NEXT: [nan, inf, inf, 0, 1e+30, 2.5]
  %r4 = metaop.sign %x : tensor<2x3xf32>
  // CHECK: result 4: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[1, -1, 1],
  // CHECK-NEXT: [0, 1, -1]]
  %r5 = metaop.sign %s : tensor<6xf32>
  // CHECK: result 5: tensor<6xf32>
  // CHECK-NEXT: [nan, 1, -1, 0, 1, -1]
  %r6 = metaop.exp %x : tensor<2x3xf32>
  // CHECK: result 6: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[1.64872, 0.286505, 20.0855],
  // CHECK-NEXT: [1, 1808.04, 0.082085]]
  %r7 = metaop.exp %s : tensor<6xf32>
  // CHECK: result 7: tensor<6xf32>
  // CHECK-NEXT: [nan, inf, 0, 1, inf, 0.082085]
  %r8 = metaop.sin %x : tensor<2x3xf32>
  // CHECK: result 8: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0.479426, -0.948985, 0.14112],
  // CHECK-NEXT: [0, 0.938, -0.598472]]
  %r9 = metaop.cos %x : tensor<2x3xf32>
  // CHECK: result 9: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0.877583, 0.315322, -0.989992],
  // CHECK-NEXT: [1, 0.346635, -0.801144]]
  %r10 = metaop.tanh %x : tensor<2x3xf32>
  // CHECK: result 10: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0.462117, -0.848284, 0.995055],
  // CHECK-NEXT: [0, 0.999999, -0.986614]]
  %r11 = metaop.tanh %s : tensor<6xf32>
  // CHECK: result 11: tensor<6xf32>
  // CHECK-NEXT: [nan, 1, -1, -0, 1, -0.986614]
  %r12 = metaop.erf %x : tensor<2x3xf32>
  // CHECK: result 12: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0.5205, -0.9229, 0.999978],
  // CHECK-NEXT: [0, 1, -0.999593]]
  %r13 = metaop.erf %s : tensor<6xf32>
  // CHECK: result 13: tensor<6xf32>
  // CHECK-NEXT: [nan, 1, -1, -0, 1, -0.999593]
  %r14 = metaop.floor %x : tensor<2x3xf32>
  // CHECK: result 14: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0, -2, 3],
  // CHECK-NEXT: [0, 7, -3]]
  %r15 = metaop.floor %s : tensor<6xf32>
  // CHECK: result 15: tensor<6xf32>
  // CHECK-NEXT: [nan, inf, -inf, -0, 1e+30, -3]
  %r16 = metaop.ceil %x : tensor<2x3xf32>
  // CHECK: result 16: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[1, -1, 3],
  // CHECK-NEXT: [0, 8, -2]]
  %r17 = metaop.ceil %s : tensor<6xf32>
  // CHECK: result 17: tensor<6xf32>
  // CHECK-NEXT: [nan, inf, -inf, -0, 1e+30, -2]
  %r18 = metaop.round %x : tensor<2x3xf32>
  // CHECK: result 18: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0, -1, 3],
  // CHECK-NEXT: [0, 8, -2]]
  %r19 = metaop.round %s : tensor<6xf32>
  // CHECK: result 19: tensor<6xf32>
  // CHECK-NEXT: [nan, inf, -inf, -0, 1e+30, -2]
  %r20 = metaop.log %p : tensor<6xf32>
  // CHECK: result 20: tensor<6xf32>
  // CHECK-NEXT: [-0.693147, 0, 0.693147, 2.30259, -inf, nan]
  %r21 = metaop.sqrt %p : tensor<6xf32>
  // CHECK: result 21: tensor<6xf32>
  // CHECK-NEXT: [0.707107, 1, 1.41421, 3.16228, 0, nan]
  %t = metaop.constant dense<[0.5, 1.5, 2.5, -0.5, -1.5, 3.49]> : tensor<6xf32>
  // Ties go to even.
  %r22 = metaop.round %t : tensor<6xf32>
  // CHECK: result 22: tensor<6xf32>
  // CHECK-NEXT: [0, 2, 2, -0, -2, 3]
  %i = metaop.constant dense<[-128, -3, 0, 5, 127]> : tensor<5xi8>
  // -128 has no counterpart: it wraps.
  %r23 = metaop.neg %i : tensor<5xi8>
  // CHECK: result 23: tensor<5xi8>
  // CHECK-NEXT: [-128, 3, 0, -5, -127]
  %r24 = metaop.abs %i : tensor<5xi8>
  // CHECK: result 24: tensor<5xi8>
  // CHECK-NEXT: [-128, 3, 0, 5, 127]
  %r25 = metaop.sign %i : tensor<5xi8>
  // CHECK: result 25: tensor<5xi8>
  // CHECK-NEXT: [-1, -1, 0, 1, 1]
  %r26 = metaop.not %i : tensor<5xi8>
  // CHECK: result 26: tensor<5xi8>
  // CHECK-NEXT: [127, 2, -1, -6, -128]
  %u = metaop.constant dense<[0, 1, 200, 255]> : tensor<4xui8>
  %r27 = metaop.neg %u : tensor<4xui8>
  // CHECK: result 27: tensor<4xui8>
  // CHECK-NEXT: [0, 255, 56, 1]
  %r28 = metaop.abs %u : tensor<4xui8>
  // CHECK: result 28: tensor<4xui8>
  // CHECK-NEXT: [0, 1, 200, 255]
  %r29 = metaop.sign %u : tensor<4xui8>
  // CHECK: result 29: tensor<4xui8>
  // CHECK-NEXT: [0, 1, 1, 1]
  %r30 = metaop.not %u : tensor<4xui8>
  // CHECK: result 30: tensor<4xui8>
  // CHECK-NEXT: [255, 254, 55, 0]
  %b = metaop.constant dense<[true, false]> : tensor<2xi1>
  %r31 = metaop.not %b : tensor<2xi1>
  // CHECK: result 31: tensor<2xi1>
  // CHECK-NEXT: [False, True]
  %d = metaop.constant dense<[0.1, 1.0e-300, 700.0]> : tensor<3xf64>
  %r32 = metaop.exp %d : tensor<3xf64>
  // CHECK: result 32: tensor<3xf64>
  // CHECK-NEXT: [1.10517, 1, 1.01423e+304]
  %r33 = metaop.sqrt %d : tensor<3xf64>
  // CHECK: result 33: tensor<3xf64>
  // CHECK-NEXT: [0.316228, 1e-150, 26.4575]
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12,
    %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24,
    %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33 :
      tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>,
      tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>,
      tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<6xf32>,
      tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>,
      tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>,
      tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<5xi8>,
      tensor<5xi8>, tensor<5xi8>, tensor<5xi8>, tensor<4xui8>,
      tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<2xi1>,
      tensor<3xf64>, tensor<3xf64>
}
