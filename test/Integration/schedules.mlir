// The stages of docs/Schedule.md, which shows the loops of each (test_docs.py compares
// them). Each computes what it means.

// RUN: metaop-run %s --compare | FileCheck %s

// CHECK: levels: 1 results agree
func.func @levels(%x: tensor<6x10xf32>) -> tensor<6xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %y = metaop.reduce add %a dims = [1] : tensor<6x10xf32> -> tensor<6xf32>
      metaop.yield %y : tensor<6xf32>
    }
    metaop.yield %r : tensor<6xf32>
  }
  return %k : tensor<6xf32>
}

// CHECK: swapped: 1 results agree
func.func @swapped(%x: tensor<6x10xf32>) -> tensor<6xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6xf32>
        schedule(#metaop.schedule<[step(1), step(0)]>) {
      %y = metaop.reduce add %a dims = [1] : tensor<6x10xf32> -> tensor<6xf32>
      metaop.yield %y : tensor<6xf32>
    }
    metaop.yield %r : tensor<6xf32>
  }
  return %k : tensor<6xf32>
}

// CHECK: parallel: 1 results agree
func.func @parallel(%x: tensor<6x10xf32>) -> tensor<6xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6xf32>
        schedule(#metaop.schedule<[parallel(0), step(1)]>) {
      %y = metaop.reduce add %a dims = [1] : tensor<6x10xf32> -> tensor<6xf32>
      metaop.yield %y : tensor<6xf32>
    }
    metaop.yield %r : tensor<6xf32>
  }
  return %k : tensor<6xf32>
}

// CHECK: lanes: 1 results agree
func.func @lanes(%x: tensor<100xf32>) -> tensor<100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<100xf32>) -> tensor<100xf32> {
    %r = metaop.fused(%a = %kx : tensor<100xf32>) -> tensor<100xf32>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.neg %a : tensor<100xf32>
      metaop.yield %y : tensor<100xf32>
    }
    metaop.yield %r : tensor<100xf32>
  }
  return %k : tensor<100xf32>
}

// CHECK: mask: 1 results agree
func.func @mask(%x: tensor<6x10xf32>) -> tensor<6xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1)], tile = [0: 4]>) {
      %y = metaop.reduce add %a dims = [1] : tensor<6x10xf32> -> tensor<6xf32>
      metaop.yield %y : tensor<6xf32>
    }
    metaop.yield %r : tensor<6xf32>
  }
  return %k : tensor<6xf32>
}

// CHECK: body: 1 results agree
func.func @body(%x: tensor<6x10xf32>) -> tensor<6xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6xf32>
        schedule(#metaop.schedule<[step(0, 4, body), step(1)], tile = [0: 4]>) {
      %y = metaop.reduce add %a dims = [1] : tensor<6x10xf32> -> tensor<6xf32>
      metaop.yield %y : tensor<6xf32>
    }
    metaop.yield %r : tensor<6xf32>
  }
  return %k : tensor<6xf32>
}

// CHECK: vectors: 1 results agree
func.func @vectors(%x: tensor<100xf32>) -> tensor<f32> {
  %k = metaop.kernel(%kx = %x : tensor<100xf32>) -> tensor<f32> {
    %r = metaop.fused(%a = %kx : tensor<100xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 8>) {
      %y = metaop.reduce add %a dims = [0] : tensor<100xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}

// CHECK: window: 1 results agree
func.func @window(%x: tensor<16x16xf32>) -> tensor<8x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<16x16xf32>) -> tensor<8x8xf32> {
    %r = metaop.fused(%a = %kx : tensor<16x16xf32>) -> tensor<8x8xf32>
        schedule(#metaop.schedule<[parallel(0), step(1), step(2), step(3)], unroll = [2, 3]>) {
      %0 = metaop.reindex %a map affine_map<(i, j, r, s) -> (2 * i + r, 2 * j + s)> fill 0.0 : f32 : tensor<16x16xf32> -> tensor<8x8x2x2xf32>
      %y = metaop.reduce max %0 dims = [2, 3] : tensor<8x8x2x2xf32> -> tensor<8x8xf32>
      metaop.yield %y : tensor<8x8xf32>
    }
    metaop.yield %r : tensor<8x8xf32>
  }
  return %k : tensor<8x8xf32>
}

