// RUN: metaop-opt %s -metaop-widen-addends | FileCheck %s
// RUN: metaop-opt %s -metaop-widen-addends -metaop-widen-addends | FileCheck %s

// CHECK-LABEL: @sums
// CHECK-SAME:  (%[[X:.*]]: tensor<4x8xbf16>, %[[W:.*]]: tensor<4x8xbf16>)
// CHECK-DAG:   %[[X32:.*]] = metaop.cast %[[X]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK-DAG:   %[[W32:.*]] = metaop.cast %[[W]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK:       %[[P:.*]] = metaop.mul %[[X32]], %[[W32]] : tensor<4x8xf32>
// CHECK:       %[[A:.*]] = metaop.reduce add %[[P]] dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK:       %[[ROWS:.*]] = metaop.cast %[[A]] : tensor<4xf32> -> tensor<4xbf16>
// CHECK:       %[[B:.*]] = metaop.reindex_reduce add %[[P]] {{.*}} : tensor<4x8xf32> -> tensor<4xf32>
// CHECK:       %[[PAIRS:.*]] = metaop.cast %[[B]] : tensor<4xf32> -> tensor<4xbf16>
// CHECK-NOT:   metaop.mul
// CHECK:       return %[[ROWS]], %[[PAIRS]]
func.func @sums(%x: tensor<4x8xbf16>, %w: tensor<4x8xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %0 = metaop.mul %x, %w : tensor<4x8xbf16>
  %1 = metaop.reduce add %0 dims = [1] : tensor<4x8xbf16> -> tensor<4xbf16>
  %2 = metaop.reindex_reduce add %0 map affine_map<(i, j) -> (j floordiv 2)>
      : tensor<4x8xbf16> -> tensor<4xbf16>
  return %1, %2 : tensor<4xbf16>, tensor<4xbf16>
}

// CHECK-LABEL: @squares
// CHECK:       %[[X32:.*]] = metaop.cast %{{.*}} : tensor<8xf16> -> tensor<8xf32>
// CHECK-NEXT:  metaop.mul %[[X32]], %[[X32]] : tensor<8xf32>
func.func @squares(%x: tensor<8xf16>) -> tensor<f16> {
  %0 = metaop.mul %x, %x : tensor<8xf16>
  %1 = metaop.reduce add %0 dims = [0] : tensor<8xf16> -> tensor<f16>
  return %1 : tensor<f16>
}

// CHECK-LABEL: @scattered
// CHECK:       metaop.scatter add {{.*}} -> tensor<3xf32>
func.func @scattered(%x: tensor<8xf16>, %w: tensor<8xf16>, %at: tensor<8xi64>) -> tensor<3xf16> {
  %0 = metaop.mul %x, %w : tensor<8xf16>
  %1 = metaop.scatter add %0[%at] map affine_map<(i)[s] -> (s)>
      : (tensor<8xf16>, tensor<8xi64>) -> tensor<3xf16>
  return %1 : tensor<3xf16>
}

// What is cast to halves only to be summed, as in the gradient by a weight of
// halves of its product with what is in f32, is summed as it was.

