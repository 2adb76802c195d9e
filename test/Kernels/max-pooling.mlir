// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// Overlapping windows.
#map = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4 - 1, d3 * 2 + d5 - 1)>
module {
  func.func @main(%arg0: tensor<3x5x7x11xf32>) -> tensor<3x5x4x6xf32> {
    %0 = metaop.reindex %arg0 map #map fill 0xFF800000 : f32 : tensor<3x5x7x11xf32> -> tensor<3x5x4x6x3x3xf32>
    %1 = metaop.reduce max %0 dims = [4, 5] : tensor<3x5x4x6x3x3xf32> -> tensor<3x5x4x6xf32>
    return %1 : tensor<3x5x4x6xf32>
  }
}