// CHECK: pairwise: 1 results agree
func.func @pairwise(%x: tensor<100xf32>) -> tensor<f32> {
  %k = metaop.kernel(%kx = %x : tensor<100xf32>) -> tensor<f32> {
    %r = metaop.fused(%a = %kx : tensor<100xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8, pairwise = 4>) {
      %y = metaop.reduce add %a dims = [0] : tensor<100xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}

// CHECK: grain: 1 results agree
func.func @grain(%x: tensor<100xf32>) -> tensor<100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<100xf32>) -> tensor<100xf32> {
    %r = metaop.fused(%a = %kx : tensor<100xf32>) -> tensor<100xf32>
        schedule(#metaop.schedule<[parallel(0, 32), step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.neg %a : tensor<100xf32>
      metaop.yield %y : tensor<100xf32>
    }
    metaop.yield %r : tensor<100xf32>
  }
  return %k : tensor<100xf32>
}

// CHECK: ahead: 1 results agree
func.func @ahead(%x: tensor<100xf32>) -> tensor<100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<100xf32>) -> tensor<100xf32> {
    %r = metaop.fused(%a = %kx : tensor<100xf32>) -> tensor<100xf32>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8, prefetch = 8>) {
      %y = metaop.neg %a : tensor<100xf32>
      metaop.yield %y : tensor<100xf32>
    }
    metaop.yield %r : tensor<100xf32>
  }
  return %k : tensor<100xf32>
}

// CHECK: strips: 1 results agree
func.func @strips(%x: tensor<6x10xf32>) -> tensor<10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<10xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<10xf32>
        schedule(#metaop.schedule<[parallel(1, 4), step(0), step(1)]>) {
      %y = metaop.reduce add %a dims = [0] : tensor<6x10xf32> -> tensor<10xf32>
      metaop.yield %y : tensor<10xf32>
    }
    metaop.yield %r : tensor<10xf32>
  }
  return %k : tensor<10xf32>
}

// CHECK: transpose: 1 results agree
func.func @transpose(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %r = metaop.fused(%a = %kx : tensor<8x8xf32>) -> tensor<8x8xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0, 4)], tile = [0: 4, 1: 4], lanes = 1: 4, transpose = 0>) {
      %y = metaop.transpose %a perm = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
      metaop.yield %y : tensor<8x8xf32>
    }
    metaop.yield %r : tensor<8x8xf32>
  }
  return %k : tensor<8x8xf32>
}

// CHECK: stream: 1 results agree
func.func @stream(%x: tensor<64xf32>) -> tensor<64xf32> {
  %k = metaop.kernel(%kx = %x : tensor<64xf32>) -> tensor<64xf32> {
    %r = metaop.fused(%a = %kx : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %y = metaop.neg %a : tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %r : tensor<64xf32>
  }
  return %k : tensor<64xf32>
}

// CHECK: shared: 1 results agree
func.func @shared(%x: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6x10xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %y = metaop.reduce max %a dims = [1] : tensor<6x10xf32> -> tensor<6xf32>
      metaop.yield %y : tensor<6xf32>
    }
    %s = metaop.fused(%a = %kx : tensor<6x10xf32>, %m = %r : tensor<6xf32>) -> tensor<6x10xf32>
        schedule(#metaop.schedule<[step(0), step(1)], shared = 1>) {
      %b = metaop.broadcast %m dims = [0] : tensor<6xf32> -> tensor<6x10xf32>
      %y = metaop.sub %a, %b : tensor<6x10xf32>
      metaop.yield %y : tensor<6x10xf32>
    }
    metaop.yield %s : tensor<6x10xf32>
  }
  return %k : tensor<6x10xf32>
}

