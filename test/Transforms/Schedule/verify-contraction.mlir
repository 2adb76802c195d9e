// RUN: metaop-opt %s -metaop-verify-schedules -split-input-file -verify-diagnostics
// RUN: metaop-opt %s -convert-metaop-to-vector -split-input-file -verify-diagnostics

// Rules of contractions in blocks, and of what packs for them.

// Tiles consist of vectors.
func.func private @no_lanes(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P18) schedule has blocks or a tile, but no `lanes`}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 4), step(1)], tile = [0: 7, 2: 4]>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// A tile is of what the result keeps.
func.func private @reduced_tile(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P19) has dimension 1 in its tile, which the result does not keep}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 16), step(1, 2)], tile = [0: 7, 1: 2, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// A tile is a few thousand instructions.
func.func private @too_large(%x: tensor<128x8xf32>, %w: tensor<8x64xf32>) -> tensor<128x64xf32> {
  %k = metaop.kernel(%kx = %x : tensor<128x8xf32>, %kw = %w : tensor<8x64xf32>) -> tensor<128x64xf32> {
    // expected-error @below {{(P2) has a tile of 2048 multiplications, but at most 1024 can be compiled}}
    %r = metaop.fused(%a = %kx : tensor<128x8xf32>, %b = %kw : tensor<8x64xf32>) -> tensor<128x64xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0, 64), step(2, 64), step(1)], tile = [0: 64, 2: 64], lanes = 2: 2>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<128x8xf32> -> tensor<128x8x64xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x64xf32> -> tensor<128x8x64xf32>
      %2 = metaop.mul %0, %1 : tensor<128x8x64xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<128x8x64xf32> -> tensor<128x64xf32>
      metaop.yield %3 : tensor<128x64xf32>
    }
    metaop.yield %r : tensor<128x64xf32>
  }
  return %k : tensor<128x64xf32>
}

// -----

// Vectors are contiguous in both factors, or the same.
func.func private @strided(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P19) reads 'tensor<28x8xf32>' in steps of 8 along its lanes}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(1, 4), step(2, 8), step(0, 4), step(1)], tile = [0: 4, 2: 8], lanes = 0: 4>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// What does not fill a parallel tile is a loop's affair.
func.func private @parallel_tile(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P20) has a parallel loop of dimension 0 in steps of a tile: expects a further loop of that dimension inside}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 7), step(1, 4), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Threads share a dimension once.
func.func private @two_parallel(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P20) has two parallel loops of dimension 0}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), parallel(0, 7), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// What is emitted without a loop is a part of the sum.
func.func private @kept_unrolled(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P20) unrolls dimension 1, which is not reduced, or not inside of the tile}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16, unroll = [1]>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Blocks of a sum are added in memory.
func.func private @rounded(%x: tensor<28x8xbf16>, %w: tensor<8x48xbf16>) -> tensor<28x48xbf16> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xbf16>, %kw = %w : tensor<8x48xbf16>) -> tensor<28x48xbf16> {
    // expected-error @below {{(P12) result 0 would be rounded to 'bf16' in memory after each block of dimension 1}}
    %r = metaop.fused(%a = %kx : tensor<28x8xbf16>, %b = %kw : tensor<8x48xbf16>) -> tensor<28x48xbf16>
        schedule(#metaop.schedule<[step(1, 4), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xbf16> -> tensor<28x8x48xbf16>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xbf16> -> tensor<28x8x48xbf16>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xbf16>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xbf16> -> tensor<28x48xbf16>
      metaop.yield %3 : tensor<28x48xbf16>
    }
    metaop.yield %r : tensor<28x48xbf16>
  }
  return %k : tensor<28x48xbf16>
}

// -----

// Panels are copied by single vectors.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @copied_by_pairs(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    // expected-error @below {{(P22) packs a factor and has a tile that is not one vector, or square and transposed, and innermost}}
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 14), step(0), step(1, 2)], tile = [1: 2]>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0 : tensor<9x35xf32>
    }
    %product = metaop.fused(%a = %panel : tensor<9x35xf32>, %b = %columns : tensor<2x9x32xf32>) -> tensor<35x35xf32>
        schedule(#metaop.schedule<[parallel(2, 9), step(0, 14), step(2), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, prefetch = 8, shared = 2>) role(contraction) {
      %0 = metaop.reindex %a map #left fill 0.0 : f32 : tensor<9x35xf32> -> tensor<35x9x2x32xf32>
      %1 = metaop.reindex %b map #right fill 0.0 : f32 : tensor<2x9x32xf32> -> tensor<35x9x2x32xf32>
      %2 = metaop.mul %0, %1 : tensor<35x9x2x32xf32>
      %3 = metaop.reindex_reduce add %2 map #result : tensor<35x9x2x32xf32> -> tensor<35x35xf32>
      metaop.yield %3 : tensor<35x35xf32>
    }
    metaop.yield %product : tensor<35x35xf32>
  }
  return %k : tensor<35x35xf32>
}

