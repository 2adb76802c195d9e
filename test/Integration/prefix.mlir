// Prefixes under schedules of all kinds compute what they mean.
// RUN: metaop-run %s --compare | FileCheck %s

// A chain for each row.
// CHECK: scalars: 1 results agree
func.func @scalars(%x: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6x10xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6x10xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<6x10xf32>
      metaop.yield %p0 : tensor<6x10xf32>
    }
    metaop.yield %r : tensor<6x10xf32>
  }
  return %k : tensor<6x10xf32>
}

// Rows side by side; the last one is computed again in place of those behind the end.
// CHECK: copies: 1 results agree
func.func @copies(%x: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6x10xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6x10xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1)], tile = [0: 4]>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<6x10xf32>
      metaop.yield %p0 : tensor<6x10xf32>
    }
    metaop.yield %r : tensor<6x10xf32>
  }
  return %k : tensor<6x10xf32>
}

// Or what is left over has a loop of its own.
// CHECK: rest_of_copies: 1 results agree
func.func @rest_of_copies(%x: tensor<6x10xi32>) -> tensor<6x10xi32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xi32>) -> tensor<6x10xi32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xi32>) -> tensor<6x10xi32>
        schedule(#metaop.schedule<[step(0, 4, body), step(1)], tile = [0: 4]>) {
      %p0 = metaop.prefix mul %a dim = 1 reverse : tensor<6x10xi32>
      metaop.yield %p0 : tensor<6x10xi32>
    }
    metaop.yield %r : tensor<6x10xi32>
  }
  return %k : tensor<6x10xi32>
}

// Vectors of columns, of which the last has masked lanes.
// CHECK: lanes: 1 results agree
func.func @lanes(%x: tensor<10x21xf32>) -> tensor<10x21xf32> {
  %k = metaop.kernel(%kx = %x : tensor<10x21xf32>) -> tensor<10x21xf32> {
    %r = metaop.fused(%a = %kx : tensor<10x21xf32>) -> tensor<10x21xf32>
        schedule(#metaop.schedule<[step(1, 16), step(0)], tile = [1: 16], lanes = 1: 8>) {
      %p0 = metaop.prefix add %a dim = 0 : tensor<10x21xf32>
      metaop.yield %p0 : tensor<10x21xf32>
    }
    metaop.yield %r : tensor<10x21xf32>
  }
  return %k : tensor<10x21xf32>
}

// Threads share strips of them.
// CHECK: parallel: 1 results agree
func.func @parallel(%x: tensor<10x21xf32>) -> tensor<10x21xf32> {
  %k = metaop.kernel(%kx = %x : tensor<10x21xf32>) -> tensor<10x21xf32> {
    %r = metaop.fused(%a = %kx : tensor<10x21xf32>) -> tensor<10x21xf32>
        schedule(#metaop.schedule<[parallel(1, 8), step(1, 4), step(0)], tile = [1: 4], lanes = 1: 4>) {
      %p0 = metaop.prefix max %a dim = 0 reverse exclusive : tensor<10x21xf32>
      metaop.yield %p0 : tensor<10x21xf32>
    }
    metaop.yield %r : tensor<10x21xf32>
  }
  return %k : tensor<10x21xf32>
}

// Vectors of rows, a row apart.
// CHECK: gathered: 1 results agree
func.func @gathered(%x: tensor<9x10xf64>) -> tensor<9x10xf64> {
  %k = metaop.kernel(%kx = %x : tensor<9x10xf64>) -> tensor<9x10xf64> {
    %r = metaop.fused(%a = %kx : tensor<9x10xf64>) -> tensor<9x10xf64>
        schedule(#metaop.schedule<[step(0, 4), step(1)], tile = [0: 4], lanes = 0: 4>) {
      %p0 = metaop.prefix min %a dim = 1 : tensor<9x10xf64>
      metaop.yield %p0 : tensor<9x10xf64>
    }
    metaop.yield %r : tensor<9x10xf64>
  }
  return %k : tensor<9x10xf64>
}

// Tiles along the prefixes are transposed; the last ones lack rows and lanes.
// CHECK: tiles: 1 results agree
func.func @tiles(%x: tensor<10x21xf32>) -> tensor<10x21xf32> {
  %k = metaop.kernel(%kx = %x : tensor<10x21xf32>) -> tensor<10x21xf32> {
    %r = metaop.fused(%a = %kx : tensor<10x21xf32>) -> tensor<10x21xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 0: 4, transpose = 1>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<10x21xf32>
      metaop.yield %p0 : tensor<10x21xf32>
    }
    metaop.yield %r : tensor<10x21xf32>
  }
  return %k : tensor<10x21xf32>
}

