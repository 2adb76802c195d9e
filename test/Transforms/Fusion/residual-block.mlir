// RUN: metaop-opt %s -metaop-simplify -metaop-clone-producers -metaop-fuse="report=true" -o /dev/null 2>&1 | FileCheck %s
// RUN: metaop-opt %s -metaop-simplify -metaop-clone-producers="rules=paper" -metaop-fuse="rules=paper report=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PAPER

// Convolution, normalisation and ReLU; convolution, normalisation, addition and
// ReLU. Four kernels, if sqrt(variance + epsilon) needs none of its own.
// CHECK: remark: fusion: {{[0-9]+}} operators in 4 groups; cost
// CHECK: remark: fusion: group 0: metaop.reindex, metaop.reindex, metaop.mul, metaop.reindex_reduce{{$}}
// CHECK: remark: fusion: group 1: {{.*}}metaop.sqrt{{.*}}metaop.div, metaop.max{{$}}
// CHECK: remark: fusion: group 2: metaop.reindex, metaop.reindex, metaop.mul, metaop.reindex_reduce{{$}}
// CHECK: remark: fusion: group 3: {{.*}}metaop.sqrt{{.*}}metaop.div, metaop.add, {{.*}}metaop.max{{$}}

// PAPER: remark: fusion: {{[0-9]+}} operators in 6 groups; cost

#image = affine_map<(n, o, h, w, i, y, z) -> (n, i, h + y - 1, w + z - 1)>

func.func @block(%x: tensor<2x16x8x8xf32>, %w1: tensor<16x16x3x3xf32>, %w2: tensor<16x16x3x3xf32>,
                 %mean1: tensor<16xf32>, %var1: tensor<16xf32>, %mean2: tensor<16xf32>, %var2: tensor<16xf32>) -> tensor<2x16x8x8xf32> {
  %epsilon = metaop.constant dense<1.0e-5> : tensor<16xf32>
  %zero = metaop.constant dense<0.0> : tensor<2x16x8x8xf32>
  %0 = metaop.reindex %x map #image fill 0.0 : f32 : tensor<2x16x8x8xf32> -> tensor<2x16x8x8x16x3x3xf32>
  %1 = metaop.broadcast %w1 dims = [1, 4, 5, 6] : tensor<16x16x3x3xf32> -> tensor<2x16x8x8x16x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<2x16x8x8x16x3x3xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<2x16x8x8x16x3x3xf32> -> tensor<2x16x8x8xf32>
  %4 = metaop.add %var1, %epsilon : tensor<16xf32>
  %5 = metaop.sqrt %4 : tensor<16xf32>
  %6 = metaop.broadcast %5 dims = [1] : tensor<16xf32> -> tensor<2x16x8x8xf32>
  %7 = metaop.broadcast %mean1 dims = [1] : tensor<16xf32> -> tensor<2x16x8x8xf32>
  %8 = metaop.sub %3, %7 : tensor<2x16x8x8xf32>
  %9 = metaop.div %8, %6 : tensor<2x16x8x8xf32>
  %10 = metaop.max %9, %zero : tensor<2x16x8x8xf32>
  %11 = metaop.reindex %10 map #image fill 0.0 : f32 : tensor<2x16x8x8xf32> -> tensor<2x16x8x8x16x3x3xf32>
  %12 = metaop.broadcast %w2 dims = [1, 4, 5, 6] : tensor<16x16x3x3xf32> -> tensor<2x16x8x8x16x3x3xf32>
  %13 = metaop.mul %11, %12 : tensor<2x16x8x8x16x3x3xf32>
  %14 = metaop.reduce add %13 dims = [4, 5, 6] : tensor<2x16x8x8x16x3x3xf32> -> tensor<2x16x8x8xf32>
  %15 = metaop.add %var2, %epsilon : tensor<16xf32>
  %16 = metaop.sqrt %15 : tensor<16xf32>
  %17 = metaop.broadcast %16 dims = [1] : tensor<16xf32> -> tensor<2x16x8x8xf32>
  %18 = metaop.broadcast %mean2 dims = [1] : tensor<16xf32> -> tensor<2x16x8x8xf32>
  %19 = metaop.sub %14, %18 : tensor<2x16x8x8xf32>
  %20 = metaop.div %19, %17 : tensor<2x16x8x8xf32>
  %21 = metaop.add %20, %x : tensor<2x16x8x8xf32>
  %22 = metaop.max %21, %zero : tensor<2x16x8x8xf32>
  return %22 : tensor<2x16x8x8xf32>
}
