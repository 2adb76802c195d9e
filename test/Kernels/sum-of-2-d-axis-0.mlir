// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// A reduction of columns: lanes along what is kept.
module {
  func.func @main(%arg0: tensor<256x512xf32>) -> tensor<512xf32> {
    %0 = metaop.reduce add %arg0 dims = [0] : tensor<256x512xf32> -> tensor<512xf32>
    return %0 : tensor<512xf32>
  }
}
