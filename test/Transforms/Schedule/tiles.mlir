// RUN: metaop-opt %s -metaop-schedule-contractions -metaop-schedule | FileCheck %s
// RUN: metaop-opt %s -metaop-schedule-contractions=processor=avx2 -metaop-schedule=processor=avx2 | FileCheck %s --check-prefix=V256

// Read along one loop and written along the other: tiles of both.
// CHECK-LABEL: func @transpose
// CHECK: <[parallel(1, 64), step(0, 16), step(1, 16)], tile = [0: 16, 1: 16], lanes = 0: 16, transpose = 1>
// V256-LABEL: func @transpose
// V256: <[parallel(1, 64), step(0, 8), step(1, 8)], tile = [0: 8, 1: 8], lanes = 0: 8, transpose = 1>
func.func @transpose(%x: tensor<100x70xf32>) -> tensor<70x100xf32> {
  %0 = metaop.fused(%a = %x : tensor<100x70xf32>) -> tensor<70x100xf32> {
    %1 = metaop.transpose %a perm = [1, 0] : tensor<100x70xf32> -> tensor<70x100xf32>
    metaop.yield %1 : tensor<70x100xf32>
  }
  return %0 : tensor<70x100xf32>
}

// The images are shared by threads, and the rows of tiles where they are few.
// CHECK-LABEL: func @images
// CHECK: <[parallel(0), parallel(2, 64), step(1, 16), step(2, 16)], tile = [1: 16, 2: 16], lanes = 1: 16, transpose = 2>
func.func @images(%x: tensor<4x24x24x64xf32>) -> tensor<4x64x24x24xf32> {
  %0 = metaop.fused(%a = %x : tensor<4x24x24x64xf32>) -> tensor<4x64x24x24xf32> {
    %1 = metaop.transpose %a perm = [0, 3, 1, 2] : tensor<4x24x24x64xf32> -> tensor<4x64x24x24xf32>
    metaop.yield %1 : tensor<4x64x24x24xf32>
  }
  return %0 : tensor<4x64x24x24xf32>
}

// Rows stay whole: there is nothing to transpose in registers.
// CHECK-LABEL: func @heads
// CHECK: <[parallel(0), parallel(1), parallel(2), step(3, 16)], tile = [3: 16], lanes = 3: 16>
func.func @heads(%x: tensor<2x100x4x64xf32>) -> tensor<2x4x100x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<2x100x4x64xf32>) -> tensor<2x4x100x64xf32> {
    %1 = metaop.transpose %a perm = [0, 2, 1, 3] : tensor<2x100x4x64xf32> -> tensor<2x4x100x64xf32>
    metaop.yield %1 : tensor<2x4x100x64xf32>
  }
  return %0 : tensor<2x4x100x64xf32>
}

// What already is in the order of the result is read as it is.
// CHECK-LABEL: func @mixed
// CHECK: <[parallel(0, 64), step(1, 16), step(0, 16)], tile = [0: 16, 1: 16], lanes = 1: 16, transpose = 0>
func.func @mixed(%x: tensor<90x90xf32>, %y: tensor<90x90xf32>) -> tensor<90x90xf32> {
  %0 = metaop.fused(%a = %x : tensor<90x90xf32>, %b = %y : tensor<90x90xf32>) -> tensor<90x90xf32> {
    %1 = metaop.transpose %b perm = [1, 0] : tensor<90x90xf32> -> tensor<90x90xf32>
    %2 = metaop.sub %a, %1 : tensor<90x90xf32>
    metaop.yield %2 : tensor<90x90xf32>
  }
  return %0 : tensor<90x90xf32>
}

// Two reads of the other order: the result alone is transposed.
// CHECK-LABEL: func @two
// CHECK: <[parallel(1, 64), step(0, 16), step(1, 16)], tile = [0: 16, 1: 16], lanes = 0: 16, transpose = 1>
func.func @two(%x: tensor<90x90xf32>, %y: tensor<90x90xf32>) -> tensor<90x90xf32> {
  %0 = metaop.fused(%a = %x : tensor<90x90xf32>, %b = %y : tensor<90x90xf32>) -> tensor<90x90xf32> {
    %1 = metaop.transpose %a perm = [1, 0] : tensor<90x90xf32> -> tensor<90x90xf32>
    %2 = metaop.transpose %b perm = [1, 0] : tensor<90x90xf32> -> tensor<90x90xf32>
    %3 = metaop.sub %1, %2 : tensor<90x90xf32>
    metaop.yield %3 : tensor<90x90xf32>
  }
  return %0 : tensor<90x90xf32>
}

// A reduction keeps its own order.
// CHECK-LABEL: func @reduced
// CHECK: <[step(1, 64), step(0)], tile = [1: 64], lanes = 1: 16, pairwise = 32>
func.func @reduced(%x: tensor<90x80xf32>) -> tensor<80xf32> {
  %0 = metaop.fused(%a = %x : tensor<90x80xf32>) -> tensor<80xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<90x80xf32> -> tensor<80xf32>
    metaop.yield %1 : tensor<80xf32>
  }
  return %0 : tensor<80xf32>
}

// Rows of a table, each with a number out of a tensor: these are there for rows and
// lanes as they are, so that it is the result which is written transposed.
// CHECK-LABEL: func @gathered
// CHECK: <[parallel(1, 64), step(0, 16), step(1, 16)], tile = [0: 16, 1: 16], lanes = 0: 16, transpose = 1>
func.func @gathered(%x: tensor<40x70xf32>, %i: tensor<100xi64>) -> tensor<70x100xf32> {
  %0 = metaop.fused(%a = %x : tensor<40x70xf32>, %b = %i : tensor<100xi64>) -> tensor<70x100xf32> {
    %1 = metaop.broadcast %b dims = [1] : tensor<100xi64> -> tensor<70x100xi64>
    %2 = metaop.gather %a[%1] map affine_map<(d0, d1)[s0] -> (s0, d0)> fill 0.0 : f32
        : (tensor<40x70xf32>, tensor<70x100xi64>) -> tensor<70x100xf32>
    metaop.yield %2 : tensor<70x100xf32>
  }
  return %0 : tensor<70x100xf32>
}

// Strips of rows are no longer than the rows.
// CHECK-LABEL: func @few_rows
// CHECK: <[step(0, 16), step(1, 16)], tile = [0: 16, 1: 16], lanes = 0: 16, transpose = 1>
func.func @few_rows(%x: tensor<64x100xf32>) -> tensor<100x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<64x100xf32>) -> tensor<100x64xf32> {
    %1 = metaop.transpose %a perm = [1, 0] : tensor<64x100xf32> -> tensor<100x64xf32>
    metaop.yield %1 : tensor<100x64xf32>
  }
  return %0 : tensor<100x64xf32>
}
