// RUN: metaop-opt %s -metaop-push-into-parts | FileCheck %s

// Both ops are computed for each part. What else they read is a number, a
// reindex and an argument: the second part has its window of each.
// CHECK-LABEL: @chain
// CHECK-SAME:    (%[[A:.*]]: tensor<3x4xf32>, %[[B:.*]]: tensor<3x6xf32>, %[[ROW:.*]]: tensor<10xf32>, %[[ALL:.*]]: tensor<3x10xf32>)
// CHECK-NEXT:    %[[NEG:.*]] = metaop.neg %[[A]]
// CHECK-NEXT:    %[[BIAS:.*]] = metaop.reindex %[[ROW]] map #[[MAP:.*]] fill {{.*}} : tensor<10xf32> -> tensor<3x4xf32>
// CHECK-NEXT:    %[[ADD:.*]] = metaop.add %[[NEG]], %[[BIAS]] : tensor<3x4xf32>
// CHECK-NEXT:    %[[TWO:.*]] = metaop.constant dense<2.0{{.*}}> : tensor<3x4xf32>
// CHECK-NEXT:    %[[MUL:.*]] = metaop.mul %[[ADD]], %[[TWO]] : tensor<3x4xf32>
// CHECK-NEXT:    %[[Y:.*]] = metaop.reindex %[[ALL]]
// CHECK-NEXT:    %[[FIRST:.*]] = metaop.cmp lt %[[MUL]], %[[Y]] : tensor<3x4xf32> -> tensor<3x4xi1>
// CHECK-NEXT:    metaop.reindex %[[ROW]] map #[[SHIFTED:.*]] fill {{.*}} : tensor<10xf32> -> tensor<3x6xf32>
// CHECK-NEXT:    metaop.add %[[B]], %{{.*}} : tensor<3x6xf32>
// CHECK:         metaop.mul
// CHECK:         %[[SECOND:.*]] = metaop.cmp lt
// CHECK-NEXT:    %[[C:.*]] = metaop.concat %[[FIRST]], %[[SECOND]] dim = 1 : (tensor<3x4xi1>, tensor<3x6xi1>) -> tensor<3x10xi1>
// CHECK-NEXT:    return %[[C]]
func.func @chain(%a: tensor<3x4xf32>, %b: tensor<3x6xf32>, %row: tensor<10xf32>, %all: tensor<3x10xf32>) -> tensor<3x10xi1> {
  %0 = metaop.neg %a : tensor<3x4xf32>
  %1 = metaop.concat %0, %b dim = 1 : (tensor<3x4xf32>, tensor<3x6xf32>) -> tensor<3x10xf32>
  %2 = metaop.reindex %row map affine_map<(i, j) -> (j)> fill 0.0 : f32 : tensor<10xf32> -> tensor<3x10xf32>
  %3 = metaop.add %1, %2 : tensor<3x10xf32>
  %4 = metaop.constant dense<2.0> : tensor<3x10xf32>
  %5 = metaop.mul %3, %4 : tensor<3x10xf32>
  %6 = metaop.cmp lt %5, %all : tensor<3x10xf32> -> tensor<3x10xi1>
  return %6 : tensor<3x10xi1>
}

// An op that reads the concat twice, behind which one has to be in memory: that
// one is the concat.
// CHECK-LABEL: @until_memory
// CHECK-COUNT-2: metaop.mul {{.*}} : tensor<4xf32>
// CHECK:         %[[C:.*]] = metaop.concat
// CHECK-NEXT:    metaop.exp %[[C]] : tensor<8xf32>
// CHECK-NEXT:    metaop.reduce
func.func @until_memory(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<f32>) {
  %0 = metaop.concat %a, %a dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %1 = metaop.mul %0, %0 : tensor<8xf32>
  %2 = metaop.exp %1 : tensor<8xf32>
  %3 = metaop.reduce add %2 dims = [0] : tensor<8xf32> -> tensor<f32>
  return %1, %3 : tensor<8xf32>, tensor<f32>
}

// Nothing is saved: the reduction's kernel computes the op on the way.
// CHECK-LABEL: @reduced
// CHECK:         metaop.concat
// CHECK-NEXT:    metaop.exp
func.func @reduced(%a: tensor<4xf32>) -> tensor<f32> {
  %0 = metaop.concat %a, %a dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %1 = metaop.exp %0 : tensor<8xf32>
  %2 = metaop.reduce add %1 dims = [0] : tensor<8xf32> -> tensor<f32>
  return %2 : tensor<f32>
}

// Kernels of reductions do not go on.
// CHECK-LABEL: @of_reductions
// CHECK:         metaop.concat
// CHECK-NEXT:    metaop.exp
func.func @of_reductions(%a: tensor<4x3xf32>, %b: tensor<2xf32>) -> tensor<6xf32> {
  %0 = metaop.reduce add %a dims = [1] : tensor<4x3xf32> -> tensor<4xf32>
  %1 = metaop.concat %0, %b dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  %2 = metaop.exp %1 : tensor<6xf32>
  return %2 : tensor<6xf32>
}

// The concat is needed, by something else or by an op whose other operand is
// computed.
// CHECK-LABEL: @needed
// CHECK:         metaop.concat
// CHECK-NEXT:    metaop.exp
// CHECK:         metaop.concat
// CHECK-NEXT:    metaop.add
func.func @needed(%a: tensor<4xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = metaop.concat %a, %a dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %1 = metaop.exp %0 : tensor<8xf32>
  %2 = metaop.neg %b : tensor<8xf32>
  %3 = metaop.concat %a, %a dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %4 = metaop.add %3, %2 : tensor<8xf32>
  return %0, %1, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @many
// CHECK:         metaop.concat
// CHECK-NEXT:    metaop.exp
func.func @many(%a: tensor<1xf32>) -> tensor<9xf32> {
  %0 = metaop.concat %a, %a, %a, %a, %a, %a, %a, %a, %a dim = 0
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>,
         tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<9xf32>
  %1 = metaop.exp %0 : tensor<9xf32>
  return %1 : tensor<9xf32>
}

// Ops that read the concat and each other move together. What they leave behind
// without a reader goes.
// CHECK-LABEL: @several
// CHECK-NEXT:    metaop.reindex {{.*}} -> tensor<4xf32>
// CHECK-COUNT-2: metaop.select %{{.*}} : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:    metaop.concat
// CHECK-NEXT:    return
func.func @several(%a: tensor<4xf32>, %s: tensor<f32>) -> tensor<8xf32> {
  %0 = metaop.concat %a, %a dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %1 = metaop.reindex %s map affine_map<(i) -> ()> fill 0.0 : f32 : tensor<f32> -> tensor<8xf32>
  %2 = metaop.cmp lt %0, %1 : tensor<8xf32> -> tensor<8xi1>
  %3 = metaop.neg %0 : tensor<8xf32>
  %4 = metaop.select %2, %0, %3 : tensor<8xi1>, tensor<8xf32>
  return %4 : tensor<8xf32>
}
