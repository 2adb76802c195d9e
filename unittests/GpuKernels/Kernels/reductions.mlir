// Shuffles and shared memory; the last step is not whole.
func.func private @long_rows(%x: tensor<10x4000xf32>) -> tensor<10xf32> attributes {test.tolerance = 1.0e-5} {
  %0 = metaop.kernel(%a = %x : tensor<10x4000xf32>) -> tensor<10xf32> {
    %1 = metaop.fused(%c = %a : tensor<10x4000xf32>) -> tensor<10xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 8], lanes = 1: 4>) {
      %2 = metaop.reindex_reduce add %c map affine_map<(d0, d1) -> (d0)> : tensor<10x4000xf32> -> tensor<10xf32>
      metaop.yield %2 : tensor<10xf32>
    }
    metaop.yield %1 : tensor<10xf32>
  }
  return %0 : tensor<10xf32>
}

// Several rows for each block, shuffles alone.
func.func private @short_rows(%x: tensor<50x64xf32>) -> tensor<50xf32> attributes {test.tolerance = 1.0e-5} {
  %0 = metaop.kernel(%a = %x : tensor<50x64xf32>) -> tensor<50xf32> {
    %1 = metaop.fused(%c = %a : tensor<50x64xf32>) -> tensor<50xf32> schedule(#metaop.schedule<[block(0, 16), thread(0), step(1, 64), thread(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %2 = metaop.reindex_reduce max %c map affine_map<(d0, d1) -> (d0)> : tensor<50x64xf32> -> tensor<50xf32>
      metaop.yield %2 : tensor<50xf32>
    }
    metaop.yield %1 : tensor<50xf32>
  }
  return %0 : tensor<50xf32>
}

// Threads that keep neighbouring columns.
func.func private @columns(%x: tensor<200x70xf32>) -> tensor<70xf32> attributes {test.tolerance = 1.0e-5} {
  %0 = metaop.kernel(%a = %x : tensor<200x70xf32>) -> tensor<70xf32> {
    %1 = metaop.fused(%c = %a : tensor<200x70xf32>) -> tensor<70xf32> schedule(#metaop.schedule<[block(1, 32), step(0, 64), thread(0), thread(1)], tile = [0: 8]>) {
      %2 = metaop.reindex_reduce add %c map affine_map<(d0, d1) -> (d1)> : tensor<200x70xf32> -> tensor<70xf32>
      metaop.yield %2 : tensor<70xf32>
    }
    metaop.yield %1 : tensor<70xf32>
  }
  return %0 : tensor<70xf32>
}

// Half floats are added as floats, pairwise, by threads of several levels.
func.func private @pairwise(%x: tensor<3x20000xbf16>) -> tensor<3xbf16> {
  %0 = metaop.kernel(%a = %x : tensor<3x20000xbf16>) -> tensor<3xbf16> {
    %1 = metaop.fused(%c = %a : tensor<3x20000xbf16>) -> tensor<3xbf16> schedule(#metaop.schedule<[block(0), step(1, 512), warp(1, 256), thread(1, 8)], tile = [1: 8], lanes = 1: 8, pairwise = 4>) {
      %2 = metaop.reindex_reduce add %c map affine_map<(d0, d1) -> (d0)> : tensor<3x20000xbf16> -> tensor<3xbf16>
      metaop.yield %2 : tensor<3xbf16>
    }
    metaop.yield %1 : tensor<3xbf16>
  }
  return %0 : tensor<3xbf16>
}

// A number of threads that is no power of two, integers of 64 bits, and a
// mean beside the smallest.
func.func private @six_warps(%x: tensor<5x700xi64>) -> (tensor<5xi64>, tensor<5xi64>) {
  %0:2 = metaop.kernel(%a = %x : tensor<5x700xi64>) -> (tensor<5xi64>, tensor<5xi64>) {
    %1:2 = metaop.fused(%c = %a : tensor<5x700xi64>) -> (tensor<5xi64>, tensor<5xi64>) schedule(#metaop.schedule<[block(0), step(1, 384), thread(1, 2)], tile = [1: 2], lanes = 1: 2>) {
      %2 = metaop.reindex_reduce add %c map affine_map<(d0, d1) -> (d0)> : tensor<5x700xi64> -> tensor<5xi64>
      %3 = metaop.reindex_reduce min %c map affine_map<(d0, d1) -> (d0)> : tensor<5x700xi64> -> tensor<5xi64>
      metaop.yield %2, %3 : tensor<5xi64>, tensor<5xi64>
    }
    metaop.yield %1#0, %1#1 : tensor<5xi64>, tensor<5xi64>
  }
  return %0#0, %0#1 : tensor<5xi64>, tensor<5xi64>
}
