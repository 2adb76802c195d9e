// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// A product of matrices: a tile of results in registers.
module {
  func.func @main(%arg0: tensor<64x48xf32>, %arg1: tensor<48x80xf32>) -> tensor<64x80xf32> {
    %0 = metaop.broadcast %arg0 dims = [0, 1] : tensor<64x48xf32> -> tensor<64x48x80xf32>
    %1 = metaop.broadcast %arg1 dims = [1, 2] : tensor<48x80xf32> -> tensor<64x48x80xf32>
    %2 = metaop.mul %0, %1 : tensor<64x48x80xf32>
    %3 = metaop.reduce add %2 dims = [1] : tensor<64x48x80xf32> -> tensor<64x80xf32>
    return %3 : tensor<64x80xf32>
  }
}
