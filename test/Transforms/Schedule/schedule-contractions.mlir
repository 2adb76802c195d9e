// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-schedule-contractions -mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-schedule-contractions -metaop-schedule-contractions -mlir-print-local-scope | FileCheck %s

// A contraction has the loops of its plan, and its role says that it is planned;
// what is none has no schedule.
// CHECK-LABEL: func @plan
// CHECK-NOT: rewrites
// CHECK: metaop.fused({{.*}} schedule(#metaop.schedule<[{{.*}}], tile = [0: 13, 2: 32], lanes = 2: 16{{.*}}>) role(contraction) {
// CHECK: metaop.fused({{.*}} -> tensor<64x128xf32> {
func.func @plan(%x: tensor<64x128xf32>, %y: tensor<128x128xf32>) -> tensor<64x128xf32> {
  %0 = metaop.kernel(%p = %x : tensor<64x128xf32>, %q = %y : tensor<128x128xf32>) -> tensor<64x128xf32> {
    %s = metaop.fused(%a = %p : tensor<64x128xf32>, %b = %q : tensor<128x128xf32>) -> tensor<64x128xf32> {
      %1 = metaop.broadcast %a dims = [0, 1] : tensor<64x128xf32> -> tensor<64x128x128xf32>
      %2 = metaop.broadcast %b dims = [1, 2] : tensor<128x128xf32> -> tensor<64x128x128xf32>
      %3 = metaop.mul %1, %2 : tensor<64x128x128xf32>
      %4 = metaop.reduce add %3 dims = [1] : tensor<64x128x128xf32> -> tensor<64x128xf32>
      metaop.yield %4 : tensor<64x128xf32>
    }
    metaop.yield %s : tensor<64x128xf32>
  }
  %5 = metaop.kernel(%p = %0 : tensor<64x128xf32>) -> tensor<64x128xf32> {
    %s = metaop.fused(%a = %p : tensor<64x128xf32>) -> tensor<64x128xf32> {
      %1 = metaop.exp %a : tensor<64x128xf32>
      metaop.yield %1 : tensor<64x128xf32>
    }
    metaop.yield %s : tensor<64x128xf32>
  }
  return %5 : tensor<64x128xf32>
}

// -----

// A user's schedule stays, and no packing is put into its loops.
// CHECK-LABEL: func @given
// CHECK: metaop.kernel({{.*}} attributes {rewrites = {"attach-panels" = false, "copy-rows" = false}}
// CHECK: schedule(#metaop.schedule<[step(0), step(2), step(1)]>) {
func.func @given(%x: tensor<64x128xf32>, %y: tensor<128x128xf32>) -> tensor<64x128xf32> {
  %0 = metaop.kernel(%p = %x : tensor<64x128xf32>, %q = %y : tensor<128x128xf32>) -> tensor<64x128xf32> {
    %s = metaop.fused(%a = %p : tensor<64x128xf32>, %b = %q : tensor<128x128xf32>) -> tensor<64x128xf32>
        schedule(#metaop.schedule<[step(0), step(2), step(1)]>) {
      %1 = metaop.broadcast %a dims = [0, 1] : tensor<64x128xf32> -> tensor<64x128x128xf32>
      %2 = metaop.broadcast %b dims = [1, 2] : tensor<128x128xf32> -> tensor<64x128x128xf32>
      %3 = metaop.mul %1, %2 : tensor<64x128x128xf32>
      %4 = metaop.reduce add %3 dims = [1] : tensor<64x128x128xf32> -> tensor<64x128xf32>
      metaop.yield %4 : tensor<64x128xf32>
    }
    metaop.yield %s : tensor<64x128xf32>
  }
  return %0 : tensor<64x128xf32>
}

// -----

