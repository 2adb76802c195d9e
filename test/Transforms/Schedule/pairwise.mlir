// RUN: metaop-opt %s -metaop-mark-varying -metaop-schedule=processor=scalar -split-input-file | FileCheck %s

// Sums are pairwise where a loop of theirs makes more than 64 steps,
// CHECK-LABEL: func @long
// CHECK: <[step(0)], pairwise = 32>
func.func @long(%x: tensor<65xf32>) -> tensor<f32> {
  %0 = metaop.fused(%a = %x : tensor<65xf32>) -> tensor<f32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<65xf32> -> tensor<f32>
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// and running sums where none does.
// CHECK-LABEL: func @short
// CHECK: <[step(0)]>
func.func @short(%x: tensor<64xf32>) -> tensor<f32> {
  %0 = metaop.fused(%a = %x : tensor<64xf32>) -> tensor<f32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<64xf32> -> tensor<f32>
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// The largest of any number is exact, as are sums of integers.
// CHECK-LABEL: func @exact
// CHECK: <[step(0)]>
func.func @exact(%x: tensor<1000xf32>, %y: tensor<1000xi32>) -> (tensor<f32>, tensor<i32>) {
  %0:2 = metaop.fused(%a = %x : tensor<1000xf32>, %b = %y : tensor<1000xi32>) -> (tensor<f32>, tensor<i32>) {
    %1 = metaop.reduce max %a dims = [0] : tensor<1000xf32> -> tensor<f32>
    %2 = metaop.reduce add %b dims = [0] : tensor<1000xi32> -> tensor<i32>
    metaop.yield %1, %2 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// -----

// A loop of 32 begins anew in each iteration of one around it,
// CHECK-LABEL: func @nested
// CHECK: pairwise = 32>
func.func @nested(%x: tensor<3x4x32xf32>) -> tensor<4xf32> {
  %0 = metaop.fused(%a = %x : tensor<3x4x32xf32>) -> tensor<4xf32> {
    %1 = metaop.reduce add %a dims = [0, 2] : tensor<3x4x32xf32> -> tensor<4xf32>
    metaop.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// and a shorter one goes on.
// CHECK-LABEL: func @short_nested
// CHECK-NOT: pairwise
// CHECK: return
func.func @short_nested(%x: tensor<3x4x31xf32>) -> tensor<4xf32> {
  %0 = metaop.fused(%a = %x : tensor<3x4x31xf32>) -> tensor<4xf32> {
    %1 = metaop.reduce add %a dims = [0, 2] : tensor<3x4x31xf32> -> tensor<4xf32>
    metaop.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Nobody knows how long a loop becomes that grows.
// CHECK-LABEL: func @varying
// CHECK: pairwise = 32
func.func @varying(%x: tensor<3xf32> {metaop.varying = array<i64: 0>}) -> tensor<f32> {
  %0 = metaop.kernel(%k = %x : tensor<3xf32>) -> tensor<f32> {
    %1 = metaop.fused(%a = %k : tensor<3xf32>) -> tensor<f32> {
      %2 = metaop.reduce add %a dims = [0] : tensor<3xf32> -> tensor<f32>
      metaop.yield %2 : tensor<f32>
    }
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// Sums that are in memory are what their levels say.
// CHECK-LABEL: func @in_memory
// CHECK-NOT: pairwise
// CHECK: return
func.func @in_memory(%x: tensor<1000x64xf32>) -> tensor<9x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<1000x64xf32>) -> tensor<9x64xf32> {
    %1 = metaop.reindex_reduce add %a map affine_map<(i, j) -> (i floordiv 125, j)> : tensor<1000x64xf32> -> tensor<9x64xf32>
    metaop.yield %1 : tensor<9x64xf32>
  }
  return %0 : tensor<9x64xf32>
}
