// RUN: metaop-opt %s -metaop-schedule | FileCheck %s
// RUN: metaop-opt %s -metaop-schedule -metaop-schedule | FileCheck %s

// The mean of an image in NCHW over N, H and W: the channels are kept and stand
// outside; H and W are one loop, and N lies around it (the loops are C=1, N=0,
// HW=2 here).
// CHECK-LABEL: func @mean_of_channels
// CHECK: schedule(#metaop.schedule<[parallel(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>)
func.func @mean_of_channels(%x: tensor<4x16x8x8xf32>) -> tensor<16xf32> {
  %0 = metaop.fused(%a = %x : tensor<4x16x8x8xf32>) -> tensor<16xf32> {
    %1 = metaop.reduce add %a dims = [0, 2, 3] : tensor<4x16x8x8xf32> -> tensor<16xf32>
    metaop.yield %1 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
}

// An element-wise stage on the same image is one loop.
// CHECK-LABEL: func @elementwise
// CHECK: schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16>)
func.func @elementwise(%x: tensor<4x16x8x8xf32>) -> tensor<4x16x8x8xf32> {
  %0 = metaop.fused(%a = %x : tensor<4x16x8x8xf32>) -> tensor<4x16x8x8xf32> {
    %1 = metaop.exp %a : tensor<4x16x8x8xf32>
    metaop.yield %1 : tensor<4x16x8x8xf32>
  }
  return %0 : tensor<4x16x8x8xf32>
}

// Instance norm as in Hu et al. (2020), Listing 6. Both means: C, then N, H, W.
// The normalisation: N, C, H, W. H and W are contiguous in all accesses.
// CHECK-LABEL: func @means(
// CHECK: <[parallel(1), step(0), step(2, 64)], tile = [2: 64], lanes = 2: 16, pairwise = 32>
func.func @means(%x: tensor<8x16x32x32xf32>)
    -> (tensor<1x16x1x1xf32>, tensor<1x16x1x1xf32>) {
  %mean, %square = metaop.fused(%a = %x : tensor<8x16x32x32xf32>)
      -> (tensor<1x16x1x1xf32>, tensor<1x16x1x1xf32>) {
    %0 = metaop.mul %a, %a : tensor<8x16x32x32xf32>
    %1 = metaop.reduce add %a dims = [0, 2, 3] keep_dims : tensor<8x16x32x32xf32> -> tensor<1x16x1x1xf32>
    %2 = metaop.reduce add %0 dims = [0, 2, 3] keep_dims : tensor<8x16x32x32xf32> -> tensor<1x16x1x1xf32>
    metaop.yield %1, %2 : tensor<1x16x1x1xf32>, tensor<1x16x1x1xf32>
  }
  return %mean, %square : tensor<1x16x1x1xf32>, tensor<1x16x1x1xf32>
}

// CHECK-LABEL: func @normalise(
// CHECK: <[parallel(0), parallel(1), step(2, 16)], tile = [2: 16], lanes = 2: 16>
func.func @normalise(%x: tensor<8x16x32x32xf32>, %mean: tensor<1x16x1x1xf32>)
    -> tensor<8x16x32x32xf32> {
  %0 = metaop.fused(%a = %x : tensor<8x16x32x32xf32>, %m = %mean : tensor<1x16x1x1xf32>)
      -> tensor<8x16x32x32xf32> {
    %1 = metaop.broadcast %m dims = [0, 1, 2, 3] : tensor<1x16x1x1xf32> -> tensor<8x16x32x32xf32>
    %2 = metaop.sub %a, %1 : tensor<8x16x32x32xf32>
    metaop.yield %2 : tensor<8x16x32x32xf32>
  }
  return %0 : tensor<8x16x32x32xf32>
}

// Unit dimensions are no loops.
// CHECK-LABEL: func @unit
// CHECK: schedule(#metaop.schedule<[]>)
func.func @unit(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %0 = metaop.fused(%a = %x : tensor<1x1xf32>) -> tensor<1x1xf32> {
    %1 = metaop.exp %a : tensor<1x1xf32>
    metaop.yield %1 : tensor<1x1xf32>
  }
  return %0 : tensor<1x1xf32>
}

// The longer step stands outside, whichever dimension it is: here the tensor is
// read and written in the order of its second dimension.
// CHECK-LABEL: func @column_sums
// CHECK: <[step(1, 128), step(0)], tile = [1: 128], lanes = 1: 16>
func.func @column_sums(%x: tensor<64x128xf32>) -> tensor<128xf32> {
  %0 = metaop.fused(%a = %x : tensor<64x128xf32>) -> tensor<128xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<64x128xf32> -> tensor<128xf32>
    metaop.yield %1 : tensor<128xf32>
  }
  return %0 : tensor<128xf32>
}

// A schedule that is there stays.
// CHECK-LABEL: func @kept
// CHECK: schedule(#metaop.schedule<[step(1), step(0)]>)
func.func @kept(%x: tensor<64x128xf32>) -> tensor<128xf32> {
  %0 = metaop.fused(%a = %x : tensor<64x128xf32>) -> tensor<128xf32>
      schedule(#metaop.schedule<[step(1), step(0)]>) {
    %1 = metaop.reduce add %a dims = [0] : tensor<64x128xf32> -> tensor<128xf32>
    metaop.yield %1 : tensor<128xf32>
  }
  return %0 : tensor<128xf32>
}
