// RUN: metaop-opt %s -metaop-pipeline="to=loops processor=avx512" | diff %s.loops -

// Reductions of rows and of columns of the same tensors.
#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<256x256xf32>, %arg1: tensor<256xf32>, %arg2: tensor<f32>, %arg3: tensor<256x1xf32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<256x256xf32>, %arg7: tensor<256x1xf32>, %arg8: tensor<f32>) -> (tensor<256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x1xf32>, tensor<256x1xf32>) {
    %0 = metaop.constant dense<1.000000e+00> : tensor<f32>
    %1 = metaop.reindex %0 map #map fill 0.000000e+00 : f32 : tensor<f32> -> tensor<256x256xf32>
    %2 = metaop.mul %1, %arg0 : tensor<256x256xf32>
    %3 = metaop.broadcast %arg1 dims = [1] : tensor<256xf32> -> tensor<256x256xf32>
    %4 = metaop.mul %2, %3 : tensor<256x256xf32>
    %5 = metaop.broadcast %arg2 dims = [] : tensor<f32> -> tensor<256x1xf32>
    %6 = metaop.broadcast %arg4 dims = [] : tensor<f32> -> tensor<256x1xf32>
    %7 = metaop.div %arg3, %6 : tensor<256x1xf32>
    %8 = metaop.broadcast %arg5 dims = [] : tensor<f32> -> tensor<256x1xf32>
    %9 = metaop.add %7, %8 : tensor<256x1xf32>
    %10 = metaop.sqrt %9 : tensor<256x1xf32>
    %11 = metaop.div %5, %10 : tensor<256x1xf32>
    %12 = metaop.broadcast %11 dims = [0, 1] : tensor<256x1xf32> -> tensor<256x256xf32>
    %13 = metaop.mul %4, %12 : tensor<256x256xf32>
    %14 = metaop.broadcast %arg8 dims = [] : tensor<f32> -> tensor<256x1xf32>
    %15 = metaop.div %arg7, %14 : tensor<256x1xf32>
    %16 = metaop.broadcast %15 dims = [0, 1] : tensor<256x1xf32> -> tensor<256x256xf32>
    %17 = metaop.sub %arg6, %16 : tensor<256x256xf32>
    %18 = metaop.mul %4, %17 : tensor<256x256xf32>
    %19 = metaop.reindex_reduce add %18 map #map1 : tensor<256x256xf32> -> tensor<256x1xf32>
    %20 = metaop.div %19, %10 : tensor<256x1xf32>
    %21 = metaop.mul %20, %11 : tensor<256x1xf32>
    %22 = metaop.neg %21 : tensor<256x1xf32>
    %23 = metaop.constant dense<5.000000e-01> : tensor<256x1xf32>
    %24 = metaop.mul %22, %23 : tensor<256x1xf32>
    %25 = metaop.div %24, %10 : tensor<256x1xf32>
    %26 = metaop.div %25, %6 : tensor<256x1xf32>
    %27 = metaop.reindex %26 map #map1 fill 0.000000e+00 : f32 : tensor<256x1xf32> -> tensor<256x256xf32>
    %28 = metaop.mul %27, %17 : tensor<256x256xf32>
    %29 = metaop.add %13, %28 : tensor<256x256xf32>
    %30 = metaop.mul %27, %17 : tensor<256x256xf32>
    %31 = metaop.add %29, %30 : tensor<256x256xf32>
    %32 = metaop.neg %31 : tensor<256x256xf32>
    %33 = metaop.reindex_reduce add %32 map #map1 : tensor<256x256xf32> -> tensor<256x1xf32>
    %34 = metaop.div %33, %14 : tensor<256x1xf32>
    %35 = metaop.reindex %34 map #map1 fill 0.000000e+00 : f32 : tensor<256x1xf32> -> tensor<256x256xf32>
    %36 = metaop.add %31, %35 : tensor<256x256xf32>
    %37 = metaop.mul %17, %12 : tensor<256x256xf32>
    %38 = metaop.mul %2, %37 : tensor<256x256xf32>
    %39 = metaop.reindex_reduce add %38 map #map2 : tensor<256x256xf32> -> tensor<256xf32>
    %40 = metaop.reindex_reduce add %2 map #map2 : tensor<256x256xf32> -> tensor<256xf32>
    return %36, %39, %40, %19, %33 : tensor<256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x1xf32>, tensor<256x1xf32>
  }
}
