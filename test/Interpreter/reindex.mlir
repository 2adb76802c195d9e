// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// One-to-many ops: index maps with symbols, guards and fills, and the named
// forms.

func.func @main() -> (
    tensor<3x4x3xf32>, tensor<5x4xf32>, tensor<3x6xf32>, tensor<4xf32>,
    tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x2xf32>, tensor<f32>,
    tensor<0xf32>, tensor<2xf32>, tensor<4xi1>, tensor<2x3xi32>,
    tensor<3x2xi32>, tensor<2x2x3xi32>, tensor<2xi32>, tensor<2x0xi32>,
    tensor<4x2x3xi64>, tensor<4x3xf32>, tensor<2x2xf32>, tensor<3x3xf32>,
    tensor<2x1xf32>, tensor<3xi1>, tensor<4x5xf32>, tensor<0xi32>,
    tensor<4xui8>, tensor<6x4xi64>, tensor<1x1xi32>, tensor<5x0xf32>) {
  %x = metaop.constant
      dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
  // Windows of three, with a border of -1.
  %r0 = metaop.reindex %x map affine_map<(d0, d1, d2) -> (d0, d1 + d2 - 1)> fill -1.0 : f32
      : tensor<3x4xf32> -> tensor<3x4x3xf32>
  // CHECK: result 0: tensor<3x4x3xf32>
  // CHECK-NEXT{LITERAL}: [[[-1, 1, 2],
  // CHECK-NEXT: [1, 2, 3],
  // CHECK-NEXT: [2, 3, 4],
  // CHECK-NEXT: [3, 4, -1]],
  // CHECK-NEXT{LITERAL}: [[-1, 5, 6],
  // CHECK-NEXT: [5, 6, 7],
  // CHECK-NEXT: [6, 7, 8],
  // CHECK-NEXT: [7, 8, -1]],
  // CHECK-NEXT{LITERAL}: [[-1, 9, 10],
  // CHECK-NEXT: [9, 10, 11],
  // CHECK-NEXT: [10, 11, 12],
  // CHECK-NEXT: [11, 12, -1]]]
  // floordiv, mod
  %r1 = metaop.reindex %x map affine_map<(d0, d1) -> (d0 floordiv 2, (d1 + 3) mod 4)> fill 0.0 : f32
      : tensor<3x4xf32> -> tensor<5x4xf32>
  // CHECK: result 1: tensor<5x4xf32>
  // CHECK-NEXT{LITERAL}: [[4, 1, 2, 3],
  // CHECK-NEXT: [4, 1, 2, 3],
  // CHECK-NEXT: [8, 5, 6, 7],
  // CHECK-NEXT: [8, 5, 6, 7],
  // CHECK-NEXT: [12, 9, 10, 11]]
  // ceildiv
  %r2 = metaop.reindex %x map affine_map<(d0, d1) -> (d0, d1 ceildiv 2)> fill 0.0 : f32
      : tensor<3x4xf32> -> tensor<3x6xf32>
  // CHECK: result 2: tensor<3x6xf32>
  // CHECK-NEXT{LITERAL}: [[1, 2, 2, 3, 3, 4],
  // CHECK-NEXT: [5, 6, 6, 7, 7, 8],
  // CHECK-NEXT: [9, 10, 10, 11, 11, 12]]
  // A floor, not a truncation: -1 for d0 = 0 and 1.
  %r3 = metaop.reindex %x map affine_map<(d0) -> (d0 floordiv 2 - 1, (d0 - 2) mod 4)> fill 9.0 : f32
      : tensor<3x4xf32> -> tensor<4xf32>
  // CHECK: result 3: tensor<4xf32>
  // CHECK-NEXT: [9, 9, 1, 2]
  // The lower triangle, by a guard.
  %r4 = metaop.reindex %x map affine_map<(d0, d1) -> (d0, d1)> where affine_set<(d0, d1) : (d0 - d1 >= 0)> fill 0.0 : f32
      : tensor<3x4xf32> -> tensor<3x4xf32>
  // CHECK: result 4: tensor<3x4xf32>
  // CHECK-NEXT{LITERAL}: [[1, 0, 0, 0],
  // CHECK-NEXT: [5, 6, 0, 0],
  // CHECK-NEXT: [9, 10, 11, 0]]
  // Two guards, one an equality.
  %r5 = metaop.reindex %x map affine_map<(d0, d1) -> (d0, d1)> where affine_set<(d0, d1) : (d0 - d1 == 0, d0 - 1 >= 0)> fill 0x7FC00000 : f32
      : tensor<3x4xf32> -> tensor<3x4xf32>
  // CHECK: result 5: tensor<3x4xf32>
  // CHECK-NEXT{LITERAL}: [[nan, nan, nan, nan],
  // CHECK-NEXT: [nan, 6, nan, nan],
  // CHECK-NEXT: [nan, nan, 11, nan]]
  %two = metaop.constant dense<2> : tensor<i64>
  %one = metaop.constant dense<1> : tensor<i64>
  // Symbols, a product of one with an index, and in the guard.
  %r6 = metaop.reindex %x symbols(%one, %two) map affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 * s1)> where affine_set<(d0, d1)[s0, s1] : (s1 - d1 - d0 >= 0)> fill 0.0 : f32
      : tensor<3x4xf32> -> tensor<2x2xf32>
  // CHECK: result 6: tensor<2x2xf32>
  // CHECK-NEXT{LITERAL}: [[5, 7],
  // CHECK-NEXT: [9, 11]]
  %r7 = metaop.reindex %x symbols(%two) map affine_map<()[s0] -> (s0, s0 - 1)> fill 0.0 : f32
      : tensor<3x4xf32> -> tensor<f32>
  // CHECK: result 7: tensor<f32>
  // CHECK-NEXT: 10
  %r8 = metaop.reindex %x map affine_map<(d0) -> (d0, d0)> fill 5.0 : f32
      : tensor<3x4xf32> -> tensor<0xf32>
  // CHECK: result 8: tensor<0xf32>
  // CHECK-NEXT: []
  %none = metaop.constant dense<> : tensor<0x2xf32>
  // Nothing is in range of an empty source.
  %r9 = metaop.reindex %none map affine_map<(d0) -> (d0, d0)> fill 5.0 : f32
      : tensor<0x2xf32> -> tensor<2xf32>
  // CHECK: result 9: tensor<2xf32>
  // CHECK-NEXT: [5, 5]
  %b = metaop.constant dense<[true, false, true]> : tensor<3xi1>
  // Flipped.
  %r10 = metaop.reindex %b map affine_map<(d0) -> (2 - d0)> fill true
      : tensor<3xi1> -> tensor<4xi1>
  // CHECK: result 10: tensor<4xi1>
  // CHECK-NEXT: [True, False, True, True]
  %v = metaop.constant dense<[10, 20, 30]> : tensor<3xi32>
  %c = metaop.constant dense<[[7], [8]]> : tensor<2x1xi32>
  %sc = metaop.constant dense<4> : tensor<i32>
  %r11 = metaop.broadcast %v dims = [1] : tensor<3xi32> -> tensor<2x3xi32>
  // CHECK: result 11: tensor<2x3xi32>
  // CHECK-NEXT{LITERAL}: [[10, 20, 30],
  // CHECK-NEXT: [10, 20, 30]]
  %r12 = metaop.broadcast %v dims = [0] : tensor<3xi32> -> tensor<3x2xi32>
  // CHECK: result 12: tensor<3x2xi32>
  // CHECK-NEXT{LITERAL}: [[10, 10],
  // CHECK-NEXT: [20, 20],
  // CHECK-NEXT: [30, 30]]
  %r13 = metaop.broadcast %c dims = [0, 2] : tensor<2x1xi32> -> tensor<2x2x3xi32>
  // CHECK: result 13: tensor<2x2x3xi32>
  // CHECK-NEXT{LITERAL}: [[[7, 7, 7],
  // CHECK-NEXT: [7, 7, 7]],
  // CHECK-NEXT{LITERAL}: [[8, 8, 8],
  // CHECK-NEXT: [8, 8, 8]]]
  %r14 = metaop.broadcast %sc dims = [] : tensor<i32> -> tensor<2xi32>
  // CHECK: result 14: tensor<2xi32>
  // CHECK-NEXT: [4, 4]
  %r15 = metaop.broadcast %c dims = [0, 1] : tensor<2x1xi32> -> tensor<2x0xi32>
  // CHECK: result 15: tensor<2x0xi32>
  // CHECK-NEXT{LITERAL}: [[],
  // CHECK-NEXT: []]
  %z = metaop.constant
      dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xi64>
  %r16 = metaop.transpose %z perm = [2, 0, 1]
      : tensor<2x3x4xi64> -> tensor<4x2x3xi64>
  // CHECK: result 16: tensor<4x2x3xi64>
  // CHECK-NEXT{LITERAL}: [[[0, 4, 8],
  // CHECK-NEXT: [12, 16, 20]],
  // CHECK-NEXT{LITERAL}: [[1, 5, 9],
  // CHECK-NEXT: [13, 17, 21]],
  // CHECK-NEXT{LITERAL}: [[2, 6, 10],
  // CHECK-NEXT: [14, 18, 22]],
  // CHECK-NEXT{LITERAL}: [[3, 7, 11],
  // CHECK-NEXT: [15, 19, 23]]]
  %r17 = metaop.transpose %x perm = [1, 0] : tensor<3x4xf32> -> tensor<4x3xf32>
  // CHECK: result 17: tensor<4x3xf32>
  // CHECK-NEXT{LITERAL}: [[1, 5, 9],
  // CHECK-NEXT: [2, 6, 10],
  // CHECK-NEXT: [3, 7, 11],
  // CHECK-NEXT: [4, 8, 12]]
  %zero = metaop.constant dense<0> : tensor<i64>
  %minus = metaop.constant dense<-1> : tensor<i64>
  %three = metaop.constant dense<3> : tensor<i64>
  %huge = metaop.constant dense<9223372036854775807> : tensor<i64>
  // A negative stride.
  %r18 = metaop.slice %x[%one, %three] strides = [1, -2]
      : tensor<3x4xf32> -> tensor<2x2xf32>
  // CHECK: result 18: tensor<2x2xf32>
  // CHECK-NEXT{LITERAL}: [[8, 6],
  // CHECK-NEXT: [12, 10]]
  // Outside of the source there are zeros.
  %r19 = metaop.slice %x[%minus, %two] strides = [1, 1]
      : tensor<3x4xf32> -> tensor<3x3xf32>
  // CHECK: result 19: tensor<3x3xf32>
  // CHECK-NEXT{LITERAL}: [[0, 0, 0],
  // CHECK-NEXT: [3, 4, 0],
  // CHECK-NEXT: [7, 8, 0]]
  %r20 = metaop.slice %x[%huge, %zero] strides = [1, 1]
      : tensor<3x4xf32> -> tensor<2x1xf32>
  // CHECK: result 20: tensor<2x1xf32>
  // CHECK-NEXT{LITERAL}: [[0],
  // CHECK-NEXT: [0]]
  %r21 = metaop.slice %b[%one] strides = [1] : tensor<3xi1> -> tensor<3xi1>
  // CHECK: result 21: tensor<3xi1>
  // CHECK-NEXT: [False, True, False]
  // A negative width removes elements.
  %r22 = metaop.pad %x low = [1, -1] high = [0, 2] fill 0.5 : f32
      : tensor<3x4xf32> -> tensor<4x5xf32>
  // CHECK: result 22: tensor<4x5xf32>
  // CHECK-NEXT{LITERAL}: [[0.5, 0.5, 0.5, 0.5, 0.5],
  // CHECK-NEXT: [2, 3, 4, 0.5, 0.5],
  // CHECK-NEXT: [6, 7, 8, 0.5, 0.5],
  // CHECK-NEXT: [10, 11, 12, 0.5, 0.5]]
  %r23 = metaop.pad %v low = [-1] high = [-2] fill 0 : i32
      : tensor<3xi32> -> tensor<0xi32>
  // CHECK: result 23: tensor<0xi32>
  // CHECK-NEXT: []
  %u = metaop.constant dense<[1, 2]> : tensor<2xui8>
  %r24 = metaop.pad %u low = [1] high = [1] fill 255 : ui8
      : tensor<2xui8> -> tensor<4xui8>
  // CHECK: result 24: tensor<4xui8>
  // CHECK-NEXT: [255, 1, 2, 255]
  %r25 = metaop.reshape %z : tensor<2x3x4xi64> -> tensor<6x4xi64>
  // CHECK: result 25: tensor<6x4xi64>
  // CHECK-NEXT{LITERAL}: [[0, 1, 2, 3],
  // CHECK-NEXT: [4, 5, 6, 7],
  // CHECK-NEXT: [8, 9, 10, 11],
  // CHECK-NEXT: [12, 13, 14, 15],
  // CHECK-NEXT: [16, 17, 18, 19],
  // CHECK-NEXT: [20, 21, 22, 23]]
  %r26 = metaop.reshape %sc : tensor<i32> -> tensor<1x1xi32>
  // CHECK: result 26: tensor<1x1xi32>
  // CHECK-NEXT{LITERAL}: [[4]]
  %r27 = metaop.reshape %none : tensor<0x2xf32> -> tensor<5x0xf32>
  // CHECK: result 27: tensor<5x0xf32>
  // CHECK-NEXT{LITERAL}: [[],
  // CHECK-NEXT: [],
  // CHECK-NEXT: [],
  // CHECK-NEXT: [],
  // CHECK-NEXT: []]
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12,
    %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24,
    %r25, %r26, %r27 :
      tensor<3x4x3xf32>, tensor<5x4xf32>, tensor<3x6xf32>, tensor<4xf32>,
      tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x2xf32>, tensor<f32>,
      tensor<0xf32>, tensor<2xf32>, tensor<4xi1>, tensor<2x3xi32>,
      tensor<3x2xi32>, tensor<2x2x3xi32>, tensor<2xi32>, tensor<2x0xi32>,
      tensor<4x2x3xi64>, tensor<4x3xf32>, tensor<2x2xf32>, tensor<3x3xf32>,
      tensor<2x1xf32>, tensor<3xi1>, tensor<4x5xf32>, tensor<0xi32>,
      tensor<4xui8>, tensor<6x4xi64>, tensor<1x1xi32>, tensor<5x0xf32>
}