// -----

// Inside of the blocks a dimension has one loop.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @two_loops(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    // expected-error @below {{(P21) has two loops of dimension 1 inside of the blocks that it shares with a contraction}}
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 14), step(0), step(1, 2), step(1)]>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0 : tensor<9x35xf32>
    }
    %product = metaop.fused(%a = %panel : tensor<9x35xf32>, %b = %columns : tensor<2x9x32xf32>) -> tensor<35x35xf32>
        schedule(#metaop.schedule<[parallel(2, 9), step(0, 14), step(2), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, prefetch = 8, shared = 2>) role(contraction) {
      %0 = metaop.reindex %a map #left fill 0.0 : f32 : tensor<9x35xf32> -> tensor<35x9x2x32xf32>
      %1 = metaop.reindex %b map #right fill 0.0 : f32 : tensor<2x9x32xf32> -> tensor<35x9x2x32xf32>
      %2 = metaop.mul %0, %1 : tensor<35x9x2x32xf32>
      %3 = metaop.reindex_reduce add %2 map #result : tensor<35x9x2x32xf32> -> tensor<35x35xf32>
      metaop.yield %3 : tensor<35x35xf32>
    }
    metaop.yield %product : tensor<35x35xf32>
  }
  return %k : tensor<35x35xf32>
}

// -----

// What packs has the contraction's levels.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @other_blocks(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 28), step(0), step(1, 2)], tile = [1: 2], lanes = 1: 2>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0 : tensor<9x35xf32>
    }
    // expected-error @below {{(P21) shares loop 0 with a stage that has another one there}}
    %product = metaop.fused(%a = %panel : tensor<9x35xf32>, %b = %columns : tensor<2x9x32xf32>) -> tensor<35x35xf32>
        schedule(#metaop.schedule<[parallel(2, 9), step(0, 14), step(2), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, prefetch = 8, shared = 2>) role(contraction) {
      %0 = metaop.reindex %a map #left fill 0.0 : f32 : tensor<9x35xf32> -> tensor<35x9x2x32xf32>
      %1 = metaop.reindex %b map #right fill 0.0 : f32 : tensor<2x9x32xf32> -> tensor<35x9x2x32xf32>
      %2 = metaop.mul %0, %1 : tensor<35x9x2x32xf32>
      %3 = metaop.reindex_reduce add %2 map #result : tensor<35x9x2x32xf32> -> tensor<35x35xf32>
      metaop.yield %3 : tensor<35x35xf32>
    }
    metaop.yield %product : tensor<35x35xf32>
  }
  return %k : tensor<35x35xf32>
}

// -----

// Panels are on the stack.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @too_much(%x: tensor<20009x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<20009x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<20009x35xf32>) -> tensor<2x20009x32xf32>
        schedule(#metaop.schedule<[parallel(0, 20009), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<20009x35xf32> -> tensor<2x20009x32xf32>
      metaop.yield %0 : tensor<2x20009x32xf32>
    }
    %panel = metaop.fused(%a = %kx : tensor<20009x35xf32>) -> tensor<20009x35xf32>
        schedule(#metaop.schedule<[step(1, 14), step(0), step(1, 2)], tile = [1: 2], lanes = 1: 2>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<20009x35xf32> -> tensor<20009x35xf32>
      metaop.yield %0 : tensor<20009x35xf32>
    }
    // expected-error @below {{(P24) packs 1280576 elements at a time, but at most 1048576 bytes fit}}
    %product = metaop.fused(%a = %panel : tensor<20009x35xf32>, %b = %columns : tensor<2x20009x32xf32>) -> tensor<35x35xf32>
        schedule(#metaop.schedule<[parallel(2, 20009), step(0, 14), step(2), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, prefetch = 8, shared = 2>) role(contraction) {
      %0 = metaop.reindex %a map #left fill 0.0 : f32 : tensor<20009x35xf32> -> tensor<35x20009x2x32xf32>
      %1 = metaop.reindex %b map #right fill 0.0 : f32 : tensor<2x20009x32xf32> -> tensor<35x20009x2x32xf32>
      %2 = metaop.mul %0, %1 : tensor<35x20009x2x32xf32>
      %3 = metaop.reindex_reduce add %2 map #result : tensor<35x20009x2x32xf32> -> tensor<35x35xf32>
      metaop.yield %3 : tensor<35x35xf32>
    }
    metaop.yield %product : tensor<35x35xf32>
  }
  return %k : tensor<35x35xf32>
}

// -----

// Blocks and tiles are of a stage with the role.
func.func private @no_role(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P18) schedule has several loops of one dimension, a tile of several or a tail of `sizes`, but the stage has not the role `contraction`}}
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

