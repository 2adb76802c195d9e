// RUN: metaop-opt %s --convert-metaop-to-vector | FileCheck %s

// Lanes are combined as a tree of shuffles where MLIR has no reduction.

// CHECK-LABEL: @logarithms(
// CHECK: vector.shuffle %[[SUM:.*]], %[[SUM]] [2, 3, 0, 1] : vector<4xf32>, vector<4xf32>
// CHECK: math.exp
// CHECK: math.log1p
// CHECK: vector.shuffle %[[HALF:.*]], %[[HALF]] [1, 0, 3, 2] : vector<4xf32>, vector<4xf32>
// CHECK: math.exp
// CHECK: math.log1p
// CHECK: vector.extract %{{.*}}[0] : f32 from vector<4xf32>
// CHECK-NOT: vector.reduction
func.func private @logarithms(%x: tensor<3x8xf32>) -> tensor<3xf32> {
  %k = metaop.kernel(%kx = %x : tensor<3x8xf32>) -> tensor<3xf32> {
    %r = metaop.fused(%bx = %kx : tensor<3x8xf32>) -> tensor<3xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %y = metaop.reduce logaddexp %bx dims = [1] : tensor<3x8xf32> -> tensor<3xf32>
      metaop.yield %y : tensor<3xf32>
    }
    metaop.yield %r : tensor<3xf32>
  }
  return %k : tensor<3xf32>
}
