// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// A result beside its gradient.
#map = affine_map<(d0, d1) -> ()>
module {
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<256x256xf32>, %arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
    %0 = metaop.broadcast %arg0 dims = [] : tensor<f32> -> tensor<256x256xf32>
    %1 = metaop.mul %0, %arg1 : tensor<256x256xf32>
    %2 = metaop.broadcast %arg2 dims = [] : tensor<f32> -> tensor<256x256xf32>
    %3 = metaop.broadcast %arg3 dims = [] : tensor<f32> -> tensor<256x256xf32>
    %4 = metaop.mul %arg1, %3 : tensor<256x256xf32>
    %5 = metaop.erf %4 : tensor<256x256xf32>
    %6 = metaop.add %2, %5 : tensor<256x256xf32>
    %7 = metaop.mul %1, %6 : tensor<256x256xf32>
    %8 = metaop.constant dense<1.000000e+00> : tensor<f32>
    %9 = metaop.reindex %8 map #map fill 0.000000e+00 : f32 : tensor<f32> -> tensor<256x256xf32>
    %10 = metaop.mul %9, %arg4 : tensor<256x256xf32>
    %11 = metaop.mul %10, %1 : tensor<256x256xf32>
    %12 = metaop.mul %4, %4 : tensor<256x256xf32>
    %13 = metaop.neg %12 : tensor<256x256xf32>
    %14 = metaop.exp %13 : tensor<256x256xf32>
    %15 = metaop.constant dense<1.12837923> : tensor<256x256xf32>
    %16 = metaop.mul %14, %15 : tensor<256x256xf32>
    %17 = metaop.mul %11, %16 : tensor<256x256xf32>
    %18 = metaop.mul %17, %3 : tensor<256x256xf32>
    %19 = metaop.mul %10, %6 : tensor<256x256xf32>
    %20 = metaop.mul %19, %0 : tensor<256x256xf32>
    %21 = metaop.add %18, %20 : tensor<256x256xf32>
    return %7, %21 : tensor<256x256xf32>, tensor<256x256xf32>
  }
}
