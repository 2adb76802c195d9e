// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// Reads behind conditions.
module {
  func.func @main(%arg0: tensor<3x5x7x11xf32>) -> tensor<3x5x9x13xf32> {
    %0 = metaop.pad %arg0 low = [0, 0, 1, 1] high = [0, 0, 1, 1] fill 0.000000e+00 : f32 : tensor<3x5x7x11xf32> -> tensor<3x5x9x13xf32>
    return %0 : tensor<3x5x9x13xf32>
  }
}
