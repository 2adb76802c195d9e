// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// A product of matrices that do not fit the second cache: the second one is
// copied into panels of 32 columns, which a tile of 14 rows runs along; these
// rows, 4096 bytes apart, are copied for eight panels; blocks
// of the sum are added in memory.
func.func @main(%x: tensor<560x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<560x1024xf32> {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<560x1024xf32> -> tensor<560x1024x1024xf32>
  %1 = metaop.broadcast %y dims = [1, 2] : tensor<1024x1024xf32> -> tensor<560x1024x1024xf32>
  %2 = metaop.mul %0, %1 : tensor<560x1024x1024xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<560x1024x1024xf32> -> tensor<560x1024xf32>
  return %3 : tensor<560x1024xf32>
}
