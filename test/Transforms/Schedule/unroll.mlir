// RUN: metaop-opt %s -metaop-schedule | FileCheck %s

// The largest of products of rows and columns: rows share the reads of the second
// factor, which are vectors; they are unrolled by four where eight leaves a rest.
// CHECK-LABEL: func @largest
// CHECK: <[parallel(0, 4), step(2, 16), step(1)], tile = [0: 4, 2: 16], lanes = 2: 16>
func.func @largest(%x: tensor<30x64xf32>, %y: tensor<64x64xf32>) -> tensor<30x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<30x64xf32>, %b = %y : tensor<64x64xf32>) -> tensor<30x64xf32> {
    %1 = metaop.broadcast %a dims = [0, 1] : tensor<30x64xf32> -> tensor<30x64x64xf32>
    %2 = metaop.broadcast %b dims = [1, 2] : tensor<64x64xf32> -> tensor<30x64x64xf32>
    %3 = metaop.mul %1, %2 : tensor<30x64x64xf32>
    %4 = metaop.reduce max %3 dims = [1] : tensor<30x64x64xf32> -> tensor<30x64xf32>
    metaop.yield %4 : tensor<30x64xf32>
  }
  return %0 : tensor<30x64xf32>
}

// By eight where it leaves none.
// CHECK-LABEL: func @eight
// CHECK: <[parallel(0, 8), step(2, 16), step(1)], tile = [0: 8, 2: 16], lanes = 2: 16>
func.func @eight(%x: tensor<24x64xf32>, %y: tensor<64x64xf32>) -> tensor<24x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<24x64xf32>, %b = %y : tensor<64x64xf32>) -> tensor<24x64xf32> {
    %1 = metaop.broadcast %a dims = [0, 1] : tensor<24x64xf32> -> tensor<24x64x64xf32>
    %2 = metaop.broadcast %b dims = [1, 2] : tensor<64x64xf32> -> tensor<24x64x64xf32>
    %3 = metaop.mul %1, %2 : tensor<24x64x64xf32>
    %4 = metaop.reduce max %3 dims = [1] : tensor<24x64x64xf32> -> tensor<24x64xf32>
    metaop.yield %4 : tensor<24x64xf32>
  }
  return %0 : tensor<24x64xf32>
}

// A few are unrolled whole.
// CHECK-LABEL: func @few
// CHECK: <[parallel(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>
func.func @few(%x: tensor<7x64xf32>, %y: tensor<64x64xf32>) -> tensor<7x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<7x64xf32>, %b = %y : tensor<64x64xf32>) -> tensor<7x64xf32> {
    %1 = metaop.broadcast %a dims = [0, 1] : tensor<7x64xf32> -> tensor<7x64x64xf32>
    %2 = metaop.broadcast %b dims = [1, 2] : tensor<64x64xf32> -> tensor<7x64x64xf32>
    %3 = metaop.mul %1, %2 : tensor<7x64x64xf32>
    %4 = metaop.reduce max %3 dims = [1] : tensor<7x64x64xf32> -> tensor<7x64xf32>
    metaop.yield %4 : tensor<7x64xf32>
  }
  return %0 : tensor<7x64xf32>
}

// Nothing is shared: several vectors side by side hide the latency of a sum.
// CHECK-LABEL: func @sum
// CHECK: <[step(0, 64)], tile = [0: 64], lanes = 0: 16>
func.func @sum(%x: tensor<1000xf32>) -> tensor<f32> {
  %0 = metaop.fused(%a = %x : tensor<1000xf32>) -> tensor<f32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<1000xf32> -> tensor<f32>
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// A number that all rows read is shared by no two of them more than by others:
// rows stay one after another.
// CHECK-LABEL: func @scaled_rows
// CHECK: <[parallel(0), step(1, 64)], tile = [1: 64], lanes = 1: 16
func.func @scaled_rows(%x: tensor<32x1024xf32>, %s: tensor<f32>) -> tensor<32xf32> {
  %0 = metaop.fused(%a = %x : tensor<32x1024xf32>, %b = %s : tensor<f32>) -> tensor<32xf32> {
    %1 = metaop.broadcast %b dims = [] : tensor<f32> -> tensor<32x1024xf32>
    %2 = metaop.mul %a, %1 : tensor<32x1024xf32>
    %3 = metaop.reduce add %2 dims = [1] : tensor<32x1024xf32> -> tensor<32xf32>
    metaop.yield %3 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// Short ones are side by side, as their vectors are too few to hide the latency.
// CHECK-LABEL: func @scaled_short_rows
// CHECK: <[parallel(0, 8), step(1, 16)], tile = [0: 8, 1: 16], lanes = 1: 16
func.func @scaled_short_rows(%x: tensor<32x64xf32>, %s: tensor<f32>) -> tensor<32xf32> {
  %0 = metaop.fused(%a = %x : tensor<32x64xf32>, %b = %s : tensor<f32>) -> tensor<32xf32> {
    %1 = metaop.broadcast %b dims = [] : tensor<f32> -> tensor<32x64xf32>
    %2 = metaop.mul %a, %1 : tensor<32x64xf32>
    %3 = metaop.reduce add %2 dims = [1] : tensor<32x64xf32> -> tensor<32xf32>
    metaop.yield %3 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// Too short for that.
// CHECK-LABEL: func @short_sum
// CHECK: <[step(0, 16)], tile = [0: 16], lanes = 0: 16>
func.func @short_sum(%x: tensor<100xf32>) -> tensor<f32> {
  %0 = metaop.fused(%a = %x : tensor<100xf32>) -> tensor<f32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<100xf32> -> tensor<f32>
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// Element-wise stages wait for memory only.
// CHECK-LABEL: func @elementwise
// CHECK: <[step(0, 16)], tile = [0: 16], lanes = 0: 16>
func.func @elementwise(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = metaop.fused(%a = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %1 = metaop.exp %a : tensor<1000xf32>
    metaop.yield %1 : tensor<1000xf32>
  }
  return %0 : tensor<1000xf32>
}

// Rows that are summed up are read in runs of 16 vectors, or as many as there
// are.
// CHECK-LABEL: func @rows
// CHECK: <[parallel(1, 256), step(1, 256), step(0)], tile = [1: 256], lanes = 1: 16, pairwise = 32>
// CHECK-LABEL: func @short_rows
// CHECK: <[step(1, 64), step(0)], tile = [1: 64], lanes = 1: 16, pairwise = 32>
func.func @rows(%x: tensor<500x1000xf32>) -> tensor<1000xf32> {
  %0 = metaop.fused(%a = %x : tensor<500x1000xf32>) -> tensor<1000xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<500x1000xf32> -> tensor<1000xf32>
    metaop.yield %1 : tensor<1000xf32>
  }
  return %0 : tensor<1000xf32>
}
func.func @short_rows(%x: tensor<500x64xf32>) -> tensor<64xf32> {
  %0 = metaop.fused(%a = %x : tensor<500x64xf32>) -> tensor<64xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<500x64xf32> -> tensor<64xf32>
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
