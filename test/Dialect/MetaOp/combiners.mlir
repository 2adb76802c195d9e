// RUN: metaop-opt %s | metaop-opt | FileCheck %s

// A combiner by its name, in each operation that takes it.

func.func @logarithms(%x: tensor<4x8xf32>, %i: tensor<4x8xi64>)
    -> (tensor<4xf32>, tensor<8xf32>, tensor<9x8xf32>, tensor<4x8xf32>) {
  // CHECK: metaop.reduce logaddexp %{{.*}} dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %0 = metaop.reduce logaddexp %x dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: metaop.reindex_reduce logaddexp %{{.*}} map
  %1 = metaop.reindex_reduce logaddexp %x map affine_map<(d0, d1) -> (d1)>
      : tensor<4x8xf32> -> tensor<8xf32>
  // CHECK: metaop.scatter logaddexp %{{.*}}[%{{.*}}] map
  %2 = metaop.scatter logaddexp %x[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<4x8xf32>, tensor<4x8xi64>) -> tensor<9x8xf32>
  // CHECK: metaop.prefix logaddexp %{{.*}} dim = 1 : tensor<4x8xf32>
  %3 = metaop.prefix logaddexp %x dim = 1 : tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<8xf32>, tensor<9x8xf32>, tensor<4x8xf32>
}
