// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// f16 and bf16 are rounded to nearest even at each op; their reductions
// accumulate in a wider type and are rounded once.

func.func @main() -> (
    tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>,
    tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xbf16>,
    tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<f16>,
    tensor<bf16>, tensor<4xbf16>) {
  %x = metaop.constant dense<[1.0, 2.048e+03, 0.1, 6.0e+04, -3.0]> : tensor<5xf16>
  %y = metaop.constant dense<[0.0004883, 1.0, 0.2, 6.0e+04, 7.0]> : tensor<5xf16>
  %r0 = metaop.add %x, %y : tensor<5xf16>
  // CHECK: result 0: tensor<5xf16>
  // CHECK-NEXT: [1, 2048, 0.299805, inf, 4]
  %r1 = metaop.mul %x, %y : tensor<5xf16>
  // CHECK: result 1: tensor<5xf16>
  // CHECK-NEXT: [0.000488281, 2048, 0.019989, inf, -21]
  %r2 = metaop.sub %x, %y : tensor<5xf16>
  // CHECK: result 2: tensor<5xf16>
  // CHECK-NEXT: [0.999512, 2047, -0.0999756, 0, -10]
  %r3 = metaop.div %x, %y : tensor<5xf16>
  // CHECK: result 3: tensor<5xf16>
  // CHECK-NEXT: [2048, 2048, 0.5, 1, -0.428467]
  %r4 = metaop.max %x, %y : tensor<5xf16>
  // CHECK: result 4: tensor<5xf16>
  // CHECK-NEXT: [1, 2048, 0.199951, 60000, 7]
  %r5 = metaop.exp %x : tensor<5xf16>
  // CHECK: result 5: tensor<5xf16>
  // CHECK-NEXT: [2.71875, inf, 1.10547, inf, 0.0497742]
  %r6 = metaop.tanh %x : tensor<5xf16>
  // CHECK: result 6: tensor<5xf16>
  // CHECK-NEXT: [0.761719, 1, 0.0996704, 1, -0.995117]
  %a = metaop.constant
      dense<[1.0, 256.0, 0.100097656, 3.0040553e+38, -3.0]> : tensor<5xbf16>
  %b = metaop.constant
      dense<[0.00390625, 1.0, 0.20019531, 3.0040553e+38, 7.0]> : tensor<5xbf16>
  %r7 = metaop.add %a, %b : tensor<5xbf16>
  // CHECK: result 7: tensor<5xbf16>
  // CHECK-NEXT: [1, 256, 0.300781, inf, 4]
  %r8 = metaop.mul %a, %b : tensor<5xbf16>
  // CHECK: result 8: tensor<5xbf16>
  // CHECK-NEXT: [0.00390625, 256, 0.0200195, inf, -21]
  %r9 = metaop.div %a, %b : tensor<5xbf16>
  // CHECK: result 9: tensor<5xbf16>
  // CHECK-NEXT: [256, 256, 0.5, 1, -0.427734]
  %r10 = metaop.neg %a : tensor<5xbf16>
  // CHECK: result 10: tensor<5xbf16>
  // CHECK-NEXT: [-1, -256, -0.100098, -3.00406e+38, 3]
  %ones = metaop.constant dense<1.0> : tensor<4100xf16>
  // A sum kept in f16 would stop at 2048.
  %r11 = metaop.reduce add %ones dims = [0] : tensor<4100xf16> -> tensor<f16>
  // CHECK: result 11: tensor<f16>
  // CHECK-NEXT: 4100
  %bones = metaop.constant dense<1.0> : tensor<300xbf16>
  %r12 = metaop.reduce add %bones dims = [0] : tensor<300xbf16> -> tensor<bf16>
  // CHECK: result 12: tensor<bf16>
  // CHECK-NEXT: 300
  %r13 = metaop.iota dim = 0 : tensor<4xbf16>
  // CHECK: result 13: tensor<4xbf16>
  // CHECK-NEXT: [0, 1, 2, 3]
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12,
    %r13 :
      tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>,
      tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xbf16>,
      tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<f16>,
      tensor<bf16>, tensor<4xbf16>
}
