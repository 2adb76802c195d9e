// RUN: metaop-opt %s -metaop-schedule | FileCheck %s

// The copies that tiles and unrolled loops make of a body are bounded: one of 20
// calls for each lane, of which a tile has 48 bodies.

// CHECK-LABEL: func @transpose
// CHECK: <[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 16>
func.func @transpose(%x: tensor<100x70xf32>) -> tensor<70x100xf32> {
  %0 = metaop.fused(%a = %x : tensor<100x70xf32>) -> tensor<70x100xf32> {
    %t = metaop.transpose %a perm = [1, 0] : tensor<100x70xf32> -> tensor<70x100xf32>
    %s0 = metaop.sin %t : tensor<70x100xf32>
    %s1 = metaop.sin %s0 : tensor<70x100xf32>
    %s2 = metaop.sin %s1 : tensor<70x100xf32>
    %s3 = metaop.sin %s2 : tensor<70x100xf32>
    %s4 = metaop.sin %s3 : tensor<70x100xf32>
    %s5 = metaop.sin %s4 : tensor<70x100xf32>
    %s6 = metaop.sin %s5 : tensor<70x100xf32>
    %s7 = metaop.sin %s6 : tensor<70x100xf32>
    %s8 = metaop.sin %s7 : tensor<70x100xf32>
    %s9 = metaop.sin %s8 : tensor<70x100xf32>
    %s10 = metaop.sin %s9 : tensor<70x100xf32>
    %s11 = metaop.sin %s10 : tensor<70x100xf32>
    %s12 = metaop.sin %s11 : tensor<70x100xf32>
    %s13 = metaop.sin %s12 : tensor<70x100xf32>
    %s14 = metaop.sin %s13 : tensor<70x100xf32>
    %s15 = metaop.sin %s14 : tensor<70x100xf32>
    %s16 = metaop.sin %s15 : tensor<70x100xf32>
    %s17 = metaop.sin %s16 : tensor<70x100xf32>
    %s18 = metaop.sin %s17 : tensor<70x100xf32>
    %s19 = metaop.sin %s18 : tensor<70x100xf32>
    metaop.yield %s19 : tensor<70x100xf32>
  }
  return %0 : tensor<70x100xf32>
}

// Rows are unrolled by 8,
// CHECK-LABEL: func @short
// CHECK: <[parallel(0, 8), step(2, 16), step(1)], tile = [0: 8, 2: 16], lanes = 2: 16>
func.func @short(%x: tensor<32x48xf32>, %w: tensor<48x64xf32>) -> tensor<32x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<32x48xf32>, %b = %w : tensor<48x64xf32>) -> tensor<32x64xf32> {
    %1 = metaop.broadcast %a dims = [0, 1] : tensor<32x48xf32> -> tensor<32x48x64xf32>
    %2 = metaop.broadcast %b dims = [1, 2] : tensor<48x64xf32> -> tensor<32x48x64xf32>
    %p = metaop.mul %1, %2 : tensor<32x48x64xf32>
    %s0 = metaop.sin %p : tensor<32x48x64xf32>
    %r = metaop.reduce add %s0 dims = [1] : tensor<32x48x64xf32> -> tensor<32x64xf32>
    metaop.yield %r : tensor<32x64xf32>
  }
  return %0 : tensor<32x64xf32>
}

// by 4 where the body is longer,
// CHECK-LABEL: func @longer
// CHECK: <[parallel(0, 4), step(2, 16), step(1)], tile = [0: 4, 2: 16], lanes = 2: 16>
func.func @longer(%x: tensor<32x48xf32>, %w: tensor<48x64xf32>) -> tensor<32x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<32x48xf32>, %b = %w : tensor<48x64xf32>) -> tensor<32x64xf32> {
    %1 = metaop.broadcast %a dims = [0, 1] : tensor<32x48xf32> -> tensor<32x48x64xf32>
    %2 = metaop.broadcast %b dims = [1, 2] : tensor<48x64xf32> -> tensor<32x48x64xf32>
    %p = metaop.mul %1, %2 : tensor<32x48x64xf32>
    %s0 = metaop.sin %p : tensor<32x48x64xf32>
    %s1 = metaop.sin %s0 : tensor<32x48x64xf32>
    %s2 = metaop.sin %s1 : tensor<32x48x64xf32>
    %s3 = metaop.sin %s2 : tensor<32x48x64xf32>
    %s4 = metaop.sin %s3 : tensor<32x48x64xf32>
    %s5 = metaop.sin %s4 : tensor<32x48x64xf32>
    %s6 = metaop.sin %s5 : tensor<32x48x64xf32>
    %s7 = metaop.sin %s6 : tensor<32x48x64xf32>
    %r = metaop.reduce add %s7 dims = [1] : tensor<32x48x64xf32> -> tensor<32x64xf32>
    metaop.yield %r : tensor<32x64xf32>
  }
  return %0 : tensor<32x64xf32>
}

// and by 2.
// CHECK-LABEL: func @long
// CHECK: <[parallel(0, 2), step(2, 16), step(1)], tile = [0: 2, 2: 16], lanes = 2: 16>
func.func @long(%x: tensor<32x48xf32>, %w: tensor<48x64xf32>) -> tensor<32x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<32x48xf32>, %b = %w : tensor<48x64xf32>) -> tensor<32x64xf32> {
    %1 = metaop.broadcast %a dims = [0, 1] : tensor<32x48xf32> -> tensor<32x48x64xf32>
    %2 = metaop.broadcast %b dims = [1, 2] : tensor<48x64xf32> -> tensor<32x48x64xf32>
    %p = metaop.mul %1, %2 : tensor<32x48x64xf32>
    %s0 = metaop.sin %p : tensor<32x48x64xf32>
    %s1 = metaop.sin %s0 : tensor<32x48x64xf32>
    %s2 = metaop.sin %s1 : tensor<32x48x64xf32>
    %s3 = metaop.sin %s2 : tensor<32x48x64xf32>
    %s4 = metaop.sin %s3 : tensor<32x48x64xf32>
    %s5 = metaop.sin %s4 : tensor<32x48x64xf32>
    %s6 = metaop.sin %s5 : tensor<32x48x64xf32>
    %s7 = metaop.sin %s6 : tensor<32x48x64xf32>
    %s8 = metaop.sin %s7 : tensor<32x48x64xf32>
    %s9 = metaop.sin %s8 : tensor<32x48x64xf32>
    %s10 = metaop.sin %s9 : tensor<32x48x64xf32>
    %s11 = metaop.sin %s10 : tensor<32x48x64xf32>
    %s12 = metaop.sin %s11 : tensor<32x48x64xf32>
    %s13 = metaop.sin %s12 : tensor<32x48x64xf32>
    %s14 = metaop.sin %s13 : tensor<32x48x64xf32>
    %s15 = metaop.sin %s14 : tensor<32x48x64xf32>
    %s16 = metaop.sin %s15 : tensor<32x48x64xf32>
    %s17 = metaop.sin %s16 : tensor<32x48x64xf32>
    %s18 = metaop.sin %s17 : tensor<32x48x64xf32>
    %s19 = metaop.sin %s18 : tensor<32x48x64xf32>
    %r = metaop.reduce add %s19 dims = [1] : tensor<32x48x64xf32> -> tensor<32x64xf32>
    metaop.yield %r : tensor<32x64xf32>
  }
  return %0 : tensor<32x64xf32>
}