// CHECK: tiles_backwards: 1 results agree
func.func @tiles_backwards(%x: tensor<10x21xf32>) -> tensor<10x21xf32> {
  %k = metaop.kernel(%kx = %x : tensor<10x21xf32>) -> tensor<10x21xf32> {
    %r = metaop.fused(%a = %kx : tensor<10x21xf32>) -> tensor<10x21xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 0: 4, transpose = 1>) {
      %p0 = metaop.prefix add %a dim = 1 reverse : tensor<10x21xf32>
      metaop.yield %p0 : tensor<10x21xf32>
    }
    metaop.yield %r : tensor<10x21xf32>
  }
  return %k : tensor<10x21xf32>
}

// All rows of a tile may not be there.
// CHECK: tiles_before: 1 results agree
func.func @tiles_before(%x: tensor<8x3xf16>) -> tensor<8x3xf16> {
  %k = metaop.kernel(%kx = %x : tensor<8x3xf16>) -> tensor<8x3xf16> {
    %r = metaop.fused(%a = %kx : tensor<8x3xf16>) -> tensor<8x3xf16>
        schedule(#metaop.schedule<[step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 0: 4, transpose = 1>) {
      %p0 = metaop.prefix add %a dim = 1 reverse exclusive : tensor<8x3xf16>
      metaop.yield %p0 : tensor<8x3xf16>
    }
    metaop.yield %r : tensor<8x3xf16>
  }
  return %k : tensor<8x3xf16>
}

// The first step of a recurrence takes no factor.
// CHECK: recurrence: 1 results agree
func.func @recurrence(%x: tensor<10x21xf32>, %f: tensor<10x21xf32>) -> tensor<10x21xf32> {
  %k = metaop.kernel(%kx = %x : tensor<10x21xf32>, %kf = %f : tensor<10x21xf32>) -> tensor<10x21xf32> {
    %r = metaop.fused(%a = %kx : tensor<10x21xf32>, %b = %kf : tensor<10x21xf32>) -> tensor<10x21xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 0: 4, transpose = 1>) {
      %p0 = metaop.prefix linear %a factors(%b) dim = 1 : tensor<10x21xf32>
      metaop.yield %p0 : tensor<10x21xf32>
    }
    metaop.yield %r : tensor<10x21xf32>
  }
  return %k : tensor<10x21xf32>
}

// CHECK: recurrence_backwards: 1 results agree
func.func @recurrence_backwards(%x: tensor<5x3xf32>, %f: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %k = metaop.kernel(%kx = %x : tensor<5x3xf32>, %kf = %f : tensor<5x3xf32>) -> tensor<5x3xf32> {
    %r = metaop.fused(%a = %kx : tensor<5x3xf32>, %b = %kf : tensor<5x3xf32>) -> tensor<5x3xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 0: 4, transpose = 1>) {
      %p0 = metaop.prefix linear %a factors(%b) dim = 1 reverse exclusive : tensor<5x3xf32>
      metaop.yield %p0 : tensor<5x3xf32>
    }
    metaop.yield %r : tensor<5x3xf32>
  }
  return %k : tensor<5x3xf32>
}

// CHECK: logarithms: 1 results agree
func.func @logarithms(%x: tensor<4x7xf32>) -> tensor<4x7xf32> {
  %k = metaop.kernel(%kx = %x : tensor<4x7xf32>) -> tensor<4x7xf32> {
    %r = metaop.fused(%a = %kx : tensor<4x7xf32>) -> tensor<4x7xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0)], tile = [1: 4], lanes = 1: 4>) {
      %p0 = metaop.prefix logaddexp %a dim = 0 : tensor<4x7xf32>
      metaop.yield %p0 : tensor<4x7xf32>
    }
    metaop.yield %r : tensor<4x7xf32>
  }
  return %k : tensor<4x7xf32>
}

