// A sum is local to an iteration of the loop that its stage and the last one share,
// and starts anew in each.
// RUN: metaop-run %s --compare | FileCheck %s
// CHECK: results agree

#map = affine_map<(d0, d1, d2) -> (-d0 + 8, d1, d2)>
module {
  func.func @main(%arg0: tensor<9x4x4xf32> {metaop.donatable}) -> tensor<9x4xf32> {
    %0 = metaop.kernel(%arg1 = %arg0 : tensor<9x4x4xf32>) -> tensor<9x4xf32> {
      %1 = metaop.fused(%arg2 = %arg1 : tensor<9x4x4xf32>) -> tensor<9x4xf32> schedule(#metaop.schedule<[step(2), step(1), step(0)]>) {
        %5 = metaop.tanh %arg2 : tensor<9x4x4xf32>
        %6 = metaop.reduce add %5 dims = [1] : tensor<9x4x4xf32> -> tensor<9x4xf32>
        metaop.yield %6 : tensor<9x4xf32>
      }
      %2 = metaop.fused(%arg2 = %arg1 : tensor<9x4x4xf32>, %arg3 = %1 : tensor<9x4xf32>) -> tensor<9x4x4xf32> schedule(#metaop.schedule<[step(2), step(1), step(0)]>) {
        %5 = metaop.broadcast %arg3 dims = [0, 2] : tensor<9x4xf32> -> tensor<9x4x4xf32>
        %6 = metaop.sub %5, %arg2 : tensor<9x4x4xf32>
        %7 = metaop.tanh %6 : tensor<9x4x4xf32>
        %8 = metaop.reduce add %7 dims = [] : tensor<9x4x4xf32> -> tensor<9x4x4xf32>
        metaop.yield %8 : tensor<9x4x4xf32>
      }
      %3 = metaop.fused(%arg2 = %arg1 : tensor<9x4x4xf32>, %arg3 = %2 : tensor<9x4x4xf32>, %arg4 = %1 : tensor<9x4xf32>) -> tensor<9x4xf32> schedule(#metaop.schedule<[parallel(2), step(1), step(0)]>) {
        %5 = metaop.broadcast %arg4 dims = [0, 2] : tensor<9x4xf32> -> tensor<9x4x4xf32>
        %6 = metaop.sub %arg3, %arg2 : tensor<9x4x4xf32>
        %7 = metaop.sub %5, %6 : tensor<9x4x4xf32>
        %8 = metaop.tanh %7 : tensor<9x4x4xf32>
        %9 = metaop.reduce add %8 dims = [1] : tensor<9x4x4xf32> -> tensor<9x4xf32>
        metaop.yield %9 : tensor<9x4xf32>
      }
      %4 = metaop.fused(%arg2 = %2 : tensor<9x4x4xf32>, %arg3 = %3 : tensor<9x4xf32>) -> tensor<9x4xf32> schedule(#metaop.schedule<[step(2), step(1), step(0)], shared = 1>) {
        %5 = metaop.reindex %arg2 map #map fill 0.000000e+00 : f32 : tensor<9x4x4xf32> -> tensor<9x4x4xf32>
        %6 = metaop.broadcast %arg3 dims = [0, 2] : tensor<9x4xf32> -> tensor<9x4x4xf32>
        %7 = metaop.sub %6, %5 : tensor<9x4x4xf32>
        %8 = metaop.tanh %7 : tensor<9x4x4xf32>
        %9 = metaop.reduce add %8 dims = [1] : tensor<9x4x4xf32> -> tensor<9x4xf32>
        metaop.yield %9 : tensor<9x4xf32>
      }
      metaop.yield %4 : tensor<9x4xf32>
    }
    return %0 : tensor<9x4xf32>
  }
}
