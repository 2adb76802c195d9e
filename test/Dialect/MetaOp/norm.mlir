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

// Of orders other than 2, powers by halves are products and a root, and the
// result is a power. An even power needs no magnitudes.

// CHECK-LABEL: @orders
// CHECK: metaop.norm %{{.*}} dims = [1] order = 1.500000e+00 : tensor<4x3xf32>
// CHECK: metaop.norm %{{.*}} dims = [1] order = 3.000000e+00 signed : tensor<4x3xf32>
// CHECK: metaop.norm %{{.*}} dims = [1] order = 4.000000e+00 : tensor<4x3xf32>
// CANON-LABEL: @orders
// CANON-SAME:    %[[X:.*]]: tensor<4x3xf32>
// CANON: %[[SIZE:.*]] = metaop.abs %[[X]]
// CANON: %[[WIDE:.*]] = metaop.cast %[[SIZE]] : tensor<4x3xf32> -> tensor<4x3xf64>
// CANON: %[[ROOT:.*]] = metaop.sqrt %[[WIDE]]
// CANON: %[[POWERS:.*]] = metaop.mul %[[ROOT]], %[[WIDE]]
// CANON: %[[SUM:.*]] = metaop.reindex_reduce add %[[POWERS]]
// CANON: %[[RESULT:.*]] = metaop.pow %[[SUM]]
// CANON: metaop.cast %[[RESULT]] : tensor<4xf64> -> tensor<4xf32>
// CANON: %[[SIGNED:.*]] = metaop.cast %[[X]]
// CANON: %[[SQUARES:.*]] = metaop.mul %[[SIGNED]], %[[SIGNED]]
// CANON: metaop.mul %[[SQUARES]], %[[SIGNED]]
// CANON-NOT: metaop.abs
// CANON: return
func.func @orders(%x: tensor<4x3xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = metaop.norm %x dims = [1] order = 1.5 : tensor<4x3xf32> -> tensor<4xf32>
  %1 = metaop.norm %x dims = [1] order = 3.0 signed : tensor<4x3xf32> -> tensor<4xf32>
  %2 = metaop.norm %x dims = [1] order = 4.0 : tensor<4x3xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Of halves of signed elements, negative infinity has the powers of infinity,
// but no root.

// CANON-LABEL: @signed_root
// CANON-SAME:    %[[X:.*]]: tensor<4x3xf32>
// CANON: %[[IS_LEAST:.*]] = metaop.cmp eq %[[X]]
// CANON: %[[ROOTED:.*]] = metaop.select %[[IS_LEAST]], %{{.*}}, %[[X]]
// CANON: %[[WIDE:.*]] = metaop.cast %[[ROOTED]]
// CANON: metaop.sqrt %[[WIDE]]
func.func @signed_root(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %0 = metaop.norm %x dims = [1] order = 2.5 signed : tensor<4x3xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