// CHECK-LABEL: @cast
// CHECK-SAME:  (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:  %[[S:.*]] = metaop.reduce add %[[X]] dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK-NEXT:  %[[R:.*]] = metaop.cast %[[S]] : tensor<4xf32> -> tensor<4xbf16>
// CHECK-NEXT:  return %[[R]]
func.func @cast(%x: tensor<4x8xf32>) -> tensor<4xbf16> {
  %0 = metaop.cast %x : tensor<4x8xf32> -> tensor<4x8xbf16>
  %1 = metaop.reduce add %0 dims = [1] : tensor<4x8xbf16> -> tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// Sums are rounded, also those that this pass has made.

// CHECK-LABEL: @sums_of_sums
// CHECK-SAME:  (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:  %[[A:.*]] = metaop.reduce add %[[X]] dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK-NEXT:  %[[H:.*]] = metaop.cast %[[A]] : tensor<4xf32> -> tensor<4xf16>
// CHECK-NEXT:  %[[B:.*]] = metaop.reduce add %[[H]] dims = [0] : tensor<4xf16> -> tensor<f16>
// CHECK-NEXT:  return %[[B]]
func.func @sums_of_sums(%x: tensor<4x8xf32>) -> tensor<f16> {
  %0 = metaop.cast %x : tensor<4x8xf32> -> tensor<4x8xf16>
  %1 = metaop.reduce add %0 dims = [1] : tensor<4x8xf16> -> tensor<4xf16>
  %2 = metaop.reduce add %1 dims = [0] : tensor<4xf16> -> tensor<f16>
  return %2 : tensor<f16>
}

// What something else reads too is rounded, and sums are of what is read there.

// CHECK-LABEL: @other_reader
// CHECK-NOT:   metaop.cast
func.func @other_reader(%x: tensor<8xf16>, %w: tensor<8xf16>) -> (tensor<f16>, tensor<8xf16>) {
  %0 = metaop.mul %x, %w : tensor<8xf16>
  %1 = metaop.reduce add %0 dims = [0] : tensor<8xf16> -> tensor<f16>
  %2 = metaop.exp %0 : tensor<8xf16>
  return %1, %2 : tensor<f16>, tensor<8xf16>
}

// CHECK-LABEL: @result
// CHECK-NOT:   metaop.cast
func.func @result(%x: tensor<8xf16>, %w: tensor<8xf16>) -> (tensor<f16>, tensor<8xf16>) {
  %0 = metaop.mul %x, %w : tensor<8xf16>
  %1 = metaop.reduce add %0 dims = [0] : tensor<8xf16> -> tensor<f16>
  return %1, %0 : tensor<f16>, tensor<8xf16>
}

// CHECK-LABEL: @other_reductions
// CHECK-NOT:   metaop.cast
func.func @other_reductions(%x: tensor<8xf16>, %w: tensor<8xf16>) -> (tensor<f16>, tensor<f16>, tensor<f16>) {
  %0 = metaop.mul %x, %w : tensor<8xf16>
  %1 = metaop.reduce max %0 dims = [0] : tensor<8xf16> -> tensor<f16>
  %2 = metaop.reduce add %0 dims = [0] : tensor<8xf16> -> tensor<f16>
  %3 = metaop.mul %w, %w : tensor<8xf16>
  %4 = metaop.reduce mul %3 dims = [0] : tensor<8xf16> -> tensor<f16>
  return %1, %2, %4 : tensor<f16>, tensor<f16>, tensor<f16>
}

// A cast of another type, and a sum of halves as they are.

// CHECK-LABEL: @other_addends
// CHECK-SAME:  (%[[X:.*]]: tensor<8xf64>, %[[Y:.*]]: tensor<8xf16>)
// CHECK-NEXT:  %[[H:.*]] = metaop.cast %[[X]] : tensor<8xf64> -> tensor<8xf16>
// CHECK-NEXT:  metaop.reduce add %[[H]]
// CHECK-NEXT:  metaop.reduce add %[[Y]]
func.func @other_addends(%x: tensor<8xf64>, %y: tensor<8xf16>) -> (tensor<f16>, tensor<f16>) {
  %0 = metaop.cast %x : tensor<8xf64> -> tensor<8xf16>
  %1 = metaop.reduce add %0 dims = [0] : tensor<8xf16> -> tensor<f16>
  %2 = metaop.reduce add %y dims = [0] : tensor<8xf16> -> tensor<f16>
  return %1, %2 : tensor<f16>, tensor<f16>
}

// CHECK-LABEL: @other_types
// CHECK-NOT:   metaop.cast
func.func @other_types(%x: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<f32>, tensor<i32>) {
  %0 = metaop.mul %x, %x : tensor<8xf32>
  %1 = metaop.reduce add %0 dims = [0] : tensor<8xf32> -> tensor<f32>
  %2 = metaop.mul %i, %i : tensor<8xi32>
  %3 = metaop.reduce add %2 dims = [0] : tensor<8xi32> -> tensor<i32>
  return %1, %3 : tensor<f32>, tensor<i32>
}

// What has been fused is no graph any more.

// CHECK-LABEL: @fused
// CHECK-NOT:   metaop.cast
func.func @fused(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  %k = metaop.kernel(%kx = %x : tensor<4x8xf16>) -> tensor<4xf16> {
    %r = metaop.fused(%a = %kx : tensor<4x8xf16>) -> tensor<4xf16> {
      %0 = metaop.mul %a, %a : tensor<4x8xf16>
      %1 = metaop.reduce add %0 dims = [1] : tensor<4x8xf16> -> tensor<4xf16>
      metaop.yield %1 : tensor<4xf16>
    }
    metaop.yield %r : tensor<4xf16>
  }
  return %k : tensor<4xf16>
}
