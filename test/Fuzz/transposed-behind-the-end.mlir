// A tile of two dimensions that is transposed, of which the inner one has fewer
// elements than its tile: a run of rows in memory may begin with one that is not there.
// RUN: metaop-run %s --compare --seed=8939107 | FileCheck %s
// CHECK: results agree

func.func @transposed(%x: tensor<2x15x4x7xf16>, %w: tensor<2x3x5x55xf16>, %z: tensor<55x15x2x3xf32>, %t: tensor<55xf32>) -> (tensor<55x15x2x3xf32>, tensor<55x15x2x3xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<2x15x4x7xf16>, %kw = %w : tensor<2x3x5x55xf16>, %kz = %z : tensor<55x15x2x3xf32>, %kt = %t : tensor<55xf32>) -> (tensor<55x15x2x3xf32>, tensor<55x15x2x3xf32>) {
    %r = metaop.fused(%a = %kx : tensor<2x15x4x7xf16>, %b = %kw : tensor<2x3x5x55xf16>) -> tensor<55x15x2x3xf32>
        schedule(#metaop.schedule<[parallel(5, 2), parallel(6, 48), parallel(4, 72, body), step(1, 6), step(4, 24, body), step(3, 96, body), step(1, 2), step(3, 32, body), step(6, 12, body), step(6, 6), step(3, 16), step(4, 6, body), step(5), step(0), step(2), step(1)], tile = [3: 16, 4: 6, 6: 6], lanes = 3: 16, transpose = 6, unroll = [0, 2]>) role(contraction) {
      %0 = metaop.reindex %a map affine_map<(n, p, q, j, c, h, i) -> (n, c, p + h, q + i)> fill 0.0 : f16 : tensor<2x15x4x7xf16> -> tensor<2x3x5x55x15x2x3xf16>
      %1 = metaop.reindex %b map affine_map<(n, p, q, j, c, h, i) -> (n, p, q, j)> fill 0.0 : f16 : tensor<2x3x5x55xf16> -> tensor<2x3x5x55x15x2x3xf16>
      %2 = metaop.cast %0 : tensor<2x3x5x55x15x2x3xf16> -> tensor<2x3x5x55x15x2x3xf32>
      %3 = metaop.cast %1 : tensor<2x3x5x55x15x2x3xf16> -> tensor<2x3x5x55x15x2x3xf32>
      %p = metaop.neg %2 : tensor<2x3x5x55x15x2x3xf32>
      %m = metaop.mul %p, %3 : tensor<2x3x5x55x15x2x3xf32>
      %y = metaop.reindex_reduce add %m map affine_map<(n, p, q, j, c, h, i) -> (j, c, h, i)> : tensor<2x3x5x55x15x2x3xf32> -> tensor<55x15x2x3xf32>
      metaop.yield %y : tensor<55x15x2x3xf32>
    }
    %e, %n = metaop.fused(%c = %r : tensor<55x15x2x3xf32>, %s = %kz : tensor<55x15x2x3xf32>, %v = %kt : tensor<55xf32>) -> (tensor<55x15x2x3xf32>, tensor<55x15x2x3xf32>)
        schedule(#metaop.schedule<[parallel(2, 2), parallel(3, 48), parallel(1, 72), step(1, 24), step(0, 96), step(0, 32), step(3, 12), step(3, 6), step(0, 16), step(0), step(1), step(2), step(3, 2)], tile = [3: 2], lanes = 3: 2, shared = 9>) role(epilogue) {
      %3 = metaop.add %c, %s : tensor<55x15x2x3xf32>
      %4 = metaop.reindex %v map affine_map<(d0, d1, d2, d3) -> (d0)> fill 0.0 : f32 : tensor<55xf32> -> tensor<55x15x2x3xf32>
      %5 = metaop.mul %3, %4 : tensor<55x15x2x3xf32>
      %6 = metaop.neg %c : tensor<55x15x2x3xf32>
      metaop.yield %5, %6 : tensor<55x15x2x3xf32>, tensor<55x15x2x3xf32>
    }
    metaop.yield %e, %n : tensor<55x15x2x3xf32>, tensor<55x15x2x3xf32>
  }
  return %k#0, %k#1 : tensor<55x15x2x3xf32>, tensor<55x15x2x3xf32>
}

