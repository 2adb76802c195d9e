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

// Where batches and lengths vary, rows of both become both again.
// CHECK-LABEL: func @rows_of_batches
// CHECK: metaop.reshape
// CHECK: metaop.reshape
// CHECK: metaop.fused
// CHECK-SAME: metaop.varying = array<i64: 0, 1>
func.func @rows_of_batches(%x: tensor<4x26x12xf32> {metaop.varying = array<i64: 0, 1>}) -> tensor<4x26x3x4xf32> {
  %0 = metaop.reshape %x : tensor<4x26x12xf32> -> tensor<104x12xf32>
  %1 = metaop.reshape %0 : tensor<104x12xf32> -> tensor<4x26x3x4xf32>
  %2 = metaop.kernel(%k = %1 : tensor<4x26x3x4xf32>) -> tensor<4x26x3x4xf32> {
    %3 = metaop.fused(%a = %k : tensor<4x26x3x4xf32>) -> tensor<4x26x3x4xf32> {
      %4 = metaop.exp %a : tensor<4x26x3x4xf32>
      metaop.yield %4 : tensor<4x26x3x4xf32>
    }
    metaop.yield %3 : tensor<4x26x3x4xf32>
  }
  return %2 : tensor<4x26x3x4xf32>
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

// -----

// A scan's body has rows of what it goes over, and what it hands on; branches
// and loops have what they capture.
// CHECK-LABEL: func @scan
// CHECK: metaop.scan
// CHECK: metaop.fused
// CHECK-SAME: metaop.varying = array<i64: 0>
// CHECK: metaop.fused
// CHECK-SAME: metaop.varying = array<i64: 1>
func.func @scan(%x: tensor<9x5x8xf32> {metaop.varying = array<i64: 1>}, %c: tensor<5x8xf32>) -> tensor<9x5x8xf32> {
  %0:2 = metaop.scan 9 carries(%i = %c : tensor<5x8xf32>)
      rows(%row = %x : tensor<9x5x8xf32>) -> (tensor<5x8xf32>, tensor<9x5x8xf32>) {
    %1 = metaop.kernel(%k = %row : tensor<5x8xf32>, %l = %i : tensor<5x8xf32>) -> tensor<5x8xf32> {
      %2 = metaop.fused(%a = %k : tensor<5x8xf32>, %b = %l : tensor<5x8xf32>) -> tensor<5x8xf32> {
        %3 = metaop.add %a, %b : tensor<5x8xf32>
        metaop.yield %3 : tensor<5x8xf32>
      }
      metaop.yield %2 : tensor<5x8xf32>
    }
    metaop.scan_yield %1, %1 : tensor<5x8xf32>, tensor<5x8xf32>
  }
  %4 = metaop.kernel(%k = %0#1 : tensor<9x5x8xf32>) -> tensor<9x5x8xf32> {
    %5 = metaop.fused(%a = %k : tensor<9x5x8xf32>) -> tensor<9x5x8xf32> {
      %6 = metaop.exp %a : tensor<9x5x8xf32>
      metaop.yield %6 : tensor<9x5x8xf32>
    }
    metaop.yield %5 : tensor<9x5x8xf32>
  }
  return %4 : tensor<9x5x8xf32>
}

// -----

// Values that are handed on from trip to trip are marked before the first; those
// of a branch also where only one side gives them.
// CHECK-LABEL: func @loop
// CHECK: scf.while
// CHECK: metaop.fused
// CHECK-SAME: metaop.varying = array<i64: 0>
// CHECK: scf.if
// CHECK: metaop.fused
// CHECK-SAME: metaop.varying = array<i64: 0>
func.func @loop(%x: tensor<5xf32> {metaop.varying = array<i64: 0>}, %y: tensor<5xf32>, %p: i1) -> tensor<5xf32> {
  %0:2 = scf.while (%i = %y, %j = %x) : (tensor<5xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
    scf.condition(%p) %i, %j : tensor<5xf32>, tensor<5xf32>
  } do {
  ^bb0(%i: tensor<5xf32>, %j: tensor<5xf32>):
    %1 = metaop.kernel(%k = %i : tensor<5xf32>) -> tensor<5xf32> {
      %2 = metaop.fused(%a = %k : tensor<5xf32>) -> tensor<5xf32> {
        %3 = metaop.exp %a : tensor<5xf32>
        metaop.yield %3 : tensor<5xf32>
      }
      metaop.yield %2 : tensor<5xf32>
    }
    scf.yield %j, %1 : tensor<5xf32>, tensor<5xf32>
  }
  %4 = scf.if %p -> tensor<5xf32> {
    scf.yield %0#0 : tensor<5xf32>
  } else {
    scf.yield %y : tensor<5xf32>
  }
  %5 = metaop.kernel(%k = %4 : tensor<5xf32>) -> tensor<5xf32> {
    %6 = metaop.fused(%a = %k : tensor<5xf32>) -> tensor<5xf32> {
      %7 = metaop.exp %a : tensor<5xf32>
      metaop.yield %7 : tensor<5xf32>
    }
    metaop.yield %6 : tensor<5xf32>
  }
  return %5 : tensor<5xf32>
}

// -----

// A constant that is the extent follows it.
// CHECK-LABEL: func @constants
// CHECK: metaop.constant {metaop.varying = array<i64>} dense<7>
// CHECK: metaop.constant {metaop.varying = array<i64>} dense<7.0
// CHECK: metaop.constant dense<8>
func.func @constants(%x: tensor<7xi64> {metaop.varying = array<i64: 0>}) -> (tensor<7xi64>, tensor<7xf32>) {
  %0:2 = metaop.kernel(%k = %x : tensor<7xi64>) -> (tensor<7xi64>, tensor<7xf32>) {
    %1:2 = metaop.fused(%a = %k : tensor<7xi64>) -> (tensor<7xi64>, tensor<7xf32>) {
      %2 = metaop.constant dense<7> : tensor<7xi64>
      %3 = metaop.add %a, %2 : tensor<7xi64>
      %4 = metaop.cast %a : tensor<7xi64> -> tensor<7xf32>
      %5 = metaop.constant dense<7.0> : tensor<7xf32>
      %6 = metaop.div %4, %5 : tensor<7xf32>
      %7 = metaop.constant dense<8> : tensor<7xi64>
      %8 = metaop.mul %3, %7 : tensor<7xi64>
      metaop.yield %8, %6 : tensor<7xi64>, tensor<7xf32>
    }
    metaop.yield %1#0, %1#1 : tensor<7xi64>, tensor<7xf32>
  }
  return %0#0, %0#1 : tensor<7xi64>, tensor<7xf32>
}
