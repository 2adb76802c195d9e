// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// A reduction split among threads.
module {
  func.func @main(%arg0: tensor<16384x4096xf32>) -> tensor<f32> {
    %0 = metaop.reduce add %arg0 dims = [0, 1] : tensor<16384x4096xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}
