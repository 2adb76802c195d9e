// RUN: metaop-opt %s -metaop-mark-varying -metaop-schedule -split-input-file | FileCheck %s

// Four lanes for three elements,
// CHECK-LABEL: func @fixed
// CHECK: <[step(0, 4)], tile = [0: 4], lanes = 0: 4>
// CHECK-NOT: metaop.varying
func.func @fixed(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = metaop.kernel(%k = %x : tensor<3xf32>) -> tensor<3xf32> {
    %1 = metaop.fused(%a = %k : tensor<3xf32>) -> tensor<3xf32> {
      %2 = metaop.exp %a : tensor<3xf32>
      metaop.yield %2 : tensor<3xf32>
    }
    metaop.yield %1 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// -----

// and as many as there are where the next program has four. Threads share a loop that
// may become long.
// CHECK-LABEL: func @varying
// CHECK: <[parallel(0, 4096), step(0, 16)], tile = [0: 16], lanes = 0: 16>
// CHECK-SAME: metaop.varying = array<i64: 0>
func.func @varying(%x: tensor<3xf32> {metaop.varying = array<i64: 0>}) -> tensor<3xf32> {
  %0 = metaop.kernel(%k = %x : tensor<3xf32>) -> tensor<3xf32> {
    %1 = metaop.fused(%a = %k : tensor<3xf32>) -> tensor<3xf32> {
      %2 = metaop.exp %a : tensor<3xf32>
      metaop.yield %2 : tensor<3xf32>
    }
    metaop.yield %1 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// -----

// Marks go through transposes, and through views; a dimension of the same
// extent has none.
// CHECK-LABEL: func @square
// CHECK: metaop.fused
// CHECK-SAME: metaop.varying = array<i64: 1>
// CHECK: metaop.reshape
// CHECK: metaop.fused
// CHECK-SAME: metaop.varying = array<i64: 2>
func.func @square(%x: tensor<8x8xf32> {metaop.varying = array<i64: 0>}) -> tensor<2x4x8xf32> {
  %0 = metaop.kernel(%k = %x : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %1 = metaop.fused(%a = %k : tensor<8x8xf32>) -> tensor<8x8xf32> {
      %2 = metaop.reindex %a map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32 : tensor<8x8xf32> -> tensor<8x8xf32>
      metaop.yield %2 : tensor<8x8xf32>
    }
    metaop.yield %1 : tensor<8x8xf32>
  }
  %3 = metaop.reshape %0 : tensor<8x8xf32> -> tensor<2x4x8xf32>
  %4 = metaop.kernel(%k = %3 : tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    %5 = metaop.fused(%a = %k : tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
      %6 = metaop.exp %a : tensor<2x4x8xf32>
      metaop.yield %6 : tensor<2x4x8xf32>
    }
    metaop.yield %5 : tensor<2x4x8xf32>
  }
  return %4 : tensor<2x4x8xf32>
}

// -----

// Nothing is read along an iota's dimension: its extent tells. A result has
// the marks of the dimensions that it keeps.
// CHECK-LABEL: func @sum
// CHECK: metaop.fused
// CHECK-SAME: metaop.varying = array<i64: 0, 1>
// CHECK: metaop.fused
// CHECK-SAME: metaop.varying = array<i64: 0>
func.func @sum(%x: tensor<5x7xf32> {metaop.varying = array<i64: 0>}) -> tensor<5xf32> {
  %0 = metaop.kernel(%k = %x : tensor<5x7xf32>) -> tensor<5xf32> {
    %1 = metaop.fused(%a = %k : tensor<5x7xf32>) -> tensor<5xf32> {
      %2 = metaop.iota dim = 1 : tensor<5x5x7xf32>
      %3 = metaop.reindex %a map affine_map<(d0, d1, d2) -> (d0, d2)> fill 0.0 : f32 : tensor<5x7xf32> -> tensor<5x5x7xf32>
      %4 = metaop.mul %2, %3 : tensor<5x5x7xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0)> : tensor<5x5x7xf32> -> tensor<5xf32>
      metaop.yield %5 : tensor<5xf32>
    }
    metaop.yield %1 : tensor<5xf32>
  }
  %6 = metaop.kernel(%k = %0 : tensor<5xf32>) -> tensor<5xf32> {
    %7 = metaop.fused(%a = %k : tensor<5xf32>) -> tensor<5xf32> {
      %8 = metaop.exp %a : tensor<5xf32>
      metaop.yield %8 : tensor<5xf32>
    }
    metaop.yield %7 : tensor<5xf32>
  }
  return %6 : tensor<5xf32>
}
