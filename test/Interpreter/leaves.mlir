// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// Ops without tensor inputs. The random word of key 0 and counter 0 is the
// known answer that comes with the generator.

func.func @main() -> (
    tensor<ui32>, tensor<2x3xui32>, tensor<2x3xf32>, tensor<6xf16>,
    tensor<6xbf16>, tensor<3xf64>, tensor<2xui32>, tensor<2x3xi64>,
    tensor<2x3xf32>, tensor<258xui8>, tensor<0x2xi32>, tensor<2x2xf64>,
    tensor<2x2xi8>, tensor<2xi1>, tensor<ui64>, tensor<0xf32>, tensor<f32>,
    tensor<3xi16>) {
  %zero = metaop.constant dense<0> : tensor<i64>
  %key = metaop.constant dense<-81985529216486896> : tensor<i64>
  %counter = metaop.constant dense<4294967294> : tensor<i64>
  %last = metaop.constant dense<-1> : tensor<i64>
  // 0xff1dae59
  %r0 = metaop.random %zero, %zero : tensor<ui32>
  // CHECK: result 0: tensor<ui32>
  // CHECK-NEXT: 4280135257
  // The counter goes past 32 bits.
  %r1 = metaop.random %key, %counter : tensor<2x3xui32>
  // CHECK: result 1: tensor<2x3xui32>
  // CHECK-NEXT{LITERAL}: [[2555762858, 591030907, 4171262732],
  // CHECK-NEXT: [2007290592, 636824267, 2578265386]]
  %r2 = metaop.random %key, %counter : tensor<2x3xf32>
  // CHECK: result 2: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0.59506, 0.13761, 0.971198],
  // CHECK-NEXT: [0.467359, 0.148272, 0.600299]]
  %r3 = metaop.random %key, %counter : tensor<6xf16>
  // CHECK: result 3: tensor<6xf16>
  // CHECK-NEXT: [0.594727, 0.137207, 0.971191, 0.467285, 0.147949, 0.600098]
  %r4 = metaop.random %key, %counter : tensor<6xbf16>
  // CHECK: result 4: tensor<6xbf16>
  // CHECK-NEXT: [0.59375, 0.136719, 0.96875, 0.464844, 0.144531, 0.597656]
  %r5 = metaop.random %key, %counter : tensor<3xf64>
  // CHECK: result 5: tensor<3xf64>
  // CHECK-NEXT: [0.0455118, 0.474188, 0.824398]
  // The counter wraps from 2^64 - 1 to 0.
  %r6 = metaop.random %zero, %last : tensor<2xui32>
  // CHECK: result 6: tensor<2xui32>
  // CHECK-NEXT: [1428173101, 4280135257]
  %r7 = metaop.iota dim = 1 : tensor<2x3xi64>
  // CHECK: result 7: tensor<2x3xi64>
  // CHECK-NEXT{LITERAL}: [[0, 1, 2],
  // CHECK-NEXT: [0, 1, 2]]
  %r8 = metaop.iota dim = 0 : tensor<2x3xf32>
  // CHECK: result 8: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0, 0, 0],
  // CHECK-NEXT: [1, 1, 1]]
  // Integers wrap.
  %r9 = metaop.iota dim = 0 : tensor<258xui8>
  // CHECK: result 9: tensor<258xui8>
  // CHECK-NEXT: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223, 224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255, 0, 1]
  %r10 = metaop.iota dim = 0 : tensor<0x2xi32>
  // CHECK: result 10: tensor<0x2xi32>
  // CHECK-NEXT: []
  %r11 = metaop.constant dense<2.5> : tensor<2x2xf64>
  // CHECK: result 11: tensor<2x2xf64>
  // CHECK-NEXT{LITERAL}: [[2.5, 2.5],
  // CHECK-NEXT: [2.5, 2.5]]
  %r12 = metaop.constant dense<[[-1, 2], [3, -4]]> : tensor<2x2xi8>
  // CHECK: result 12: tensor<2x2xi8>
  // CHECK-NEXT{LITERAL}: [[-1, 2],
  // CHECK-NEXT: [3, -4]]
  %r13 = metaop.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: result 13: tensor<2xi1>
  // CHECK-NEXT: [True, False]
  %r14 = metaop.constant dense<18446744073709551615> : tensor<ui64>
  // CHECK: result 14: tensor<ui64>
  // CHECK-NEXT: 18446744073709551615
  %r15 = metaop.constant dense<> : tensor<0xf32>
  // CHECK: result 15: tensor<0xf32>
  // CHECK-NEXT: []
  %r16 = metaop.constant dense<0x7F800000> : tensor<f32>
  // CHECK: result 16: tensor<f32>
  // CHECK-NEXT: inf
  // A blob holds elements as they lie in memory.
  %r17 = metaop.constant dense_resource<table> : tensor<3xi16>
  // CHECK: result 17: tensor<3xi16>
  // CHECK-NEXT: [1, -2, 515]
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12,
    %r13, %r14, %r15, %r16, %r17 :
      tensor<ui32>, tensor<2x3xui32>, tensor<2x3xf32>, tensor<6xf16>,
      tensor<6xbf16>, tensor<3xf64>, tensor<2xui32>, tensor<2x3xi64>,
      tensor<2x3xf32>, tensor<258xui8>, tensor<0x2xi32>, tensor<2x2xf64>,
      tensor<2x2xi8>, tensor<2xi1>, tensor<ui64>, tensor<0xf32>,
      tensor<f32>, tensor<3xi16>
}

{-#
  dialect_resources: {
    builtin: {
      table: "0x020000000100FEFF0302"
    }
  }
#-}
