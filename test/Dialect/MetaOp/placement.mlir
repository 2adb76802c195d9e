// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s -emit-bytecode | metaop-opt | FileCheck %s

// CHECK-LABEL: @concat
func.func @concat(%a: tensor<4x3xf32>, %b: tensor<4x5xf32>, %c: tensor<?x5xf32>) -> (tensor<4x8xf32>, tensor<?x5xf32>) {
  // CHECK: metaop.concat %{{.*}}, %{{.*}} dim = 1 : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  %0 = metaop.concat %a, %b dim = 1 : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  // CHECK: metaop.concat %{{.*}}, %{{.*}}, %{{.*}} dim = 0 : (tensor<4x5xf32>, tensor<?x5xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  %1 = metaop.concat %b, %c, %b dim = 0 : (tensor<4x5xf32>, tensor<?x5xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<?x5xf32>
}

// CHECK-LABEL: @insert
func.func @insert(%p: tensor<2x3xi32>, %x: tensor<5x3xi32>, %i: tensor<i64>, %z: tensor<i64>) -> tensor<5x3xi32> {
  // CHECK: metaop.insert none %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}}] : tensor<2x3xi32> into tensor<5x3xi32>
  %0 = metaop.insert none %p into %x[%i, %z] : tensor<2x3xi32> into tensor<5x3xi32>
  // CHECK: metaop.insert add
  %1 = metaop.insert add %p into %0[%i, %z] : tensor<2x3xi32> into tensor<5x3xi32>
  // CHECK: metaop.insert xor
  %2 = metaop.insert xor %p into %1[%i, %z] : tensor<2x3xi32> into tensor<5x3xi32>
  return %2 : tensor<5x3xi32>
}

// CHECK-LABEL: @slots
// CHECK-SAME: [#metaop.slot<result, 0, offset = 128>, #metaop.slot<arena, 64>, #metaop.slot<arena, 0, offset = 8, row = 16, pitch = 64>, #metaop.slot<argument, 1, row = 4, pitch = 6>]
func.func @slots() attributes {slots = [#metaop.slot<result, 0, offset = 128>, #metaop.slot<arena, 64>,
    #metaop.slot<arena, 0, offset = 8, row = 16, pitch = 64>, #metaop.slot<argument, 1, row = 4, pitch = 6>]} {
  return
}
