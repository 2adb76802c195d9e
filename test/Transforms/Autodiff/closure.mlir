// Every derivative is made of meta-operators, to the third order too, and
// simplification before or after changes nothing about that.
// RUN: metaop-opt %s --metaop-autodiff="order=3" --metaop-verify-closure | FileCheck %s
// RUN: metaop-opt %s --canonicalize --metaop-autodiff="order=2" --canonicalize --metaop-verify-closure | FileCheck %s

// CHECK-LABEL: @elementwise
func.func @elementwise(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = metaop.neg %x : tensor<?x4xf32>
  %1 = metaop.abs %0 : tensor<?x4xf32>
  %2 = metaop.exp %1 : tensor<?x4xf32>
  %3 = metaop.log %2 : tensor<?x4xf32>
  %4 = metaop.sqrt %3 : tensor<?x4xf32>
  %5 = metaop.sin %4 : tensor<?x4xf32>
  %6 = metaop.cos %5 : tensor<?x4xf32>
  %7 = metaop.tanh %6 : tensor<?x4xf32>
  %8 = metaop.erf %7 : tensor<?x4xf32>
  %9 = metaop.stop_fuse %8 : tensor<?x4xf32>
  %10 = metaop.add %9, %y : tensor<?x4xf32>
  %11 = metaop.sub %10, %y : tensor<?x4xf32>
  %12 = metaop.mul %11, %y : tensor<?x4xf32>
  %13 = metaop.div %12, %y : tensor<?x4xf32>
  %14 = metaop.mod %13, %y : tensor<?x4xf32>
  %15 = metaop.max %14, %y : tensor<?x4xf32>
  %16 = metaop.min %15, %x : tensor<?x4xf32>
  %17 = metaop.cmp lt %16, %y : tensor<?x4xf32> -> tensor<?x4xi1>
  %18 = metaop.select %17, %16, %y : tensor<?x4xi1>, tensor<?x4xf32>
  %19 = metaop.cast %18 : tensor<?x4xf32> -> tensor<?x4xf64>
  %20 = metaop.cast %19 : tensor<?x4xf64> -> tensor<?x4xf32>
  return %20 : tensor<?x4xf32>
}

// CHECK-LABEL: @power
func.func @power(%x: tensor<4xbf16>, %y: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = metaop.pow %x, %y : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: @reindexes
func.func @reindexes(%x: tensor<4x8xf32>, %i: tensor<i64>) -> tensor<?xf32> {
  %c40 = arith.constant 40 : index
  %0 = metaop.transpose %x perm = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = metaop.slice %0[%i, %i] strides = [1, 2] : tensor<8x4xf32> -> tensor<5x2xf32>
  %2 = metaop.pad %1 low = [1, 1] high = [0, 1] fill 3.0 : f32 : tensor<5x2xf32> -> tensor<6x4xf32>
  %3 = metaop.broadcast %2 dims = [0, 2] : tensor<6x4xf32> -> tensor<6x7x4xf32>
  %4 = metaop.reindex %3 extents(%c40) map affine_map<(d0) -> (d0 mod 6, 3, d0 floordiv 10)>
      fill 1.0 : f32 : tensor<6x7x4xf32> -> tensor<?xf32>
  %5 = metaop.mul %4, %4 : tensor<?xf32>
  return %5 : tensor<?xf32>
}

// CHECK-LABEL: @reductions
func.func @reductions(%x: tensor<?x6x70xf32>) -> tensor<f32> {
  %0 = metaop.mul %x, %x : tensor<?x6x70xf32>
  %1 = metaop.reduce mul %0 dims = [2] keep_dims : tensor<?x6x70xf32> -> tensor<?x6x1xf32>
  %2 = metaop.reindex_reduce mul %1 map affine_map<(d0, d1, d2) -> (d1 floordiv 2)>
      : tensor<?x6x1xf32> -> tensor<3xf32>
  %3 = metaop.reduce max %2 dims = [0] : tensor<3xf32> -> tensor<f32>
  %4 = metaop.reduce add %0 dims = [0, 1] : tensor<?x6x70xf32> -> tensor<70xf32>
  %5 = metaop.reindex_reduce min %4 map affine_map<(d0) -> ()> : tensor<70xf32> -> tensor<f32>
  %6 = metaop.mul %3, %5 : tensor<f32>
  return %6 : tensor<f32>
}