// Long lines go in blocks.
// CHECK: blocks: 1 results agree
func.func @blocks(%x: tensor<3x2100xf32>) -> tensor<3x2100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<3x2100xf32>) -> tensor<3x2100xf32> {
    %r = metaop.fused(%a = %kx : tensor<3x2100xf32>) -> tensor<3x2100xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<3x2100xf32>
      metaop.yield %p0 : tensor<3x2100xf32>
    }
    metaop.yield %r : tensor<3x2100xf32>
  }
  return %k : tensor<3x2100xf32>
}

// CHECK: blocks_in_tiles: 1 results agree
func.func @blocks_in_tiles(%x: tensor<5x2100xf32>) -> tensor<5x2100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<5x2100xf32>) -> tensor<5x2100xf32> {
    %r = metaop.fused(%a = %kx : tensor<5x2100xf32>) -> tensor<5x2100xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 0: 4, transpose = 1>) {
      %p0 = metaop.prefix add %a dim = 1 reverse exclusive : tensor<5x2100xf32>
      metaop.yield %p0 : tensor<5x2100xf32>
    }
    metaop.yield %r : tensor<5x2100xf32>
  }
  return %k : tensor<5x2100xf32>
}

// Some carry what a block has made, some do not.
// CHECK: kinds: 1 results agree
func.func @kinds(%x: tensor<5x2100xf32>, %f: tensor<5x2100xf32>) -> tensor<5x2100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<5x2100xf32>, %kf = %f : tensor<5x2100xf32>) -> tensor<5x2100xf32> {
    %r = metaop.fused(%a = %kx : tensor<5x2100xf32>, %b = %kf : tensor<5x2100xf32>) -> tensor<5x2100xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %p0 = metaop.prefix mul %a dim = 1 : tensor<5x2100xf32>
      %p1 = metaop.prefix add %p0 dim = 1 exclusive : tensor<5x2100xf32>
      %p2 = metaop.prefix max %p1 dim = 1 serial : tensor<5x2100xf32>
      %p3 = metaop.prefix linear %p2 factors(%b) dim = 1 : tensor<5x2100xf32>
      metaop.yield %p3 : tensor<5x2100xf32>
    }
    metaop.yield %r : tensor<5x2100xf32>
  }
  return %k : tensor<5x2100xf32>
}

// CHECK: one: 1 results agree
func.func @one(%x: tensor<1x5xf32>) -> tensor<1x5xf32> {
  %k = metaop.kernel(%kx = %x : tensor<1x5xf32>) -> tensor<1x5xf32> {
    %r = metaop.fused(%a = %kx : tensor<1x5xf32>) -> tensor<1x5xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0)], tile = [1: 4], lanes = 1: 4>) {
      %p0 = metaop.prefix add %a dim = 0 exclusive : tensor<1x5xf32>
      metaop.yield %p0 : tensor<1x5xf32>
    }
    metaop.yield %r : tensor<1x5xf32>
  }
  return %k : tensor<1x5xf32>
}

// CHECK: none: 1 results agree
func.func @none(%x: tensor<0x5xf32>) -> tensor<0x5xf32> {
  %k = metaop.kernel(%kx = %x : tensor<0x5xf32>) -> tensor<0x5xf32> {
    %r = metaop.fused(%a = %kx : tensor<0x5xf32>) -> tensor<0x5xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0)], tile = [1: 4], lanes = 1: 4>) {
      %p0 = metaop.prefix add %a dim = 0 : tensor<0x5xf32>
      metaop.yield %p0 : tensor<0x5xf32>
    }
    metaop.yield %r : tensor<0x5xf32>
  }
  return %k : tensor<0x5xf32>
}

// Stages that share other loops read what a line has made so far.
// CHECK: shared: 1 results agree
func.func @shared(%x: tensor<6x2100xf32>) -> tensor<6x2100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x2100xf32>) -> tensor<6x2100xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x2100xf32>) -> tensor<6x2100xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %p = metaop.prefix add %a dim = 1 : tensor<6x2100xf32>
      metaop.yield %p : tensor<6x2100xf32>
    }
    %s = metaop.fused(%a = %r : tensor<6x2100xf32>) -> tensor<6x2100xf32>
        schedule(#metaop.schedule<[step(0), step(1)], shared = 1>) {
      %p = metaop.prefix max %a dim = 1 reverse : tensor<6x2100xf32>
      metaop.yield %p : tensor<6x2100xf32>
    }
    metaop.yield %s : tensor<6x2100xf32>
  }
  return %k : tensor<6x2100xf32>
}
