// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// A scatter by a tensor of indices.
#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1)[s0] -> (s0, d1)>
module {
  func.func @main(%arg0: tensor<19x7xf32>, %arg1: tensor<19xi32>) -> tensor<13x7xf32> {
    %0 = metaop.constant dense<1.000000e+00> : tensor<f32>
    %1 = metaop.reindex %0 map #map fill 0.000000e+00 : f32 : tensor<f32> -> tensor<19x7xf32>
    %2 = metaop.mul %1, %arg0 : tensor<19x7xf32>
    %3 = metaop.cast %arg1 : tensor<19xi32> -> tensor<19xi64>
    %4 = metaop.constant dense<0> : tensor<19xi64>
    %5 = metaop.cmp lt %3, %4 : tensor<19xi64> -> tensor<19xi1>
    %6 = metaop.constant dense<13> : tensor<19xi64>
    %7 = metaop.add %3, %6 : tensor<19xi64>
    %8 = metaop.select %5, %7, %3 : tensor<19xi1>, tensor<19xi64>
    %9 = metaop.reindex %8 map #map1 fill -1152921504606846976 : i64 : tensor<19xi64> -> tensor<19x7xi64>
    %10 = metaop.scatter add %2[%9] map #map2 : (tensor<19x7xf32>, tensor<19x7xi64>) -> tensor<13x7xf32>
    return %10 : tensor<13x7xf32>
  }
}
