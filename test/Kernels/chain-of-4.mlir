// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// Arithmetic in one pass, with rests.
module {
  func.func @main(%arg0: tensor<13x37xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> tensor<13x37xf32> {
    %0 = metaop.broadcast %arg1 dims = [] : tensor<f32> -> tensor<13x37xf32>
    %1 = metaop.mul %arg0, %0 : tensor<13x37xf32>
    %2 = metaop.broadcast %arg2 dims = [] : tensor<f32> -> tensor<13x37xf32>
    %3 = metaop.add %1, %2 : tensor<13x37xf32>
    %4 = metaop.broadcast %arg3 dims = [] : tensor<f32> -> tensor<13x37xf32>
    %5 = metaop.max %3, %4 : tensor<13x37xf32>
    %6 = metaop.sub %5, %arg0 : tensor<13x37xf32>
    return %6 : tensor<13x37xf32>
  }
}
