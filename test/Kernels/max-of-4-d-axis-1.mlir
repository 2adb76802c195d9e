// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// A reduction between kept dimensions.
module {
  func.func @main(%arg0: tensor<8x16x32x32xf32>) -> tensor<8x32x32xf32> {
    %0 = metaop.reduce max %arg0 dims = [1] : tensor<8x16x32x32xf32> -> tensor<8x32x32xf32>
    return %0 : tensor<8x32x32xf32>
  }
}
