// RUN: metaop-opt %s -metaop-fuse | FileCheck %s

// Operands of one element-wise op have one shape, so all of these share a stage.
// CHECK-LABEL: func @same_shape
// CHECK:         metaop.kernel(%{{.*}} = %{{.*}} : tensor<?x8xf32>, %{{.*}} = %{{.*}} : tensor<?x8xf32>) -> tensor<?xf32>
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @same_shape(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?xf32> {
  %0 = metaop.exp %x : tensor<?x8xf32>
  %1 = metaop.neg %y : tensor<?x8xf32>
  %2 = metaop.mul %0, %1 : tensor<?x8xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// Extents are inputs of the kernel.
// CHECK-LABEL: func @extents
// CHECK-SAME:    %[[W:[^:]*]]: tensor<8xf32>, %[[X:[^:]*]]: tensor<?x8xf32>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]]
// CHECK:         metaop.kernel(%[[A:.*]] = %[[W]] : tensor<8xf32>, %[[B:.*]] = %[[N]] : index, %[[C:.*]] = %[[X]] : tensor<?x8xf32>)
// CHECK-NEXT:      metaop.fused(%[[D:.*]] = %[[A]] : tensor<8xf32>, %[[E:.*]] = %[[B]] : index, %{{.*}} = %[[C]] : tensor<?x8xf32>)
// CHECK-NEXT:        metaop.broadcast %[[D]] extents(%[[E]])
// CHECK-NEXT:        metaop.mul
func.func @extents(%w: tensor<8xf32>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %0 = metaop.broadcast %w extents(%n) dims = [1] : tensor<8xf32> -> tensor<?x8xf32>
  %1 = metaop.mul %x, %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// Nothing says that these have one extent, so siblings do not merge.
// CHECK-LABEL: func @unknown
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return
func.func @unknown(%w: tensor<1xf32>, %n: index, %m: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = metaop.broadcast %w extents(%n) dims = [0] : tensor<1xf32> -> tensor<?xf32>
  %1 = metaop.exp %0 : tensor<?xf32>
  %2 = metaop.broadcast %w extents(%m) dims = [0] : tensor<1xf32> -> tensor<?xf32>
  %3 = metaop.neg %2 : tensor<?xf32>
  return %1, %3 : tensor<?xf32>, tensor<?xf32>
}

// The reductions of both come from one argument.
// CHECK-LABEL: func @moments
// CHECK:         metaop.kernel
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @moments(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = metaop.reduce add %x dims = [1] : tensor<?x?xf32> -> tensor<?xf32>
  %1 = metaop.mul %x, %x : tensor<?x?xf32>
  %2 = metaop.reduce add %1 dims = [1] : tensor<?x?xf32> -> tensor<?xf32>
  return %0, %2 : tensor<?xf32>, tensor<?xf32>
}
