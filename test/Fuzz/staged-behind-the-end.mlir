// Of the four blocks of a cluster two are behind the end, and stage nothing.
// RUN: metaop-run %s --compare --target=cuda --emulate --chip=sm_90a | FileCheck %s
// CHECK: results agree

module {
  func.func @main(%arg0: tensor<1x2xf32> {metaop.donatable}) -> tensor<1x2xf32> {
    %0 = metaop.kernel(%arg1 = %arg0 : tensor<1x2xf32>) -> tensor<1x2xf32> {
      %1 = metaop.fused(%arg2 = %arg1 : tensor<1x2xf32>) -> tensor<1x2xf32> schedule(#metaop.schedule<[cluster(0, 4), block(0)], place = [cluster]>) {
        %3 = metaop.tanh %arg2 : tensor<1x2xf32>
        %4 = metaop.reduce max %3 dims = [] : tensor<1x2xf32> -> tensor<1x2xf32>
        metaop.yield %4 : tensor<1x2xf32>
      }
      %2 = metaop.fused(%arg2 = %arg1 : tensor<1x2xf32>, %arg3 = %1 : tensor<1x2xf32>) -> tensor<1x2xf32> schedule(#metaop.schedule<[cluster(0, 4), block(0)], staged = [1: 0], shared = 2>) {
        %3 = metaop.sub %arg3, %arg2 : tensor<1x2xf32>
        %4 = metaop.tanh %3 : tensor<1x2xf32>
        metaop.yield %4 : tensor<1x2xf32>
      }
      metaop.yield %2 : tensor<1x2xf32>
    }
    return %0 : tensor<1x2xf32>
  }
}
