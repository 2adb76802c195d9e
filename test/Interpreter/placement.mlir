// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines
// RUN: metaop-run %s | FileCheck %s --match-full-lines

// Concats along each dimension, with empty parts, and inserts of each kind.

func.func @main() -> (tensor<3x3xi32>, tensor<2x5xi32>, tensor<4xf32>, tensor<2x0xi8>,
    tensor<4x3xi32>, tensor<4x3xi32>, tensor<4x3xi32>, tensor<5xui8>, tensor<3xi1>) {
  %a = metaop.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = metaop.constant dense<[[7, 8, 9]]> : tensor<1x3xi32>
  %c = metaop.constant dense<[[10, 11], [12, 13]]> : tensor<2x2xi32>
  %r0 = metaop.concat %a, %b dim = 0 : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<3x3xi32>
  // CHECK: result 0: tensor<3x3xi32>
  // CHECK-NEXT{LITERAL}: [[1, 2, 3],
  // CHECK-NEXT: [4, 5, 6],
  // CHECK-NEXT{LITERAL}: [7, 8, 9]]
  %r1 = metaop.concat %c, %a dim = 1 : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x5xi32>
  // CHECK: result 1: tensor<2x5xi32>
  // CHECK-NEXT{LITERAL}: [[10, 11, 1, 2, 3],
  // CHECK-NEXT{LITERAL}: [12, 13, 4, 5, 6]]

  // Negative zero stays what it is.
  %x = metaop.constant dense<[-0.0, 1.0]> : tensor<2xf32>
  %e = metaop.constant dense<> : tensor<0xf32>
  %r2 = metaop.concat %x, %e, %x dim = 0 : (tensor<2xf32>, tensor<0xf32>, tensor<2xf32>) -> tensor<4xf32>
  // CHECK: result 2: tensor<4xf32>
  // CHECK-NEXT: [-0, 1, -0, 1]
  %n = metaop.constant dense<> : tensor<1x0xi8>
  %r3 = metaop.concat %n, %n dim = 0 : (tensor<1x0xi8>, tensor<1x0xi8>) -> tensor<2x0xi8>

  // Windows inside, and over two borders.
  %m1 = metaop.constant dense<-1> : tensor<i64>
  %p1 = metaop.constant dense<1> : tensor<i64>
  %p3 = metaop.constant dense<3> : tensor<i64>
  %z = metaop.constant dense<1> : tensor<4x3xi32>
  %r4 = metaop.insert none %c into %z[%p1, %p1] : tensor<2x2xi32> into tensor<4x3xi32>
  // CHECK: result 4: tensor<4x3xi32>
  // CHECK-NEXT{LITERAL}: [[1, 1, 1],
  // CHECK-NEXT: [1, 10, 11],
  // CHECK-NEXT: [1, 12, 13],
  // CHECK-NEXT{LITERAL}: [1, 1, 1]]
  %r5 = metaop.insert add %c into %r4[%p3, %m1] : tensor<2x2xi32> into tensor<4x3xi32>
  // CHECK: result 5: tensor<4x3xi32>
  // CHECK-NEXT{LITERAL}: [[1, 1, 1],
  // CHECK-NEXT: [1, 10, 11],
  // CHECK-NEXT: [1, 12, 13],
  // CHECK-NEXT{LITERAL}: [12, 1, 1]]
  %far = metaop.constant dense<9223372036854775807> : tensor<i64>
  %r6 = metaop.insert min %c into %r4[%far, %m1] : tensor<2x2xi32> into tensor<4x3xi32>
  // CHECK: result 6: tensor<4x3xi32>
  // CHECK-NEXT{LITERAL}: [[1, 1, 1],
  // CHECK-NEXT: [1, 10, 11],
  // CHECK-NEXT: [1, 12, 13],
  // CHECK-NEXT{LITERAL}: [1, 1, 1]]
  %u = metaop.constant dense<[1, 2, 4, 8, 255]> : tensor<5xui8>
  %v = metaop.constant dense<[3, 5, 6]> : tensor<3xui8>
  %r7 = metaop.insert xor %v into %u[%p1] : tensor<3xui8> into tensor<5xui8>
  // CHECK: result 7: tensor<5xui8>
  // CHECK-NEXT: [1, 1, 1, 14, 255]
  %t = metaop.constant dense<[true, false, false]> : tensor<3xi1>
  %o = metaop.constant dense<true> : tensor<1xi1>
  %r8 = metaop.insert or %o into %t[%p1] : tensor<1xi1> into tensor<3xi1>
  // CHECK: result 8: tensor<3xi1>
  // CHECK-NEXT: [True, True, False]
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8 : tensor<3x3xi32>, tensor<2x5xi32>, tensor<4xf32>, tensor<2x0xi8>,
    tensor<4x3xi32>, tensor<4x3xi32>, tensor<4x3xi32>, tensor<5xui8>, tensor<3xi1>
}
