// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// Three stages that share the loop over rows.
module {
  func.func @main(%arg0: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x1xf32>, tensor<256x1xf32>) {
    %0 = metaop.reduce max %arg0 dims = [1] keep_dims : tensor<256x256xf32> -> tensor<256x1xf32>
    %1 = metaop.stop_grad %0 : tensor<256x1xf32>
    %2 = metaop.broadcast %1 dims = [0, 1] : tensor<256x1xf32> -> tensor<256x256xf32>
    %3 = metaop.sub %arg0, %2 : tensor<256x256xf32>
    %4 = metaop.exp %3 : tensor<256x256xf32>
    %5 = metaop.reduce add %4 dims = [1] keep_dims : tensor<256x256xf32> -> tensor<256x1xf32>
    %6 = metaop.broadcast %5 dims = [0, 1] : tensor<256x1xf32> -> tensor<256x256xf32>
    %7 = metaop.div %4, %6 : tensor<256x256xf32>
    return %7, %0, %5 : tensor<256x256xf32>, tensor<256x1xf32>, tensor<256x1xf32>
  }
}