// Tiles are of known extents.
func.func private @unknown_extent(%x: tensor<?x8xf32>, %w: tensor<8x48xf32>, %n: index) -> tensor<?x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<?x8xf32>, %kw = %w : tensor<8x48xf32>, %kn = %n : index) -> tensor<?x48xf32> {
    // expected-error @below {{(P18) schedule has blocks or a tile, but the extent of dimension 0 is not known}}
    %r = metaop.fused(%a = %kx : tensor<?x8xf32>, %b = %kw : tensor<8x48xf32>, %m = %kn : index) -> tensor<?x48xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a extents(%m) dims = [0, 1] : tensor<?x8xf32> -> tensor<?x8x48xf32>
      %1 = metaop.broadcast %b extents(%m) dims = [1, 2] : tensor<8x48xf32> -> tensor<?x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<?x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<?x8x48xf32> -> tensor<?x48xf32>
      metaop.yield %3 : tensor<?x48xf32>
    }
    metaop.yield %r : tensor<?x48xf32>
  }
  return %k : tensor<?x48xf32>
}

// -----

// Beside another stage, blocks are of a stage with the role.
func.func private @beside(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P18) schedule has several loops of one dimension, a tile of several or a tail of `sizes`, but the stage shares its kernel}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 32), step(1)], tile = [0: 7, 2: 32], lanes = 2: 16>) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32> schedule(#metaop.schedule<[step(0)]>) {
      %0 = metaop.neg %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Nothing that a tile reads is checked.
func.func private @checked_read(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P19) has a tile, but reads a tensor at places that are checked: 'tensor<28x8xf32>'}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.reindex %a map affine_map<(i, k, j) -> (i + 1, k)> fill 0.0 : f32 : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Places in a tile are constant steps apart.
func.func private @uneven_read(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P19) reads 'tensor<28x8xf32>' in no constant steps along dimension 0 of its tile}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.reindex %a map affine_map<(i, k, j) -> (i floordiv 2, k)> fill 0.0 : f32 : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Rows that are transposed are all there.
func.func private @checked_rows(%x: tensor<8x32xf32>, %w: tensor<8x48xf32>) -> tensor<32x47xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x32xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<32x47xf32> {
    // expected-error @below {{(P19) transposes a tile whose rows are checked}}
    %r = metaop.fused(%a = %kx : tensor<8x32xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<32x47xf32>
        schedule(#metaop.schedule<[step(0, 16), step(2, 16), step(1)], tile = [0: 16, 2: 16], lanes = 0: 16, transpose = 2>) role(contraction) {
      %0 = metaop.reindex %a map affine_map<(i, k, j) -> (k, i)> fill 0.0 : f32 : tensor<8x32xf32> -> tensor<32x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<32x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<32x8x48xf32>
      %3 = metaop.reindex_reduce add %2 map affine_map<(i, k, j) -> (i, j)> : tensor<32x8x48xf32> -> tensor<32x47xf32>
      metaop.yield %3 : tensor<32x47xf32>
    }
    metaop.yield %r : tensor<32x47xf32>
  }
  return %k : tensor<32x47xf32>
}

// -----

// All of a tile is stored, or the part that a loop leaves.
func.func private @conditional_tile(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P19) has a condition on dimension 0 of its tile}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reindex_reduce add %2 map affine_map<(i, k, j) -> (i, j)> where affine_set<(i, k, j) : (j - i >= 0)> : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// What is unrolled has one loop.
func.func private @two_sums(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P20) unrolls dimension 1, which has several loops}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 16), step(1, 4), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16, unroll = [1]>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// It is reduced,
func.func private @kept_unrolled(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P20) unrolls dimension 0, which is not reduced, or not inside of the tile}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(2, 32), step(0), step(2, 16), step(1)], tile = [2: 16], lanes = 2: 16, unroll = [0]>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// What is left over of a sum has no bodies of other sizes.
func.func private @sizes_of_a_sum(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P20) has a tail of `sizes` in a loop of dimension 1: expects it in the last one of a kept dimension, in steps of a tile}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 32), step(1, 1, sizes)], tile = [0: 7, 2: 32], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %r : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Nor have plain loops.
func.func private @sizes_of_elements(%x: tensor<28xf32>) -> tensor<28xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28xf32>) -> tensor<28xf32> {
    // expected-error @below {{(P9) has a tail of `sizes` in loop 0, which is for tiles of contractions}}
    %r = metaop.fused(%a = %kx : tensor<28xf32>) -> tensor<28xf32> schedule(#metaop.schedule<[step(0, 4, sizes)], tile = [0: 4]>) {
      %0 = metaop.neg %a : tensor<28xf32>
      metaop.yield %0 : tensor<28xf32>
    }
    metaop.yield %r : tensor<28xf32>
  }
  return %k : tensor<28xf32>
}
