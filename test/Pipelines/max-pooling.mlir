// RUN: metaop-opt %s --metaop-autodiff --metaop-pipeline="to=fused" | FileCheck %s

// No mask of all windows is in memory: the largest elements are found once where
// they are counted, and once where the gradient is summed.
// CHECK-LABEL: func @pool
// CHECK-NOT:     metaop.kernel{{.*}}xi1>
// CHECK:         metaop.kernel{{.*}} -> tensor<2x8x8xf32>
// CHECK-NOT:     metaop.kernel{{.*}}xi1>
// CHECK:         metaop.kernel{{.*}} -> tensor<2x16x16xf32>
// CHECK-NOT:     metaop.kernel{{.*}}xi1>
// CHECK:         return
func.func @pool(%x: tensor<2x16x16xf32>) -> tensor<2x8x8xf32> {
  %0 = metaop.reindex %x map affine_map<(n, i, j, k, l) -> (n, 2 * i + k - 1, 2 * j + l - 1)> fill 0xFF800000 : f32 : tensor<2x16x16xf32> -> tensor<2x8x8x3x3xf32>
  %1 = metaop.reduce max %0 dims = [3, 4] : tensor<2x8x8x3x3xf32> -> tensor<2x8x8xf32>
  return %1 : tensor<2x8x8xf32>
}
