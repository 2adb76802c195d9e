// A transpose: both sides along neighbours, at borders too.
func.func private @transpose(%x: tensor<70x100xf32>) -> tensor<100x70xf32> {
  %0 = metaop.kernel(%a = %x : tensor<70x100xf32>) -> tensor<100x70xf32> {
    %1 = metaop.fused(%c = %a : tensor<70x100xf32>) -> tensor<100x70xf32> schedule(#metaop.schedule<[block(0, 32), block(1, 32), thread(0), thread(1)], tile = [0: 4], staged = [0: 1]>) {
      %2 = metaop.reindex %c map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32 : tensor<70x100xf32> -> tensor<100x70xf32>
      metaop.yield %2 : tensor<100x70xf32>
    }
    metaop.yield %1 : tensor<100x70xf32>
  }
  return %0 : tensor<100x70xf32>
}

// A product through shared memory; no extent fits.
func.func private @product(%x: tensor<70x50xf32>, %y: tensor<50x90xf32>) -> tensor<70x90xf32> attributes {test.tolerance = 1.0e-5} {
  %0 = metaop.kernel(%a = %x : tensor<70x50xf32>, %b = %y : tensor<50x90xf32>) -> tensor<70x90xf32> {
    %1 = metaop.fused(%c = %a : tensor<70x50xf32>, %d = %b : tensor<50x90xf32>) -> tensor<70x90xf32> schedule(#metaop.schedule<[block(0, 64), block(2, 64), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4, 2: 4], staged = [0: 1, 1: 1]>) {
      %2 = metaop.reindex %c map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.0 : f32 : tensor<70x50xf32> -> tensor<70x50x90xf32>
      %3 = metaop.reindex %d map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.0 : f32 : tensor<50x90xf32> -> tensor<70x50x90xf32>
      %4 = metaop.mul %2, %3 : tensor<70x50x90xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<70x50x90xf32> -> tensor<70x90xf32>
      metaop.yield %5 : tensor<70x90xf32>
    }
    metaop.yield %1 : tensor<70x90xf32>
  }
  return %0 : tensor<70x90xf32>
}

// Blocks of a cluster that begin behind the end have nothing to copy, nor do
// their loops have iterations.
func.func private @cluster_end(%x: tensor<40x8xf32>, %y: tensor<40x8xf32>) -> tensor<8xf32> attributes {test.tolerance = 1.0e-5} {
  %0 = metaop.kernel(%a = %x : tensor<40x8xf32>, %b = %y : tensor<40x8xf32>) -> tensor<8xf32> {
    %1 = metaop.fused(%c = %a : tensor<40x8xf32>, %d = %b : tensor<40x8xf32>) -> tensor<8xf32> schedule(#metaop.schedule<[cluster(1, 8), cluster(0, 80), block(0, 20), step(0, 4), thread(0), thread(1)], staged = [0: 1]>) {
      %2 = metaop.add %c, %d : tensor<40x8xf32>
      %3 = metaop.reindex_reduce max %2 map affine_map<(d0, d1) -> (d1)> : tensor<40x8xf32> -> tensor<8xf32>
      metaop.yield %3 : tensor<8xf32>
    }
    metaop.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