func.func @forced(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error@+1 {{attach-panels is forced, but it has a schedule}}
  %0 = metaop.kernel(%p = %x : tensor<64xf32>) -> tensor<64xf32> attributes {rewrites = {"attach-panels" = true}} {
    %s = metaop.fused(%a = %p : tensor<64xf32>) -> tensor<64xf32> schedule(#metaop.schedule<[step(0)]>) {
      %1 = metaop.exp %a : tensor<64xf32>
      metaop.yield %1 : tensor<64xf32>
    }
    metaop.yield %s : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// -----

// Blocks and tiles of a user give the stages of their kernel roles.
// CHECK-LABEL: func @given_tiles
// CHECK: lanes = 2: 16>) role(contraction) {
// CHECK: shared = 2>) role(epilogue) {
func.func @given_tiles(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %s = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    %y = metaop.fused(%a = %s : tensor<28x48xf32>) -> tensor<28x48xf32> schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) {
      %0 = metaop.neg %a : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// One of them alone keeps its loops to itself, too.
// CHECK-LABEL: func @given_tile
// CHECK: metaop.kernel({{.*}} attributes {rewrites = {"attach-panels" = false, "copy-rows" = false}}
// CHECK: lanes = 2: 16>) role(contraction) {
func.func @given_tile(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %s = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 32), step(1)], tile = [0: 7, 2: 32], lanes = 2: 16>) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %s : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// The gradient by filters of 4 x 4, of which a tile has half. Both halves of a
// line are stored soon after each other: panels stand outside of eight channels,
// as their results are pages apart.
// CHECK-LABEL: func @parts_of_filters
// CHECK: schedule(#metaop.schedule<[parallel(4, 8), step(1), step(7, 32), step(4), step(5, 2), step(6, 4), step(0), step(2), step(3)], tile = [5: 2, 6: 4, 7: 32], lanes = 7: 16, transpose = 6{{.*}}>) role(contraction)
// A longer sum has panels that are not in the first cache until then.
// CHECK-LABEL: func @parts_of_filters_of_long_sums
// CHECK: schedule(#metaop.schedule<[parallel(4, 8), {{.*}}step(4), step(5, 2), step(6, 4), step(1), step(7, 32), step(0), step(2), step(3)], tile = [5: 2, 6: 4, 7: 32], lanes = 7: 16, transpose = 6{{.*}}>) role(contraction)
func.func @parts_of_filters(%g: tensor<16x16x4x4x32xf32>, %x: tensor<16x256x10x10xf32>) -> tensor<512x256x4x4xf32> {
  %0 = metaop.kernel(%kg = %g : tensor<16x16x4x4x32xf32>, %kx = %x : tensor<16x256x10x10xf32>) -> tensor<512x256x4x4xf32> {
    %s = metaop.fused(%a = %kg : tensor<16x16x4x4x32xf32>, %b = %kx : tensor<16x256x10x10xf32>) -> tensor<512x256x4x4xf32> {
      %1 = metaop.reindex %a map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d7)> fill 0.0 : f32 : tensor<16x16x4x4x32xf32> -> tensor<16x16x4x4x256x4x4x32xf32>
      %2 = metaop.reindex %b map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)> fill 0.0 : f32 : tensor<16x256x10x10xf32> -> tensor<16x16x4x4x256x4x4x32xf32>
      %3 = metaop.mul %1, %2 : tensor<16x16x4x4x256x4x4x32xf32>
      %4 = metaop.reindex_reduce add %3 map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 * 32 + d7, d4, d5, d6)> : tensor<16x16x4x4x256x4x4x32xf32> -> tensor<512x256x4x4xf32>
      metaop.yield %4 : tensor<512x256x4x4xf32>
    }
    metaop.yield %s : tensor<512x256x4x4xf32>
  }
  return %0 : tensor<512x256x4x4xf32>
}
func.func @parts_of_filters_of_long_sums(%g: tensor<32x16x4x4x32xf32>, %x: tensor<32x256x10x10xf32>) -> tensor<512x256x4x4xf32> {
  %0 = metaop.kernel(%kg = %g : tensor<32x16x4x4x32xf32>, %kx = %x : tensor<32x256x10x10xf32>) -> tensor<512x256x4x4xf32> {
    %s = metaop.fused(%a = %kg : tensor<32x16x4x4x32xf32>, %b = %kx : tensor<32x256x10x10xf32>) -> tensor<512x256x4x4xf32> {
      %1 = metaop.reindex %a map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d7)> fill 0.0 : f32 : tensor<32x16x4x4x32xf32> -> tensor<32x16x4x4x256x4x4x32xf32>
      %2 = metaop.reindex %b map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)> fill 0.0 : f32 : tensor<32x256x10x10xf32> -> tensor<32x16x4x4x256x4x4x32xf32>
      %3 = metaop.mul %1, %2 : tensor<32x16x4x4x256x4x4x32xf32>
      %4 = metaop.reindex_reduce add %3 map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 * 32 + d7, d4, d5, d6)> : tensor<32x16x4x4x256x4x4x32xf32> -> tensor<512x256x4x4xf32>
      metaop.yield %4 : tensor<512x256x4x4xf32>
    }
    metaop.yield %s : tensor<512x256x4x4xf32>
  }
  return %0 : tensor<512x256x4x4xf32>
}
