// Each thread goes along its own line.
func.func private @columns(%x: tensor<60x40xf32>) -> tensor<60x40xf32> attributes {test.tolerance = 1.0e-5} {
  %k = metaop.kernel(%kx = %x : tensor<60x40xf32>) -> tensor<60x40xf32> {
    %r = metaop.fused(%a = %kx : tensor<60x40xf32>) -> tensor<60x40xf32>
        schedule(#metaop.schedule<[block(1, 32), thread(1), step(0)]>) {
      %p = metaop.prefix add %a dim = 0 : tensor<60x40xf32>
      metaop.yield %p : tensor<60x40xf32>
    }
    metaop.yield %r : tensor<60x40xf32>
  }
  return %k : tensor<60x40xf32>
}

func.func private @backwards(%x: tensor<33x1100xf32>) -> tensor<33x1100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<33x1100xf32>) -> tensor<33x1100xf32> {
    %r = metaop.fused(%a = %kx : tensor<33x1100xf32>) -> tensor<33x1100xf32>
        schedule(#metaop.schedule<[block(0, 32), thread(0), step(1)]>) {
      %p = metaop.prefix max %a dim = 1 reverse exclusive : tensor<33x1100xf32>
      metaop.yield %p : tensor<33x1100xf32>
    }
    metaop.yield %r : tensor<33x1100xf32>
  }
  return %k : tensor<33x1100xf32>
}

// One element is a line, too.
func.func private @short(%x: tensor<50x1xf32>) -> tensor<50x1xf32> {
  %k = metaop.kernel(%kx = %x : tensor<50x1xf32>) -> tensor<50x1xf32> {
    %r = metaop.fused(%a = %kx : tensor<50x1xf32>) -> tensor<50x1xf32>
        schedule(#metaop.schedule<[block(0, 32), thread(0), step(1)]>) {
      %p = metaop.prefix add %a dim = 1 exclusive : tensor<50x1xf32>
      metaop.yield %p : tensor<50x1xf32>
    }
    metaop.yield %r : tensor<50x1xf32>
  }
  return %k : tensor<50x1xf32>
}
