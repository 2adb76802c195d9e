// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// A convolution: the image is copied with a halo of zeros, and read in place;
// weights are panels of 32 output channels; tiles of 14 pixels are transposed
// in registers before they are stored.
func.func @main(%x: tensor<2x64x28x28xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<2x64x28x28xf32> {
  %0 = metaop.reindex %x map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)> fill 0.000000e+00 : f32 : tensor<2x64x28x28xf32> -> tensor<2x64x28x28x64x3x3xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<64x64x3x3xf32> -> tensor<2x64x28x28x64x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<2x64x28x28x64x3x3xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<2x64x28x28x64x3x3xf32> -> tensor<2x64x28x28xf32>
  return %3 : tensor<2x64x28x28xf32>
}
