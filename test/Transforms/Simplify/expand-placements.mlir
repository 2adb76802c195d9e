// RUN: metaop-opt %s -metaop-expand-placements | FileCheck %s

// Readers in place choose from the parts.
// CHECK-LABEL: @few
// CHECK-NOT: metaop.concat
// CHECK: metaop.reindex %{{.*}} map {{.*}} : tensor<4xf32> -> tensor<15xf32>
// CHECK: metaop.reindex %{{.*}} map {{.*}} : tensor<6xf32> -> tensor<15xf32>
// CHECK: metaop.constant dense<4> : tensor<15xi64>
// CHECK: metaop.select
// CHECK: metaop.constant dense<10> : tensor<15xi64>
// CHECK: metaop.select
// CHECK: metaop.exp
func.func @few(%a: tensor<4xf32>, %b: tensor<6xf32>, %c: tensor<5xf32>) -> tensor<15xf32> {
  %0 = metaop.concat %a, %b, %c dim = 0 : (tensor<4xf32>, tensor<6xf32>, tensor<5xf32>) -> tensor<15xf32>
  %1 = metaop.exp %0 : tensor<15xf32>
  return %1 : tensor<15xf32>
}

// It has to be in memory.
// CHECK-LABEL: @returned
// CHECK: metaop.concat
func.func @returned(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = metaop.concat %a, %a dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %1 = metaop.exp %0 : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Rule 1: a reindex reads memory.
// CHECK-LABEL: @reindexed
// CHECK: metaop.concat
func.func @reindexed(%a: tensor<4xf32>) -> tensor<8xf32> {
  %0 = metaop.concat %a, %a dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %1 = metaop.reindex %0 map affine_map<(i) -> (7 - i)> fill 0.0 : f32 : tensor<8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Kernels write most of it where it belongs.
// CHECK-LABEL: @computed
// CHECK: metaop.concat
func.func @computed(%a: tensor<4xf32>, %b: tensor<2xf32>) -> tensor<6xf32> {
  %0 = metaop.exp %a : tensor<4xf32>
  %1 = metaop.concat %0, %b dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  %2 = metaop.exp %1 : tensor<6xf32>
  return %2 : tensor<6xf32>
}

// CHECK-LABEL: @many
// CHECK: metaop.concat
func.func @many(%a: tensor<1xf32>) -> tensor<9xf32> {
  %0 = metaop.concat %a, %a, %a, %a, %a, %a, %a, %a, %a dim = 0
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>,
         tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<9xf32>
  %1 = metaop.exp %0 : tensor<9xf32>
  return %1 : tensor<9xf32>
}

// CHECK-LABEL: @inserts
// CHECK-NOT: metaop.insert
// CHECK-COUNT-2: metaop.select
// CHECK-NOT: metaop.insert
// CHECK: return
func.func @inserts(%p: tensor<2xf32>, %x: tensor<9xf32>, %i: tensor<i64>, %j: tensor<i64>) -> tensor<9xf32> {
  %0 = metaop.insert none %p into %x[%i] : tensor<2xf32> into tensor<9xf32>
  %1 = metaop.insert none %p into %0[%j] : tensor<2xf32> into tensor<9xf32>
  %2 = metaop.exp %1 : tensor<9xf32>
  return %2 : tensor<9xf32>
}

// CHECK-LABEL: @insert_into_sum
// CHECK: metaop.insert
func.func @insert_into_sum(%p: tensor<2xf32>, %x: tensor<9x4xf32>, %i: tensor<i64>) -> tensor<9xf32> {
  %0 = metaop.reduce add %x dims = [1] : tensor<9x4xf32> -> tensor<9xf32>
  %1 = metaop.insert none %p into %0[%i] : tensor<2xf32> into tensor<9xf32>
  %2 = metaop.exp %1 : tensor<9xf32>
  return %2 : tensor<9xf32>
}
