// RUN: metaop-run %s --compare --seed=1
// RUN: metaop-opt %s -metaop-pipeline=to=scheduled --mlir-print-local-scope | FileCheck %s

// Results of more than 32 MB, which are stored past the caches.

// CHECK-LABEL: func @rest
// CHECK: stream = [0]
func.func @rest(%x: tensor<8388627xf32>, %y: tensor<f32>) -> tensor<8388627xf32> {
  %0 = metaop.broadcast %y dims = [] : tensor<f32> -> tensor<8388627xf32>
  %1 = metaop.mul %x, %0 : tensor<8388627xf32>
  return %1 : tensor<8388627xf32>
}

// CHECK-LABEL: func @transpose
// CHECK: stream = [0]
func.func @transpose(%x: tensor<2912x2899xf32>) -> tensor<2899x2912xf32> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<2912x2899xf32> -> tensor<2899x2912xf32>
  %1 = metaop.neg %0 : tensor<2899x2912xf32>
  return %1 : tensor<2899x2912xf32>
}

// Rows of whole lines, read at other places.
// CHECK-LABEL: func @window
// CHECK: stream = [0]
func.func @window(%x: tensor<3005x2901xf32>) -> tensor<3001x2896xf32> {
  %0 = metaop.reindex %x map affine_map<(i, j) -> (i + 5, j + 3)> fill 0.5 : f32 : tensor<3005x2901xf32> -> tensor<3001x2896xf32>
  return %0 : tensor<3001x2896xf32>
}

// Two results of one stage.
// CHECK-LABEL: func @several
// CHECK: stream = [0, 1]
func.func @several(%x: tensor<4194305xf64>) -> (tensor<4194305xf64>, tensor<4194305xf64>) {
  %0 = metaop.neg %x : tensor<4194305xf64>
  %1 = metaop.add %x, %x : tensor<4194305xf64>
  return %0, %1 : tensor<4194305xf64>, tensor<4194305xf64>
}