// CHECK: chains: 1 results agree
func.func @chains(%x: tensor<10x16xf32>) -> tensor<10x16xf32> {
  %k = metaop.kernel(%kx = %x : tensor<10x16xf32>) -> tensor<10x16xf32> {
    %r = metaop.fused(%a = %kx : tensor<10x16xf32>) -> tensor<10x16xf32>
        schedule(#metaop.schedule<[step(1, 8), step(0)], tile = [1: 8], lanes = 1: 8>) {
      %y = metaop.prefix add %a dim = 0 : tensor<10x16xf32>
      metaop.yield %y : tensor<10x16xf32>
    }
    metaop.yield %r : tensor<10x16xf32>
  }
  return %k : tensor<10x16xf32>
}

// CHECK: blocks: 1 results agree
func.func @blocks(%x: tensor<8x24xf32>, %w: tensor<24x32xf32>) -> tensor<8x32xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x24xf32>, %kw = %w : tensor<24x32xf32>) -> tensor<8x32xf32> {
    %r = metaop.fused(%a = %kx : tensor<8x24xf32>, %b = %kw : tensor<24x32xf32>) -> tensor<8x32xf32>
        schedule(#metaop.schedule<[parallel(0, 4), step(1, 12), step(2, 16), step(0, 2), step(1)], tile = [0: 2, 2: 16], lanes = 2: 8>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<8x24xf32> -> tensor<8x24x32xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<24x32xf32> -> tensor<8x24x32xf32>
      %2 = metaop.mul %0, %1 : tensor<8x24x32xf32>
      %y = metaop.reduce add %2 dims = [1] : tensor<8x24x32xf32> -> tensor<8x32xf32>
      metaop.yield %y : tensor<8x32xf32>
    }
    metaop.yield %r : tensor<8x32xf32>
  }
  return %k : tensor<8x32xf32>
}

// CHECK: emitted: 1 results agree
func.func @emitted(%x: tensor<4x3xf32>, %w: tensor<3x16xf32>) -> tensor<4x16xf32> {
  %k = metaop.kernel(%kx = %x : tensor<4x3xf32>, %kw = %w : tensor<3x16xf32>) -> tensor<4x16xf32> {
    %r = metaop.fused(%a = %kx : tensor<4x3xf32>, %b = %kw : tensor<3x16xf32>) -> tensor<4x16xf32>
        schedule(#metaop.schedule<[step(0, 4), step(2, 16), step(1)], tile = [0: 4, 2: 16], lanes = 2: 16, unroll = [1]>) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<4x3xf32> -> tensor<4x3x16xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<3x16xf32> -> tensor<4x3x16xf32>
      %2 = metaop.mul %0, %1 : tensor<4x3x16xf32>
      %y = metaop.reduce add %2 dims = [1] : tensor<4x3x16xf32> -> tensor<4x16xf32>
      metaop.yield %y : tensor<4x16xf32>
    }
    metaop.yield %r : tensor<4x16xf32>
  }
  return %k : tensor<4x16xf32>
}

// CHECK: prefetch: 1 results agree
func.func @prefetch(%x: tensor<10x24xf32>, %w: tensor<24x32xf32>) -> tensor<10x32xf32> {
  %k = metaop.kernel(%kx = %x : tensor<10x24xf32>, %kw = %w : tensor<24x32xf32>) -> tensor<10x32xf32> {
    %r = metaop.fused(%a = %kx : tensor<10x24xf32>, %b = %kw : tensor<24x32xf32>) -> tensor<10x32xf32>
        schedule(#metaop.schedule<[step(1, 12), step(2, 16), step(0, 4, body), step(1)], tile = [0: 4, 2: 16], lanes = 2: 8, prefetch = 4>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<10x24xf32> -> tensor<10x24x32xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<24x32xf32> -> tensor<10x24x32xf32>
      %2 = metaop.mul %0, %1 : tensor<10x24x32xf32>
      %y = metaop.reduce add %2 dims = [1] : tensor<10x24x32xf32> -> tensor<10x32xf32>
      metaop.yield %y : tensor<10x32xf32>
    }
    metaop.yield %r : tensor<10x32xf32>
  }
  return %k : tensor<10x32xf32>
}
