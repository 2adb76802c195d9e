// RUN: metaop-opt %s --metaop-hoist-checks | FileCheck %s

// Checks, and what has some inside, come right behind what they depend on, and
// before all that they do not depend on. Everything else keeps its order.

// CHECK-LABEL: @main
func.func @main(%w: tensor<8xf32>, %i: tensor<4xi64>, %b: tensor<i1>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[LOW:.*]] = metaop.reduce min %{{.*}} : tensor<4xi64>
  // CHECK-NEXT: metaop.check_range %[[LOW]], %[[LOW]] extent = 8
  // CHECK-NEXT: %[[NEG:.*]] = metaop.neg %{{.*}} : tensor<4xi64>
  // CHECK-NEXT: %[[HIGH:.*]] = metaop.reduce max %[[NEG]]
  // CHECK-NEXT: metaop.check_range %[[HIGH]], %[[HIGH]] extent = 9
  // CHECK-NEXT: %[[ABS:.*]] = metaop.abs %{{.*}} : tensor<4xi64>
  // CHECK-NEXT: tensor.extract
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: metaop.reduce add %[[ABS]]
  // CHECK-NEXT: metaop.check_range
  // CHECK-NEXT: metaop.exp
  // CHECK: else
  // CHECK: {{^    \}$}}
  // CHECK-NEXT: metaop.sqrt
  // CHECK-NEXT: metaop.sin
  // CHECK-NEXT: return
  %0 = metaop.sqrt %w : tensor<8xf32>
  %n = metaop.neg %i : tensor<4xi64>
  %1 = metaop.reduce min %i dims = [0] : tensor<4xi64> -> tensor<i64>
  %a = metaop.abs %i : tensor<4xi64>
  %2 = metaop.reduce max %n dims = [0] : tensor<4xi64> -> tensor<i64>
  %3 = metaop.sin %0 : tensor<8xf32>
  metaop.check_range %1, %1 extent = 8
  metaop.check_range %2, %2 extent = 9
  %c = tensor.extract %b[] : tensor<i1>
  %4 = scf.if %c -> tensor<8xf32> {
    %5 = metaop.exp %w : tensor<8xf32>
    %6 = metaop.reduce add %a dims = [0] : tensor<4xi64> -> tensor<i64>
    metaop.check_range %6, %6 extent = 9
    scf.yield %5 : tensor<8xf32>
  } else {
    scf.yield %w : tensor<8xf32>
  }
  return %3, %4 : tensor<8xf32>, tensor<8xf32>
}
