// relu(x @ w), as Python records it.
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<4x8xf32> -> tensor<4x8x16xf32>
  %1 = metaop.broadcast %w dims = [1, 2] : tensor<8x16xf32> -> tensor<4x8x16xf32>
  %2 = metaop.mul %0, %1 : tensor<4x8x16xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<4x8x16xf32> -> tensor<4x16xf32>
  %4 = metaop.constant dense<0.0> : tensor<4x16xf32>
  %5 = metaop.max %3, %4 : tensor<4x16xf32>
  return %5 : tensor<4x16xf32>
}
