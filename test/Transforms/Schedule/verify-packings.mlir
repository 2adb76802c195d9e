// RUN: metaop-opt %s -metaop-verify-schedules -split-input-file -verify-diagnostics
// RUN: metaop-opt %s -convert-metaop-to-vector -split-input-file -verify-diagnostics

// Rules of what packs factors of a contraction in its blocks.

// What packs shares blocks.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @packs_nothing(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 14), step(0), step(1, 2)], tile = [1: 2], lanes = 1: 2>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0 : tensor<9x35xf32>
    }
    // expected-error @below {{(P18) schedule has several loops of one dimension, a tile of several or a tail of `sizes`, but the stage shares its kernel}}
    %product = metaop.fused(%a = %panel : tensor<9x35xf32>, %b = %columns : tensor<2x9x32xf32>) -> tensor<35x35xf32>
        schedule(#metaop.schedule<[parallel(2, 9), step(0, 14), step(2), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, prefetch = 8>) role(contraction) {
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

// It stands inside of what threads share,
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @packs_outside(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    // expected-error @below {{(P21) packs a factor outside of a parallel loop, or inside of a tile}}
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 14), step(0), step(1, 2)], tile = [1: 2], lanes = 1: 2>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0 : tensor<9x35xf32>
    }
    %product = metaop.fused(%a = %panel : tensor<9x35xf32>, %b = %columns : tensor<2x9x32xf32>) -> tensor<35x35xf32>
        schedule(#metaop.schedule<[parallel(2, 9), parallel(0, 28), step(2), step(0, 14), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, prefetch = 8, shared = 2>) role(contraction) {
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

// and outside of the tile.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @packs_inside(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    // expected-error @below {{(P21) packs a factor outside of a parallel loop, or inside of a tile}}
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 14), step(0), step(1, 2)], tile = [1: 2], lanes = 1: 2>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0 : tensor<9x35xf32>
    }
    %product = metaop.fused(%a = %panel : tensor<9x35xf32>, %b = %columns : tensor<2x9x32xf32>) -> tensor<35x35xf32>
        schedule(#metaop.schedule<[parallel(2, 9), step(0, 14), step(2), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, prefetch = 8, shared = 5>) role(contraction) {
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

// The loops that are shared are there.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @too_few(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 2), step(0)], tile = [1: 2], lanes = 1: 2>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0 : tensor<9x35xf32>
    }
    // expected-error @below {{(P21) shares more loops than there are}}
    %product = metaop.fused(%a = %panel : tensor<9x35xf32>, %b = %columns : tensor<2x9x32xf32>) -> tensor<35x35xf32>
        schedule(#metaop.schedule<[parallel(2, 9), step(0, 28), step(0, 14), step(2), step(1, 3), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, shared = 5>) role(contraction) {
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

// Nothing of a panel is emitted.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @packs_emitted(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    // expected-error @below {{(P22) packs a factor and has a tile that is not one vector, or square and transposed, and innermost}}
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 14), step(0), step(1, 2)], tile = [1: 2], lanes = 1: 2, unroll = [0]>) role(packing) {
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

// Tiles that are transposed are square.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @packs_oblong(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    // expected-error @below {{(P22) packs a factor and has a tile that is not one vector, or square and transposed, and innermost}}
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 14), step(0, 4), step(1, 2)], tile = [0: 4, 1: 2], lanes = 1: 2, transpose = 0>) role(packing) {
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

// A factor is stored, not summed,
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @packs_sums(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 14), step(0), step(1, 2)], tile = [1: 2], lanes = 1: 2>) role(packing) {
      %0 = metaop.reindex_reduce add %a map #itself : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0 : tensor<9x35xf32>
    }
    // expected-error @below {{(P22) shares blocks of loops with a stage that is not the packing of one of its factors}}
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

// and read.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @packs_unread(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(0, 2)], tile = [0: 2], lanes = 0: 2>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0 : tensor<9x35xf32>
    }
    // expected-error @below {{(P22) shares blocks of loops with a stage that is not the packing of one of its factors}}
    %product = metaop.fused(%a = %kx : tensor<9x35xf32>, %b = %columns : tensor<2x9x32xf32>) -> tensor<35x35xf32>
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

// There is one.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @packs_two(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    %panel:2 = metaop.fused(%a = %kx : tensor<9x35xf32>) -> (tensor<9x35xf32>, tensor<9x35xf32>)
        schedule(#metaop.schedule<[step(1, 14), step(0), step(1, 2)], tile = [1: 2], lanes = 1: 2>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0, %0 : tensor<9x35xf32>, tensor<9x35xf32>
    }
    // expected-error @below {{(P22) shares blocks of loops with a stage that is not the packing of one of its factors}}
    %product = metaop.fused(%a = %panel#0 : tensor<9x35xf32>, %b = %columns : tensor<2x9x32xf32>) -> tensor<35x35xf32>
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

// Blocks are of neighbours.
#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func private @packs_whole(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x35xf32>) -> tensor<35x35xf32> {
    %columns = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<2x9x32xf32>
        schedule(#metaop.schedule<[parallel(0, 9), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing) {
      %0 = metaop.reindex %a map #column fill 0.0 : f32 : tensor<9x35xf32> -> tensor<2x9x32xf32>
      metaop.yield %0 : tensor<2x9x32xf32>
    }
    %panel = metaop.fused(%a = %kx : tensor<9x35xf32>) -> tensor<9x35xf32>
        schedule(#metaop.schedule<[step(1, 14), step(0), step(1, 2)], tile = [1: 2], lanes = 1: 2>) role(packing) {
      %0 = metaop.reindex %a map #itself fill 0.0 : f32 : tensor<9x35xf32> -> tensor<9x35xf32>
      metaop.yield %0 : tensor<9x35xf32>
    }
    // expected-error @below {{(P22) shares blocks of loops with a stage that does not write the same blocks}}
    %product = metaop.fused(%a = %panel : tensor<9x35xf32>, %b = %columns : tensor<2x9x32xf32>) -> tensor<35x35xf32>
        schedule(#metaop.schedule<[parallel(2, 9), step(0, 14), step(2), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, prefetch = 8, shared = 2>) role(contraction) {
      %0 = metaop.reindex %a map affine_map<(i, k, o, j) -> (k, 34 - i)> fill 0.0 : f32 : tensor<9x35xf32> -> tensor<35x9x2x32xf32>
      %1 = metaop.reindex %b map #right fill 0.0 : f32 : tensor<2x9x32xf32> -> tensor<35x9x2x32xf32>
      %2 = metaop.mul %0, %1 : tensor<35x9x2x32xf32>
      %3 = metaop.reindex_reduce add %2 map #result : tensor<35x9x2x32xf32> -> tensor<35x35xf32>
      metaop.yield %3 : tensor<35x35xf32>
    }
    metaop.yield %product : tensor<35x35xf32>
  }
  return %k : tensor<35x35xf32>
}
