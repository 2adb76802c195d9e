// RUN: metaop-opt %s --metaop-pipeline="to=kernels processor=avx2" | FileCheck %s
// RUN: metaop-opt %s --metaop-pipeline="to=kernels processor=avx2 rules=paper" | FileCheck %s --check-prefix=PAPER

// The weights' panels may be kept, and so may the image with its border, should it
// be the same in several runs.
// CHECK:       func @main
// CHECK:         %[[IMAGE:.*]] = call @{{.*}}(%arg0) {metaop.may_keep, metaop.slots = {{.*}}} : (tensor<2x64x28x28xf32>) -> tensor<2x64x30x30xf32>
// CHECK:         %[[PANELS:.*]] = call @{{.*}}(%arg1) {metaop.may_keep, metaop.slots = {{.*}}} : (tensor<64x64x3x3xf32>)
// CHECK:         call @{{.*}}(%[[IMAGE]], %[[PANELS]]) {metaop.slots
// PAPER-NOT:   metaop.may_keep
func.func @main(%x: tensor<2x64x28x28xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<2x64x28x28xf32> {
  %0 = metaop.reindex %x map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)> fill 0.000000e+00 : f32 : tensor<2x64x28x28xf32> -> tensor<2x64x28x28x64x3x3xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<64x64x3x3xf32> -> tensor<2x64x28x28x64x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<2x64x28x28x64x3x3xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<2x64x28x28x64x3x3xf32> -> tensor<2x64x28x28xf32>
  return %3 : tensor<2x64x28x28xf32>
}
