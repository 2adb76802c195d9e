// RUN: metaop-opt %s -metaop-schedule | FileCheck %s

// Leading kept loops are parallel until there is enough work for any number of
// threads: 16 alone is not, 16 * 32 is.
// CHECK-LABEL: func @two
// CHECK: <[parallel(0), parallel(1), step(2, 16)], tile
func.func @two(%x: tensor<16x32x64xf32>, %y: tensor<16xf32>, %z: tensor<64xf32>) -> tensor<16x32x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<16x32x64xf32>, %b = %y : tensor<16xf32>, %c = %z : tensor<64xf32>) -> tensor<16x32x64xf32> {
    %1 = metaop.broadcast %b dims = [0] : tensor<16xf32> -> tensor<16x32x64xf32>
    %2 = metaop.broadcast %c dims = [2] : tensor<64xf32> -> tensor<16x32x64xf32>
    %3 = metaop.mul %1, %2 : tensor<16x32x64xf32>
    %4 = metaop.mul %a, %3 : tensor<16x32x64xf32>
    metaop.yield %4 : tensor<16x32x64xf32>
  }
  return %0 : tensor<16x32x64xf32>
}

// CHECK-LABEL: func @one
// CHECK: <[parallel(0), step(1, 16)], tile
func.func @one(%x: tensor<1000x64xf32>, %z: tensor<64xf32>) -> tensor<1000x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<1000x64xf32>, %c = %z : tensor<64xf32>) -> tensor<1000x64xf32> {
    %1 = metaop.broadcast %c dims = [1] : tensor<64xf32> -> tensor<1000x64xf32>
    %2 = metaop.mul %a, %1 : tensor<1000x64xf32>
    metaop.yield %2 : tensor<1000x64xf32>
  }
  return %0 : tensor<1000x64xf32>
}

// Everything is reduced: nothing is parallel.
// CHECK-LABEL: func @none
// CHECK: <[step(0, 64)], tile
func.func @none(%x: tensor<1000x64xf32>) -> tensor<f32> {
  %0 = metaop.fused(%a = %x : tensor<1000x64xf32>) -> tensor<f32> {
    %1 = metaop.reduce add %a dims = [0, 1] : tensor<1000x64xf32> -> tensor<f32>
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// A loop is parallel only if each result keeps it.
// CHECK-LABEL: func @both
// CHECK: <[step(0), step(1, 16)], tile
func.func @both(%x: tensor<100x64xf32>) -> (tensor<100xf32>, tensor<64xf32>) {
  %0:2 = metaop.fused(%a = %x : tensor<100x64xf32>) -> (tensor<100xf32>, tensor<64xf32>) {
    %1 = metaop.reduce add %a dims = [1] : tensor<100x64xf32> -> tensor<100xf32>
    %2 = metaop.reduce add %a dims = [0] : tensor<100x64xf32> -> tensor<64xf32>
    metaop.yield %1, %2 : tensor<100xf32>, tensor<64xf32>
  }
  return %0#0, %0#1 : tensor<100xf32>, tensor<64xf32>
}

// Where the vector loop is the only one that is kept, threads share it in strips, the
// grain.
// CHECK-LABEL: func @grain
// CHECK: <[parallel(0, 4096), step(0, 16)], tile = [0: 16], lanes = 0: 16>
func.func @grain(%x: tensor<4097xf32>) -> tensor<4097xf32> {
  %0 = metaop.fused(%a = %x : tensor<4097xf32>) -> tensor<4097xf32> {
    %1 = metaop.exp %a : tensor<4097xf32>
    metaop.yield %1 : tensor<4097xf32>
  }
  return %0 : tensor<4097xf32>
}

// There is none that would be the whole loop,
// CHECK-LABEL: func @one_grain
// CHECK: <[step(0, 16)], tile = [0: 16], lanes = 0: 16>
func.func @one_grain(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = metaop.fused(%a = %x : tensor<4096xf32>) -> tensor<4096xf32> {
    %1 = metaop.exp %a : tensor<4096xf32>
    metaop.yield %1 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}

// unless nobody knows,
// CHECK-LABEL: func @any_length
// CHECK: <[parallel(0, 4096), step(0, 16)], tile = [0: 16], lanes = 0: 16>
func.func @any_length(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = metaop.fused(%a = %x : tensor<?xf32>) -> tensor<?xf32> {
    %1 = metaop.exp %a : tensor<?xf32>
    metaop.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// Fewer iterations are a grain where each is a reduction of a column,
// CHECK-LABEL: func @columns
// CHECK: <[parallel(1, 256), step(1, 256), step(0)], tile = [1: 256], lanes = 1: 16>
func.func @columns(%x: tensor<64x300xf32>) -> tensor<300xf32> {
  %0 = metaop.fused(%a = %x : tensor<64x300xf32>) -> tensor<300xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<64x300xf32> -> tensor<300xf32>
    metaop.yield %1 : tensor<300xf32>
  }
  return %0 : tensor<300xf32>
}

// that is long.
// CHECK-LABEL: func @short_columns
// CHECK: <[step(1, 256), step(0)], tile = [1: 256], lanes = 1: 16>
func.func @short_columns(%x: tensor<63x300xf32>) -> tensor<300xf32> {
  %0 = metaop.fused(%a = %x : tensor<63x300xf32>) -> tensor<300xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<63x300xf32> -> tensor<300xf32>
    metaop.yield %1 : tensor<300xf32>
  }
  return %0 : tensor<300xf32>
}

// No two loops of a dimension are beside other stages.
// CHECK-LABEL: func @neighbours
// CHECK-COUNT-2: <[step(0, 16)], tile = [0: 16], lanes = 0: 16>
func.func @neighbours(%x: tensor<9000xf32>) -> (tensor<9000xf32>, tensor<9000xf32>) {
  %0:2 = metaop.kernel(%k = %x : tensor<9000xf32>) -> (tensor<9000xf32>, tensor<9000xf32>) {
    %1 = metaop.fused(%a = %k : tensor<9000xf32>) -> tensor<9000xf32> {
      %3 = metaop.exp %a : tensor<9000xf32>
      metaop.yield %3 : tensor<9000xf32>
    }
    %2 = metaop.fused(%a = %k : tensor<9000xf32>) -> tensor<9000xf32> {
      %3 = metaop.neg %a : tensor<9000xf32>
      metaop.yield %3 : tensor<9000xf32>
    }
    metaop.yield %1, %2 : tensor<9000xf32>, tensor<9000xf32>
  }
  return %0#0, %0#1 : tensor<9000xf32>, tensor<9000xf32>
}
