// RUN: metaop-opt %s -metaop-fuse="rules=paper" | FileCheck %s
// RUN: metaop-opt %s -metaop-fuse="rules=paper min-parallel-extent=2" | FileCheck %s --check-prefix=LOW

// Sums of rows and of columns have no parallel dimension in common.
// CHECK-LABEL: func @rows_and_columns
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return
func.func @rows_and_columns(%x: tensor<100x200xf32>) -> (tensor<100xf32>, tensor<200xf32>) {
  %0 = metaop.exp %x : tensor<100x200xf32>
  %1 = metaop.reduce add %0 dims = [1] : tensor<100x200xf32> -> tensor<100xf32>
  %2 = metaop.reduce add %0 dims = [0] : tensor<100x200xf32> -> tensor<200xf32>
  return %1, %2 : tensor<100xf32>, tensor<200xf32>
}

// A small common dimension is not enough, unless the minimum is lower.
// CHECK-LABEL: func @batches
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return
// LOW-LABEL: func @batches
// LOW:         metaop.kernel
// LOW-NOT:     metaop.kernel
// LOW:         return
func.func @batches(%x: tensor<2x100x200xf32>) -> (tensor<2x100xf32>, tensor<2x200xf32>) {
  %0 = metaop.exp %x : tensor<2x100x200xf32>
  %1 = metaop.reduce add %0 dims = [2] : tensor<2x100x200xf32> -> tensor<2x100xf32>
  %2 = metaop.reduce add %0 dims = [1] : tensor<2x100x200xf32> -> tensor<2x200xf32>
  return %1, %2 : tensor<2x100xf32>, tensor<2x200xf32>
}

// A large one is.
// CHECK-LABEL: func @large_batches
// CHECK:         metaop.kernel
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @large_batches(%x: tensor<64x100x200xf32>) -> (tensor<64x100xf32>, tensor<64x200xf32>) {
  %0 = metaop.exp %x : tensor<64x100x200xf32>
  %1 = metaop.reduce add %0 dims = [2] : tensor<64x100x200xf32> -> tensor<64x100xf32>
  %2 = metaop.reduce add %0 dims = [1] : tensor<64x100x200xf32> -> tensor<64x200xf32>
  return %1, %2 : tensor<64x100xf32>, tensor<64x200xf32>
}

// Total reductions join total reductions only: they would take the parallelism
// of others away.
// CHECK-LABEL: func @totals
// CHECK:         metaop.fused{{.*}} -> (tensor<f32>, tensor<f32>)
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @totals(%x: tensor<100x200xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = metaop.exp %x : tensor<100x200xf32>
  %1 = metaop.reduce add %0 dims = [0, 1] : tensor<100x200xf32> -> tensor<f32>
  %2 = metaop.reduce max %0 dims = [0, 1] : tensor<100x200xf32> -> tensor<f32>
  return %1, %2 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func @total_and_rows
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return
func.func @total_and_rows(%x: tensor<100x200xf32>) -> (tensor<f32>, tensor<100xf32>) {
  %0 = metaop.exp %x : tensor<100x200xf32>
  %1 = metaop.reduce add %0 dims = [0, 1] : tensor<100x200xf32> -> tensor<f32>
  %2 = metaop.reduce max %0 dims = [1] : tensor<100x200xf32> -> tensor<100xf32>
  return %1, %2 : tensor<f32>, tensor<100xf32>
}
