// A bias along the vectors, read once; results of two types.
func.func private @bias(%x: tensor<50x64xf32>, %v: tensor<64xf32>) -> (tensor<50x64xf32>, tensor<50x64xi1>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<50x64xf32>, %kv = %v : tensor<64xf32>) -> (tensor<50x64xf32>, tensor<50x64xi1>) {
    %r:2 = metaop.fused(%bx = %kx : tensor<50x64xf32>, %bv = %kv : tensor<64xf32>) -> (tensor<50x64xf32>, tensor<50x64xi1>)
        schedule(#metaop.schedule<[block(0, 8), block(1, 64), thread(1, 4), step(0)], tile = [1: 4], lanes = 1: 4>) {
      %1 = metaop.broadcast %bv dims = [1] : tensor<64xf32> -> tensor<50x64xf32>
      %2 = metaop.add %bx, %1 : tensor<50x64xf32>
      %3 = metaop.cmp lt %bx, %1 : tensor<50x64xf32> -> tensor<50x64xi1>
      metaop.yield %2, %3 : tensor<50x64xf32>, tensor<50x64xi1>
    }
    metaop.yield %r#0, %r#1 : tensor<50x64xf32>, tensor<50x64xi1>
  }
  return %k#0, %k#1 : tensor<50x64xf32>, tensor<50x64xi1>
}

// A border of three in front and none behind: lanes are read one by one.
func.func private @pad(%x: tensor<20x30xf32>) -> tensor<23x36xf32> {
  %k = metaop.kernel(%kx = %x : tensor<20x30xf32>) -> tensor<23x36xf32> {
    %r = metaop.fused(%bx = %kx : tensor<20x30xf32>) -> tensor<23x36xf32>
        schedule(#metaop.schedule<[block(0, 4), block(1, 64), thread(0), thread(1, 4)], tile = [1: 8], lanes = 1: 4>) {
      %y = metaop.reindex %bx map affine_map<(i, j) -> (i - 3, j - 5)> fill 1.5 : f32 : tensor<20x30xf32> -> tensor<23x36xf32>
      metaop.yield %y : tensor<23x36xf32>
    }
    metaop.yield %r : tensor<23x36xf32>
  }
  return %k : tensor<23x36xf32>
}

// Numbers out of a tensor.
func.func private @gather(%x: tensor<50x24xf32>, %i: tensor<33xi64>) -> tensor<33x24xf32> attributes {test.below = 50 : i64} {
  %k = metaop.kernel(%kx = %x : tensor<50x24xf32>, %ki = %i : tensor<33xi64>) -> tensor<33x24xf32> {
    %r = metaop.fused(%bx = %kx : tensor<50x24xf32>, %bi = %ki : tensor<33xi64>) -> tensor<33x24xf32>
        schedule(#metaop.schedule<[block(0, 16), thread(0), step(1, 32), thread(1, 4)], tile = [1: 8], lanes = 1: 4>) {
      %0 = metaop.broadcast %bi dims = [0] : tensor<33xi64> -> tensor<33x24xi64>
      %y = metaop.gather %bx[%0] map affine_map<(d0, d1)[s0] -> (s0, d1)> fill 0.0 : f32 : (tensor<50x24xf32>, tensor<33x24xi64>) -> tensor<33x24xf32>
      metaop.yield %y : tensor<33x24xf32>
    }
    metaop.yield %r : tensor<33x24xf32>
  }
  return %k : tensor<33x24xf32>
}

// Random numbers, a table and indices; they are the same on each device.
func.func private @generators(%x: tensor<2x6xf32>, %s: tensor<i64>) -> tensor<2x6xf32> {
  %k = metaop.kernel(%kx = %x : tensor<2x6xf32>, %ks = %s : tensor<i64>) -> tensor<2x6xf32> {
    %r = metaop.fused(%bx = %kx : tensor<2x6xf32>, %bs = %ks : tensor<i64>) -> tensor<2x6xf32>
        schedule(#metaop.schedule<[block(0, 2), block(1, 128), thread(0), thread(1, 2)], tile = [1: 4], lanes = 1: 2>) {
      %0 = metaop.random %bs, %bs : tensor<2x6xf32>
      %1 = metaop.iota dim = 1 : tensor<2x6xf32>
      %2 = metaop.constant dense<[[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], [3.0, 5.0, 7.0, 9.0, 11.0, 13.0]]> : tensor<2x6xf32>
      %3 = metaop.constant dense<[[2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : tensor<2x6xf32>
      %4 = metaop.add %0, %1 : tensor<2x6xf32>
      %5 = metaop.mul %4, %2 : tensor<2x6xf32>
      %6 = metaop.add %5, %3 : tensor<2x6xf32>
      %y = metaop.add %6, %bx : tensor<2x6xf32>
      metaop.yield %y : tensor<2x6xf32>
    }
    metaop.yield %r : tensor<2x6xf32>
  }
  return %k : tensor<2x6xf32>
}

// Extents that are known when the kernel is called.
func.func private @dynamic(%x: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {test.extents = array<i64: 13, 301>, test.grid = 8 : i64} {
  %k = metaop.kernel(%kx = %x : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %r = metaop.fused(%bx = %kx : tensor<?x?xf32>) -> tensor<?x?xf32>
        schedule(#metaop.schedule<[block(0, 512), thread(0, 4)], tile = [0: 4], lanes = 0: 4>) {
      %y = metaop.neg %bx : tensor<?x?xf32>
      metaop.yield %y : tensor<?x?xf32>
    }
    metaop.yield %r : tensor<?x?xf32>
  }
  return %k : tensor<?x?xf32>
}
