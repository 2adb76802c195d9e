// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// Many-to-one ops: every operator, their identities, dropped elements, and
// sums that a narrow accumulator would lose.

func.func @main() -> (
    tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
    tensor<1x3xf32>, tensor<f32>, tensor<1x1xf32>, tensor<2x3xf32>,
    tensor<f32>, tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>,
    tensor<2xf32>, tensor<2xf32>, tensor<i8>, tensor<ui16>, tensor<i8>,
    tensor<ui16>, tensor<i8>, tensor<ui16>, tensor<i8>, tensor<ui16>,
    tensor<i8>, tensor<ui16>, tensor<i8>, tensor<ui16>, tensor<i8>,
    tensor<ui16>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<2xi8>,
    tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>,
    tensor<2xi8>, tensor<ui8>, tensor<ui8>, tensor<ui8>, tensor<2xi1>,
    tensor<2xi1>, tensor<2xi1>, tensor<f32>, tensor<3xf32>, tensor<3xf32>,
    tensor<3xf32>, tensor<2xf32>, tensor<2x4xf32>, tensor<f32>,
    tensor<3xi1>, tensor<4xi32>) {
  %x = metaop.constant dense<[[1.5, -2.0, 3.0], [4.0, 5.0, -6.5]]> : tensor<2x3xf32>
  %r0 = metaop.reduce add %x dims = [1] : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: result 0: tensor<2xf32>
  // CHECK-NEXT: [2.5, 2.5]
  %r1 = metaop.reduce mul %x dims = [1] : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: result 1: tensor<2xf32>
  // CHECK-NEXT: [-9, -130]
  %r2 = metaop.reduce max %x dims = [1] : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: result 2: tensor<2xf32>
  // CHECK-NEXT: [3, 5]
  %r3 = metaop.reduce min %x dims = [1] : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: result 3: tensor<2xf32>
  // CHECK-NEXT: [-2, -6.5]
  %r4 = metaop.reduce add %x dims = [0] keep_dims
      : tensor<2x3xf32> -> tensor<1x3xf32>
  // CHECK: result 4: tensor<1x3xf32>
  // CHECK-NEXT{LITERAL}: [[5.5, 3, -3.5]]
  %r5 = metaop.reduce add %x dims = [0, 1] : tensor<2x3xf32> -> tensor<f32>
  // CHECK: result 5: tensor<f32>
  // CHECK-NEXT: 5
  %r6 = metaop.reduce max %x dims = [0, 1] keep_dims
      : tensor<2x3xf32> -> tensor<1x1xf32>
  // CHECK: result 6: tensor<1x1xf32>
  // CHECK-NEXT{LITERAL}: [[5]]
  %r7 = metaop.reduce add %x dims = [] : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK: result 7: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[1.5, -2, 3],
  // CHECK-NEXT: [4, 5, -6.5]]
  %n = metaop.constant dense<[1.0, 0x7FC00000, 0xFF800000]> : tensor<3xf32>
  // NaN wins.
  %r8 = metaop.reduce max %n dims = [0] : tensor<3xf32> -> tensor<f32>
  // CHECK: result 8: tensor<f32>
  // CHECK-NEXT: nan
  %r9 = metaop.reduce min %n dims = [0] : tensor<3xf32> -> tensor<f32>
  // CHECK: result 9: tensor<f32>
  // CHECK-NEXT: nan
  %r10 = metaop.reduce add %n dims = [0] : tensor<3xf32> -> tensor<f32>
  // CHECK: result 10: tensor<f32>
  // CHECK-NEXT: nan
  %e = metaop.constant dense<> : tensor<2x0xf32>
  // The identities.
  %r11 = metaop.reduce add %e dims = [1] : tensor<2x0xf32> -> tensor<2xf32>
  // CHECK: result 11: tensor<2xf32>
  // CHECK-NEXT: [0, 0]
  %r12 = metaop.reduce mul %e dims = [1] : tensor<2x0xf32> -> tensor<2xf32>
  // CHECK: result 12: tensor<2xf32>
  // CHECK-NEXT: [1, 1]
  %r13 = metaop.reduce max %e dims = [1] : tensor<2x0xf32> -> tensor<2xf32>
  // CHECK: result 13: tensor<2xf32>
  // CHECK-NEXT: [-inf, -inf]
  %r14 = metaop.reduce min %e dims = [1] : tensor<2x0xf32> -> tensor<2xf32>
  // CHECK: result 14: tensor<2xf32>
  // CHECK-NEXT: [inf, inf]
  %ei = metaop.constant dense<> : tensor<0xi8>
  %eu = metaop.constant dense<> : tensor<0xui16>
  %eb = metaop.constant dense<> : tensor<0xi1>
  %r15 = metaop.reduce add %ei dims = [0] : tensor<0xi8> -> tensor<i8>
  // CHECK: result 15: tensor<i8>
  // CHECK-NEXT: 0
  %r16 = metaop.reduce add %eu dims = [0] : tensor<0xui16> -> tensor<ui16>
  // CHECK: result 16: tensor<ui16>
  // CHECK-NEXT: 0
  %r17 = metaop.reduce mul %ei dims = [0] : tensor<0xi8> -> tensor<i8>
  // CHECK: result 17: tensor<i8>
  // CHECK-NEXT: 1
  %r18 = metaop.reduce mul %eu dims = [0] : tensor<0xui16> -> tensor<ui16>
  // CHECK: result 18: tensor<ui16>
  // CHECK-NEXT: 1
  %r19 = metaop.reduce max %ei dims = [0] : tensor<0xi8> -> tensor<i8>
  // CHECK: result 19: tensor<i8>
  // CHECK-NEXT: -128
  %r20 = metaop.reduce max %eu dims = [0] : tensor<0xui16> -> tensor<ui16>
  // CHECK: result 20: tensor<ui16>
  // CHECK-NEXT: 0
  %r21 = metaop.reduce min %ei dims = [0] : tensor<0xi8> -> tensor<i8>
  // CHECK: result 21: tensor<i8>
  // CHECK-NEXT: 127
  %r22 = metaop.reduce min %eu dims = [0] : tensor<0xui16> -> tensor<ui16>
  // CHECK: result 22: tensor<ui16>
  // CHECK-NEXT: 65535
  %r23 = metaop.reduce and %ei dims = [0] : tensor<0xi8> -> tensor<i8>
  // CHECK: result 23: tensor<i8>
  // CHECK-NEXT: -1
  %r24 = metaop.reduce and %eu dims = [0] : tensor<0xui16> -> tensor<ui16>
  // CHECK: result 24: tensor<ui16>
  // CHECK-NEXT: 65535
  %r25 = metaop.reduce or %ei dims = [0] : tensor<0xi8> -> tensor<i8>
  // CHECK: result 25: tensor<i8>
  // CHECK-NEXT: 0
  %r26 = metaop.reduce or %eu dims = [0] : tensor<0xui16> -> tensor<ui16>
  // CHECK: result 26: tensor<ui16>
  // CHECK-NEXT: 0
  %r27 = metaop.reduce xor %ei dims = [0] : tensor<0xi8> -> tensor<i8>
  // CHECK: result 27: tensor<i8>
  // CHECK-NEXT: 0
  %r28 = metaop.reduce xor %eu dims = [0] : tensor<0xui16> -> tensor<ui16>
  // CHECK: result 28: tensor<ui16>
  // CHECK-NEXT: 0
  %r29 = metaop.reduce and %eb dims = [0] : tensor<0xi1> -> tensor<i1>
  // CHECK: result 29: tensor<i1>
  // CHECK-NEXT: True
  %r30 = metaop.reduce or %eb dims = [0] : tensor<0xi1> -> tensor<i1>
  // CHECK: result 30: tensor<i1>
  // CHECK-NEXT: False
  %r31 = metaop.reduce xor %eb dims = [0] : tensor<0xi1> -> tensor<i1>
  // CHECK: result 31: tensor<i1>
  // CHECK-NEXT: False
  %i = metaop.constant dense<[[100, 100, 12], [-7, 6, 3]]> : tensor<2x3xi8>
  %r32 = metaop.reduce add %i dims = [1] : tensor<2x3xi8> -> tensor<2xi8>
  // CHECK: result 32: tensor<2xi8>
  // CHECK-NEXT: [-44, 2]
  %r33 = metaop.reduce mul %i dims = [1] : tensor<2x3xi8> -> tensor<2xi8>
  // CHECK: result 33: tensor<2xi8>
  // CHECK-NEXT: [-64, -126]
  %r34 = metaop.reduce max %i dims = [1] : tensor<2x3xi8> -> tensor<2xi8>
  // CHECK: result 34: tensor<2xi8>
  // CHECK-NEXT: [100, 6]
  %r35 = metaop.reduce min %i dims = [1] : tensor<2x3xi8> -> tensor<2xi8>
  // CHECK: result 35: tensor<2xi8>
  // CHECK-NEXT: [12, -7]
  %r36 = metaop.reduce and %i dims = [1] : tensor<2x3xi8> -> tensor<2xi8>
  // CHECK: result 36: tensor<2xi8>
  // CHECK-NEXT: [4, 0]
  %r37 = metaop.reduce or %i dims = [1] : tensor<2x3xi8> -> tensor<2xi8>
  // CHECK: result 37: tensor<2xi8>
  // CHECK-NEXT: [108, -1]
  %r38 = metaop.reduce xor %i dims = [1] : tensor<2x3xi8> -> tensor<2xi8>
  // CHECK: result 38: tensor<2xi8>
  // CHECK-NEXT: [12, -4]
  %u = metaop.constant dense<[200, 100, 7]> : tensor<3xui8>
  %r39 = metaop.reduce max %u dims = [0] : tensor<3xui8> -> tensor<ui8>
  // CHECK: result 39: tensor<ui8>
  // CHECK-NEXT: 200
  %r40 = metaop.reduce min %u dims = [0] : tensor<3xui8> -> tensor<ui8>
  // CHECK: result 40: tensor<ui8>
  // CHECK-NEXT: 7
  %r41 = metaop.reduce add %u dims = [0] : tensor<3xui8> -> tensor<ui8>
  // CHECK: result 41: tensor<ui8>
  // CHECK-NEXT: 51
  %b = metaop.constant
      dense<[[true, false, true], [true, true, true]]> : tensor<2x3xi1>
  %r42 = metaop.reduce and %b dims = [1] : tensor<2x3xi1> -> tensor<2xi1>
  // CHECK: result 42: tensor<2xi1>
  // CHECK-NEXT: [False, True]
  %r43 = metaop.reduce or %b dims = [1] : tensor<2x3xi1> -> tensor<2xi1>
  // CHECK: result 43: tensor<2xi1>
  // CHECK-NEXT: [True, True]
  %r44 = metaop.reduce xor %b dims = [1] : tensor<2x3xi1> -> tensor<2xi1>
  // CHECK: result 44: tensor<2xi1>
  // CHECK-NEXT: [False, True]
  %big = metaop.constant
      dense<[1.6777216e+07, 1.0, 1.0, -1.6777216e+07]> : tensor<4xf32>
  // Summed in f32 from left to right, this is 0.
  %r45 = metaop.reduce add %big dims = [0] : tensor<4xf32> -> tensor<f32>
  // CHECK: result 45: tensor<f32>
  // CHECK-NEXT: 2
  %v = metaop.constant
      dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %r46 = metaop.reindex_reduce add %v map affine_map<(d0) -> (d0 floordiv 3)>
      : tensor<8xf32> -> tensor<3xf32>
  // CHECK: result 46: tensor<3xf32>
  // CHECK-NEXT: [6, 15, 15]
  %r47 = metaop.reindex_reduce max %v map affine_map<(d0) -> (d0 mod 3)>
      : tensor<8xf32> -> tensor<3xf32>
  // CHECK: result 47: tensor<3xf32>
  // CHECK-NEXT: [7, 8, 6]
  // What lies outside is dropped; what nothing reaches is the identity.
  %r48 = metaop.reindex_reduce mul %v map affine_map<(d0) -> (d0 - 6)>
      : tensor<8xf32> -> tensor<3xf32>
  // CHECK: result 48: tensor<3xf32>
  // CHECK-NEXT: [7, 8, 1]
  %r49 = metaop.reindex_reduce min %v map affine_map<(d0) -> (0)> where affine_set<(d0) : (d0 mod 4 - 3 == 0)>
      : tensor<8xf32> -> tensor<2xf32>
  // CHECK: result 49: tensor<2xf32>
  // CHECK-NEXT: [4, inf]
  %two = metaop.constant dense<2> : tensor<i64>
  %r50 = metaop.reindex_reduce add %x symbols(%two) map affine_map<(d0, d1)[s0] -> (d0, d1 * s0 - d0)> where affine_set<(d0, d1)[s0] : (s0 - d1 - 1 >= 0)>
      : tensor<2x3xf32> -> tensor<2x4xf32>
  // CHECK: result 50: tensor<2x4xf32>
  // CHECK-NEXT{LITERAL}: [[1.5, 0, -2, 0],
  // CHECK-NEXT: [0, 5, 0, 0]]
  %r51 = metaop.reindex_reduce add %x map affine_map<(d0, d1) -> ()>
      : tensor<2x3xf32> -> tensor<f32>
  // CHECK: result 51: tensor<f32>
  // CHECK-NEXT: 5
  %r52 = metaop.reindex_reduce or %b map affine_map<(d0, d1) -> (d1)>
      : tensor<2x3xi1> -> tensor<3xi1>
  // CHECK: result 52: tensor<3xi1>
  // CHECK-NEXT: [True, True, True]
  %w = metaop.constant
      dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]> : tensor<4x3xi32>
  // Overlapping windows are added up.
  %r53 = metaop.reindex_reduce add %w map affine_map<(d0, d1) -> (d0 + d1 - 1)>
      : tensor<4x3xi32> -> tensor<4xi32>
  // CHECK: result 53: tensor<4xi32>
  // CHECK-NEXT: [6, 15, 24, 20]
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12,
    %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24,
    %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34, %r35, %r36,
    %r37, %r38, %r39, %r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47, %r48,
    %r49, %r50, %r51, %r52, %r53 :
      tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
      tensor<1x3xf32>, tensor<f32>, tensor<1x1xf32>, tensor<2x3xf32>,
      tensor<f32>, tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>,
      tensor<2xf32>, tensor<2xf32>, tensor<i8>, tensor<ui16>, tensor<i8>,
      tensor<ui16>, tensor<i8>, tensor<ui16>, tensor<i8>, tensor<ui16>,
      tensor<i8>, tensor<ui16>, tensor<i8>, tensor<ui16>, tensor<i8>,
      tensor<ui16>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<2xi8>,
      tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>,
      tensor<2xi8>, tensor<ui8>, tensor<ui8>, tensor<ui8>, tensor<2xi1>,
      tensor<2xi1>, tensor<2xi1>, tensor<f32>, tensor<3xf32>, tensor<3xf32>,
      tensor<3xf32>, tensor<2xf32>, tensor<2x4xf32>, tensor<f32>,
      tensor<3xi1>, tensor<4xi32>
}
