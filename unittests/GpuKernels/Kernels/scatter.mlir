// Sums in any order, in fixed point; some elements get nothing.
func.func private @sums(%x: tensor<1000xf32>) -> tensor<40xf32> attributes {test.tolerance = 1.0e-5} {
  %k = metaop.kernel(%kx = %x : tensor<1000xf32>) -> tensor<40xf32> {
    %r = metaop.fused(%bx = %kx : tensor<1000xf32>) -> tensor<40xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], tile = [0: 2]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i) -> (i mod 37)> : tensor<1000xf32> -> tensor<40xf32>
      metaop.yield %y : tensor<40xf32>
    }
    metaop.yield %r : tensor<40xf32>
  }
  return %k : tensor<40xf32>
}

// The same of doubles: two words.
func.func private @doubles(%x: tensor<1000xf64>) -> tensor<40xf64> attributes {test.tolerance = 1.0e-14} {
  %k = metaop.kernel(%kx = %x : tensor<1000xf64>) -> tensor<40xf64> {
    %r = metaop.fused(%bx = %kx : tensor<1000xf64>) -> tensor<40xf64>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], tile = [0: 2]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i) -> (i mod 37)> : tensor<1000xf64> -> tensor<40xf64>
      metaop.yield %y : tensor<40xf64>
    }
    metaop.yield %r : tensor<40xf64>
  }
  return %k : tensor<40xf64>
}

// Floats are added as they are where that is allowed.
func.func private @float_atomics(%x: tensor<1000xf32>) -> tensor<40xf32> attributes {test.tolerance = 1.0e-5} {
  %k = metaop.kernel(%kx = %x : tensor<1000xf32>) -> tensor<40xf32> attributes {float_atomics} {
    %r = metaop.fused(%bx = %kx : tensor<1000xf32>) -> tensor<40xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], tile = [0: 2]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i) -> (i mod 37)> : tensor<1000xf32> -> tensor<40xf32>
      metaop.yield %y : tensor<40xf32>
    }
    metaop.yield %r : tensor<40xf32>
  }
  return %k : tensor<40xf32>
}

// The largest of floats, as integers.
func.func private @largest(%x: tensor<1000xf32>) -> tensor<40xf32> {
  %k = metaop.kernel(%kx = %x : tensor<1000xf32>) -> tensor<40xf32> {
    %r = metaop.fused(%bx = %kx : tensor<1000xf32>) -> tensor<40xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)]>) {
      %y = metaop.reindex_reduce max %bx map affine_map<(i) -> (i mod 37)> : tensor<1000xf32> -> tensor<40xf32>
      metaop.yield %y : tensor<40xf32>
    }
    metaop.yield %r : tensor<40xf32>
  }
  return %k : tensor<40xf32>
}

func.func private @smallest(%x: tensor<1000xf64>) -> tensor<40xf64> {
  %k = metaop.kernel(%kx = %x : tensor<1000xf64>) -> tensor<40xf64> {
    %r = metaop.fused(%bx = %kx : tensor<1000xf64>) -> tensor<40xf64>
        schedule(#metaop.schedule<[block(0, 256), thread(0)]>) {
      %y = metaop.reindex_reduce min %bx map affine_map<(i) -> (i mod 37)> : tensor<1000xf64> -> tensor<40xf64>
      metaop.yield %y : tensor<40xf64>
    }
    metaop.yield %r : tensor<40xf64>
  }
  return %k : tensor<40xf64>
}

// Products, and sums of narrow integers, compare and swap.
func.func private @products(%x: tensor<100xi32>) -> tensor<7xi32> {
  %k = metaop.kernel(%kx = %x : tensor<100xi32>) -> tensor<7xi32> {
    %r = metaop.fused(%bx = %kx : tensor<100xi32>) -> tensor<7xi32>
        schedule(#metaop.schedule<[block(0, 64), thread(0)]>) {
      %y = metaop.reindex_reduce mul %bx map affine_map<(i) -> (i mod 7)> : tensor<100xi32> -> tensor<7xi32>
      metaop.yield %y : tensor<7xi32>
    }
    metaop.yield %r : tensor<7xi32>
  }
  return %k : tensor<7xi32>
}

func.func private @integers(%x: tensor<1000xi64>) -> tensor<40xi64> {
  %k = metaop.kernel(%kx = %x : tensor<1000xi64>) -> tensor<40xi64> {
    %r = metaop.fused(%bx = %kx : tensor<1000xi64>) -> tensor<40xi64>
        schedule(#metaop.schedule<[block(0, 256), thread(0)]>) {
      %y = metaop.reindex_reduce xor %bx map affine_map<(i) -> (i mod 37)> : tensor<1000xi64> -> tensor<40xi64>
      metaop.yield %y : tensor<40xi64>
    }
    metaop.yield %r : tensor<40xi64>
  }
  return %k : tensor<40xi64>
}
