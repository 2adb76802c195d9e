// RUN: metaop-opt %s | FileCheck %s
// RUN: metaop-opt %s --canonicalize | FileCheck %s --check-prefix=CANON

// What is 1 and false is not printed. Before fusion a norm is a sum of squares
// that neither overflow nor vanish.

// CHECK-LABEL: @norms
// CHECK: metaop.norm %{{.*}} dims = [0, 2] : tensor<4x?x3xf32> -> tensor<?xf32>
// CHECK: metaop.norm %{{.*}} dims = [1] keep_dims divisor = 3.000000e+00 : tensor<4x?x3xf32> -> tensor<4x1x3xf32>
// CANON-LABEL: @norms
// CANON: %[[WIDE:.*]] = metaop.cast %{{.*}} : tensor<4x?x3xf32> -> tensor<4x?x3xf64>
// CANON: %[[SQUARES:.*]] = metaop.mul %[[WIDE]], %[[WIDE]]
// CANON: %[[SUM:.*]] = metaop.reindex_reduce add %[[SQUARES]]
// CANON: %[[ROOT:.*]] = metaop.sqrt %[[SUM]] : tensor<?xf64>
// CANON: metaop.cast %[[ROOT]] : tensor<?xf64> -> tensor<?xf32>
// CANON: %[[THIRD:.*]] = metaop.div %{{.*}} : tensor<4x1x3xf64>
// CANON: metaop.sqrt %[[THIRD]]
func.func @norms(%x: tensor<4x?x3xf32>) -> (tensor<?xf32>, tensor<4x1x3xf32>) {
  %0 = metaop.norm %x dims = [0, 2] divisor = 1.0 : tensor<4x?x3xf32> -> tensor<?xf32>
  %1 = metaop.norm %x dims = [1] keep_dims divisor = 3.0
      : tensor<4x?x3xf32> -> tensor<4x1x3xf32>
  return %0, %1 : tensor<?xf32>, tensor<4x1x3xf32>
}
