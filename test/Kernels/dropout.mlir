// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// Random numbers.
module {
  func.func @main(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<f32>, %arg3: tensor<256x256xf32>, %arg4: tensor<f32>, %arg5: tensor<f32>) -> tensor<256x256xf32> {
    %0 = metaop.random %arg0, %arg1 : tensor<256x256xf32>
    %1 = metaop.broadcast %arg2 dims = [] : tensor<f32> -> tensor<256x256xf32>
    %2 = metaop.cmp lt %0, %1 : tensor<256x256xf32> -> tensor<256x256xi1>
    %3 = metaop.broadcast %arg4 dims = [] : tensor<f32> -> tensor<256x256xf32>
    %4 = metaop.div %arg3, %3 : tensor<256x256xf32>
    %5 = metaop.broadcast %arg5 dims = [] : tensor<f32> -> tensor<256x256xf32>
    %6 = metaop.select %2, %4, %5 : tensor<256x256xi1>, tensor<256x256xf32>
    return %6 : tensor<256x256xf32>
  }
}
