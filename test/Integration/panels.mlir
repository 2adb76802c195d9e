// Panels that the first level of a contraction packs, 14 rows at a time, of which
// the last has 7: it begins at a number that is known once numbers are bound.

// RUN: metaop-run %s --compare --seed=1 | FileCheck %s
// CHECK: main: 1 results agree

#column = affine_map<(o, k, i) -> (k, o * 32 + i)>
#itself = affine_map<(k, j) -> (k, j)>
#left = affine_map<(i, k, o, j) -> (k, i)>
#right = affine_map<(i, k, o, j) -> (o, k, j)>
#result = affine_map<(i, k, o, j) -> (i, o * 32 + j)>
func.func @main(%x: tensor<9x35xf32>) -> tensor<35x35xf32> {
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
