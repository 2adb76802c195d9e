// RUN: metaop-opt %s -split-input-file -metaop-schedule-gpu=chip=sm_90a -verify-diagnostics
// RUN: metaop-opt %s -split-input-file -metaop-verify-schedules="target={cuda chip=sm_90a}" -verify-diagnostics

// Each constraint of a kernel's schedules, broken once.

func.func @s2(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %k = metaop.kernel(%a = %x : tensor<12x8xf32>) -> tensor<12x8xf32> {
    // expected-error @below {{(S2) schedule orders 2 loops, but the stage has 1}}
    %r = metaop.fused(%b = %a : tensor<12x8xf32>) -> tensor<12x8xf32>
        schedule(#metaop.schedule<[block(0), block(1, 8), thread(1)]>) {
      %y = metaop.exp %b : tensor<12x8xf32>
      metaop.yield %y : tensor<12x8xf32>
    }
    metaop.yield %r : tensor<12x8xf32>
  }
  return %k : tensor<12x8xf32>
}

// -----

func.func @g2(%x: tensor<96xf32>) -> tensor<96xf32> {
  %k = metaop.kernel(%a = %x : tensor<96xf32>) -> tensor<96xf32> {
    // expected-error @below {{(G2) schedule has `parallel`, `body`, `sizes`, `transpose`, `unroll`, `prefetch` or `stream`, which are for CPUs}}
    %r = metaop.fused(%b = %a : tensor<96xf32>) -> tensor<96xf32>
        schedule(#metaop.schedule<[parallel(0)]>) {
      %y = metaop.exp %b : tensor<96xf32>
      metaop.yield %y : tensor<96xf32>
    }
    metaop.yield %r : tensor<96xf32>
  }
  return %k : tensor<96xf32>
}

// -----

func.func @g3(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %k = metaop.kernel(%a = %x : tensor<4096xf32>) -> tensor<4096xf32> {
    // expected-error @below {{(G3) schedule has 2048 threads, but a block has at most 1024}}
    %r = metaop.fused(%b = %a : tensor<4096xf32>) -> tensor<4096xf32>
        schedule(#metaop.schedule<[block(0, 2048), thread(0)]>) {
      %y = metaop.exp %b : tensor<4096xf32>
      metaop.yield %y : tensor<4096xf32>
    }
    metaop.yield %r : tensor<4096xf32>
  }
  return %k : tensor<4096xf32>
}

// -----

func.func @g4(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %k = metaop.kernel(%a = %x : tensor<4096xf32>) -> tensor<4096xf32> {
    // expected-error @below {{(G4) schedule has 16 threads in a warp, which has 32}}
    %r = metaop.fused(%b = %a : tensor<4096xf32>) -> tensor<4096xf32>
        schedule(#metaop.schedule<[block(0, 128), warp(0, 16), thread(0)]>) {
      %y = metaop.exp %b : tensor<4096xf32>
      metaop.yield %y : tensor<4096xf32>
    }
    metaop.yield %r : tensor<4096xf32>
  }
  return %k : tensor<4096xf32>
}

// -----

func.func @g5(%x: tensor<4x4096xf32>) -> tensor<4xf32> {
  %k = metaop.kernel(%a = %x : tensor<4x4096xf32>) -> tensor<4xf32> {
    // expected-error @below {{(G5) schedule has clusters of 32 blocks, but sm_90a has at most 16}}
    %r = metaop.fused(%b = %a : tensor<4x4096xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 4096), block(1, 128), thread(1)]>) {
      %y = metaop.reduce add %b dims = [1] : tensor<4x4096xf32> -> tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    metaop.yield %r : tensor<4xf32>
  }
  return %k : tensor<4xf32>
}

// -----

func.func @g6(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %k = metaop.kernel(%a = %x : tensor<4096xf32>) -> tensor<4096xf32> {
    // expected-error @below {{(G6) schedule has vectors of 32 bytes of 'tensor<4096xf32>', but an access has at most 16}}
    %r = metaop.fused(%b = %a : tensor<4096xf32>) -> tensor<4096xf32>
        schedule(#metaop.schedule<[block(0, 1024), thread(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.exp %b : tensor<4096xf32>
      metaop.yield %y : tensor<4096xf32>
    }
    metaop.yield %r : tensor<4096xf32>
  }
  return %k : tensor<4096xf32>
}

// -----

func.func @g7(%x: tensor<4096xf32>) -> tensor<f32> {
  %k = metaop.kernel(%a = %x : tensor<4096xf32>) -> tensor<f32> {
    // expected-error @below {{(G7) blocks have parts of loop 0, which result 0 is reduced over, and do not wait for each other; split the reduction in two kernels}}
    %r = metaop.fused(%b = %a : tensor<4096xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)]>) {
      %y = metaop.reduce add %b dims = [0] : tensor<4096xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}

// -----

// A cluster's loop over a part is not the whole sum either.
func.func @g7_cluster(%x: tensor<4096xf32>) -> tensor<f32> {
  %k = metaop.kernel(%a = %x : tensor<4096xf32>) -> tensor<f32> {
    // expected-error @below {{(G7) blocks have parts of loop 0}}
    %r = metaop.fused(%b = %a : tensor<4096xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[cluster(0, 2048), block(0, 256), thread(0)]>) {
      %y = metaop.reduce add %b dims = [0] : tensor<4096xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}

// -----

func.func @g8(%x: tensor<64x512xf32>) -> tensor<512xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x512xf32>) -> tensor<512xf32> {
    // expected-error @below {{(G8) loop 1, which result 0 keeps, is inside of loop 0, which it is reduced over: its sums would not be in registers}}
    %r = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<512xf32>
        schedule(#metaop.schedule<[block(1, 256), step(0), thread(1, 2), step(1)]>) {
      %y = metaop.reduce add %b dims = [0] : tensor<64x512xf32> -> tensor<512xf32>
      metaop.yield %y : tensor<512xf32>
    }
    metaop.yield %r : tensor<512xf32>
  }
  return %k : tensor<512xf32>
}

// -----

func.func @g8_shared(%x: tensor<64x512xf32>) -> tensor<64xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x512xf32>) -> tensor<64xf32> {
    %e = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64x512xf32>
        schedule(#metaop.schedule<[block(0), step(1, 256), thread(1, 2)], tile = [1: 2], lanes = 1: 2, place = [registers]>)
        attributes {first_dims = array<i64: 0, 1>} {
      %y = metaop.exp %b : tensor<64x512xf32>
      metaop.yield %y : tensor<64x512xf32>
    }
    // expected-error @below {{(G8) shares level 1 with another stage, and result 0 is reduced over it: its sums would not be in registers}}
    %r = metaop.fused(%b = %e : tensor<64x512xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 256), thread(1, 2)], tile = [1: 2], lanes = 1: 2, shared = 2>) {
      %y = metaop.reduce add %b dims = [1] : tensor<64x512xf32> -> tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %r : tensor<64xf32>
  }
  return %k : tensor<64xf32>
}

// -----

func.func @g9(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x512xf32>) -> tensor<64x512xf32> {
    // expected-error @below {{(G9) loop 1 carries prefixes, and has to be the innermost one, a `step` of one iteration}}
    %r = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64x512xf32>
        schedule(#metaop.schedule<[block(0, 32), step(1), thread(0)]>) {
      %y = metaop.prefix add %b dim = 1 : tensor<64x512xf32>
      metaop.yield %y : tensor<64x512xf32>
    }
    metaop.yield %r : tensor<64x512xf32>
  }
  return %k : tensor<64x512xf32>
}

// -----

func.func @g10(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x512xf32>) -> tensor<64x512xf32> {
    // expected-error @below {{(G10) schedule stages read 1, but the stage has 1 reads}}
    %r = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64x512xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], staged = [1: 0]>) {
      %y = metaop.exp %b : tensor<64x512xf32>
      metaop.yield %y : tensor<64x512xf32>
    }
    metaop.yield %r : tensor<64x512xf32>
  }
  return %k : tensor<64x512xf32>
}

// -----

// What threads have in registers is in no memory that could be copied.
func.func @g10_place(%x: tensor<512xf32>) -> tensor<512xf32> {
  %k = metaop.kernel(%a = %x : tensor<512xf32>) -> tensor<512xf32> {
    %s = metaop.fused(%b = %a : tensor<512xf32>) -> tensor<512xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], place = [registers]>) {
      %y = metaop.exp %b : tensor<512xf32>
      metaop.yield %y : tensor<512xf32>
    }
    // expected-error @below {{(G10) schedule stages read 0, which lives in registers}}
    %r = metaop.fused(%b = %s : tensor<512xf32>) -> tensor<512xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], staged = [0: 0], shared = 1>) {
      %y = metaop.exp %b : tensor<512xf32>
      metaop.yield %y : tensor<512xf32>
    }
    metaop.yield %r : tensor<512xf32>
  }
  return %k : tensor<512xf32>
}

// -----

// The box ends with the loop, and vectors go beyond it.
func.func @g10_end(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %k = metaop.kernel(%a = %x : tensor<8x3xf32>) -> tensor<8x3xf32> {
    // expected-error @below {{(G10) schedule stages read 0 of all of loop 1, through which threads go beyond its end}}
    %r = metaop.fused(%b = %a : tensor<8x3xf32>) -> tensor<8x3xf32>
        schedule(#metaop.schedule<[block(0, 4), thread(0), step(1, 4)], tile = [1: 4], lanes = 1: 4, staged = [0: 0]>) {
      %y = metaop.reindex %b map affine_map<(d0, d1) -> (7 - d0, d1)> fill 0.0 : f32 : tensor<8x3xf32> -> tensor<8x3xf32>
      metaop.yield %y : tensor<8x3xf32>
    }
    metaop.yield %r : tensor<8x3xf32>
  }
  return %k : tensor<8x3xf32>
}

// -----

func.func @g11(%x: tensor<512xf32>) -> tensor<512xf32> {
  %k = metaop.kernel(%a = %x : tensor<512xf32>) -> tensor<512xf32> {
    // expected-error @below {{(G11) schedule has places of 2 results, but the stage has 1}}
    %r = metaop.fused(%b = %a : tensor<512xf32>) -> tensor<512xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], place = [registers, shared]>) {
      %y = metaop.exp %b : tensor<512xf32>
      metaop.yield %y : tensor<512xf32>
    }
    metaop.yield %r : tensor<512xf32>
  }
  return %k : tensor<512xf32>
}

// -----

func.func @g12(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %k = metaop.kernel(%a = %x : tensor<512x512xf32>) -> tensor<512x512xf32> {
    // expected-error @below {{(G12) kernel needs 263168 bytes of shared memory, but a block of sm_90a has at most 232448}}
    %r = metaop.fused(%b = %a : tensor<512x512xf32>) -> tensor<512x512xf32>
        schedule(#metaop.schedule<[block(0, 256), block(1, 256), thread(0, 16), thread(1, 16), step(0), step(1)], staged = [0: 1]>) {
      %y = metaop.transpose %b perm = [1, 0] : tensor<512x512xf32> -> tensor<512x512xf32>
      metaop.yield %y : tensor<512x512xf32>
    }
    metaop.yield %r : tensor<512x512xf32>
  }
  return %k : tensor<512x512xf32>
}

// -----

func.func @g13(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %k = metaop.kernel(%a = %x : tensor<65536xf32>) -> tensor<65536xf32> {
    // expected-error @below {{(G13) kernel needs about 280 registers, but a thread has at most 255}}
    %r = metaop.fused(%b = %a : tensor<65536xf32>) -> tensor<65536xf32>
        schedule(#metaop.schedule<[block(0, 16384), thread(0, 4)], tile = [0: 128], lanes = 0: 4>) {
      %y = metaop.exp %b : tensor<65536xf32>
      metaop.yield %y : tensor<65536xf32>
    }
    metaop.yield %r : tensor<65536xf32>
  }
  return %k : tensor<65536xf32>
}

// -----

func.func @g14_grid(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x512xf32>) -> tensor<64x512xf32> {
    %s = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers]>) {
      %0 = metaop.reduce add %b dims = [1] : tensor<64x512xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    // expected-error @below {{(G14) schedule shares 0 levels with the stage before, but the grid has 1}}
    %y = metaop.fused(%b = %a : tensor<64x512xf32>, %c = %s : tensor<64xf32>) -> tensor<64x512xf32>
        schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %0 = metaop.broadcast %c dims = [0] : tensor<64xf32> -> tensor<64x512xf32>
      %1 = metaop.div %b, %0 : tensor<64x512xf32>
      metaop.yield %1 : tensor<64x512xf32>
    }
    metaop.yield %y : tensor<64x512xf32>
  }
  return %k : tensor<64x512xf32>
}

// -----

func.func @g14_level(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x512xf32>) -> tensor<64x512xf32> {
    %s = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers]>) {
      %0 = metaop.reduce add %b dims = [1] : tensor<64x512xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    // expected-error @below {{(G14) schedule shares level 0, which is another one in the stage before}}
    %y = metaop.fused(%b = %a : tensor<64x512xf32>, %c = %s : tensor<64xf32>) -> tensor<64x512xf32>
        schedule(#metaop.schedule<[block(0, 2), step(1, 512), thread(1, 4)], tile = [0: 2, 1: 4], lanes = 1: 4, shared = 1>) {
      %0 = metaop.broadcast %c dims = [0] : tensor<64xf32> -> tensor<64x512xf32>
      %1 = metaop.div %b, %0 : tensor<64x512xf32>
      metaop.yield %1 : tensor<64x512xf32>
    }
    metaop.yield %y : tensor<64x512xf32>
  }
  return %k : tensor<64x512xf32>
}

// -----

func.func @g15(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x512xf32>) -> tensor<64x512xf32> {
    %s = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers]>) {
      %0 = metaop.reduce add %b dims = [1] : tensor<64x512xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    // expected-error @below {{(G15) schedule has 96 threads, but the kernel 128}}
    %y = metaop.fused(%b = %a : tensor<64x512xf32>, %c = %s : tensor<64xf32>) -> tensor<64x512xf32>
        schedule(#metaop.schedule<[block(0), step(1, 384), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 1>) {
      %0 = metaop.broadcast %c dims = [0] : tensor<64xf32> -> tensor<64x512xf32>
      %1 = metaop.div %b, %0 : tensor<64x512xf32>
      metaop.yield %1 : tensor<64x512xf32>
    }
    metaop.yield %y : tensor<64x512xf32>
  }
  return %k : tensor<64x512xf32>
}

// -----

func.func @g15_parts(%x: tensor<64x512xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %k:2 = metaop.kernel(%a = %x : tensor<64x512xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %s = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %0 = metaop.reduce add %b dims = [1] : tensor<64x512xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    // expected-error @below {{(G15) schedule has 64 of 128 threads, which may not reduce together}}
    %y = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 1>) {
      %0 = metaop.reduce max %b dims = [1] : tensor<64x512xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    metaop.yield %s, %y : tensor<64xf32>, tensor<64xf32>
  }
  return %k#0, %k#1 : tensor<64xf32>, tensor<64xf32>
}

// -----

func.func @g17(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x512xf32>) -> tensor<64x512xf32> {
    // expected-error @below {{(G17) result 0 cannot live in registers: other threads read it}}
    %s = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0, 2), step(1, 512), thread(0), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
      %0 = metaop.reduce add %b dims = [1] : tensor<64x512xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    %y = metaop.fused(%b = %a : tensor<64x512xf32>, %c = %s : tensor<64xf32>) -> tensor<64x512xf32>
        schedule(#metaop.schedule<[block(0, 2), step(1, 512), thread(1, 4), step(0)], tile = [1: 4], lanes = 1: 4, shared = 1>) {
      %0 = metaop.broadcast %c dims = [0] : tensor<64xf32> -> tensor<64x512xf32>
      %1 = metaop.div %b, %0 : tensor<64x512xf32>
      metaop.yield %1 : tensor<64x512xf32>
    }
    metaop.yield %y : tensor<64x512xf32>
  }
  return %k : tensor<64x512xf32>
}

// -----

func.func @g18_memory(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x512xf32>) -> tensor<64x512xf32> {
    // expected-error @below {{(G18) result 0 cannot live in memory: it is no result of the kernel}}
    %s = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %0 = metaop.reduce add %b dims = [1] : tensor<64x512xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    %y = metaop.fused(%b = %a : tensor<64x512xf32>, %c = %s : tensor<64xf32>) -> tensor<64x512xf32>
        schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 1>) {
      %0 = metaop.broadcast %c dims = [0] : tensor<64xf32> -> tensor<64x512xf32>
      %1 = metaop.div %b, %0 : tensor<64x512xf32>
      metaop.yield %1 : tensor<64x512xf32>
    }
    metaop.yield %y : tensor<64x512xf32>
  }
  return %k : tensor<64x512xf32>
}

// -----

func.func @g18_cluster(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x512xf32>) -> tensor<64x512xf32> {
    // expected-error @below {{(G18) result 0 cannot live in cluster: blocks are in no cluster}}
    %s = metaop.fused(%b = %a : tensor<64x512xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [cluster]>) {
      %0 = metaop.reduce add %b dims = [1] : tensor<64x512xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    %y = metaop.fused(%b = %a : tensor<64x512xf32>, %c = %s : tensor<64xf32>) -> tensor<64x512xf32>
        schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 1>) {
      %0 = metaop.broadcast %c dims = [0] : tensor<64xf32> -> tensor<64x512xf32>
      %1 = metaop.div %b, %0 : tensor<64x512xf32>
      metaop.yield %1 : tensor<64x512xf32>
    }
    metaop.yield %y : tensor<64x512xf32>
  }
  return %k : tensor<64x512xf32>
}

// -----

// Other blocks have computed what a block reads.
func.func @g16(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %s = metaop.fused(%b = %a : tensor<64x64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 64), thread(1)], place = [shared]>) {
      %0 = metaop.reduce add %b dims = [1] : tensor<64x64xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    // expected-error @below {{(G16) shares 1 levels with a stage before they have computed what it reads of that stage}}
    %y = metaop.fused(%b = %a : tensor<64x64xf32>, %c = %s : tensor<64xf32>) -> tensor<64x64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 64), thread(1)], shared = 1>) {
      %0 = metaop.broadcast %c dims = [1] : tensor<64xf32> -> tensor<64x64xf32>
      %1 = metaop.div %b, %0 : tensor<64x64xf32>
      metaop.yield %1 : tensor<64x64xf32>
    }
    metaop.yield %y : tensor<64x64xf32>
  }
  return %k : tensor<64x64xf32>
}

// -----

// An iteration of the shared loop has seen a part of the columns alone.
func.func @g16_part(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %k = metaop.kernel(%a = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
    // expected-error @below {{(G16) shares level 1 with a stage that reads result 0, of which each iteration has a part only}}
    %s = metaop.fused(%b = %a : tensor<64x64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 32), thread(1)], place = [registers]>) {
      %0 = metaop.reduce add %b dims = [1] : tensor<64x64xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    %y = metaop.fused(%b = %a : tensor<64x64xf32>, %c = %s : tensor<64xf32>) -> tensor<64x64xf32>
        schedule(#metaop.schedule<[block(0), step(1, 32), thread(1)], shared = 2>) {
      %0 = metaop.broadcast %c dims = [0] : tensor<64xf32> -> tensor<64x64xf32>
      %1 = metaop.div %b, %0 : tensor<64x64xf32>
      metaop.yield %1 : tensor<64x64xf32>
    }
    metaop.yield %y : tensor<64x64xf32>
  }
  return %k : tensor<64x64xf32>
}

// -----

func.func @g18_cluster_loop(%x: tensor<4x4096xf32>, %m: tensor<4xf32>) -> tensor<4x4096xf32> {
  %k = metaop.kernel(%a = %x : tensor<4x4096xf32>, %c = %m : tensor<4xf32>) -> tensor<4x4096xf32> {
    // expected-error @below {{(G18) result 0 cannot live in cluster: a loop that stages share divides what blocks of a cluster have}}
    %s = metaop.fused(%b = %a : tensor<4x4096xf32>, %d = %c : tensor<4xf32>) -> tensor<4x4096xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 4096), block(1, 2048), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [cluster]>) {
      %1 = metaop.broadcast %d dims = [0] : tensor<4xf32> -> tensor<4x4096xf32>
      %2 = metaop.sub %b, %1 : tensor<4x4096xf32>
      %0 = metaop.exp %2 : tensor<4x4096xf32>
      metaop.yield %0 : tensor<4x4096xf32>
    }
    %y = metaop.fused(%b = %s : tensor<4x4096xf32>, %d = %c : tensor<4xf32>) -> tensor<4x4096xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 4096), block(1, 2048), step(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 4>) {
      %1 = metaop.broadcast %d dims = [0] : tensor<4xf32> -> tensor<4x4096xf32>
      %0 = metaop.sub %b, %1 : tensor<4x4096xf32>
      metaop.yield %0 : tensor<4x4096xf32>
    }
    metaop.yield %y : tensor<4x4096xf32>
  }
  return %k : tensor<4x4096xf32>
}

// -----

// Another cluster has what is read there.
func.func @g16_clusters(%x: tensor<4x4096xf32>, %m: tensor<4xf32>) -> tensor<4x4096xf32> {
  %k = metaop.kernel(%a = %x : tensor<4x4096xf32>, %c = %m : tensor<4xf32>) -> tensor<4x4096xf32> {
    %s = metaop.fused(%b = %a : tensor<4x4096xf32>, %d = %c : tensor<4xf32>) -> tensor<4x4096xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 2048), block(1, 1024), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [cluster]>) {
      %1 = metaop.broadcast %d dims = [0] : tensor<4xf32> -> tensor<4x4096xf32>
      %2 = metaop.sub %b, %1 : tensor<4x4096xf32>
      %0 = metaop.exp %2 : tensor<4x4096xf32>
      metaop.yield %0 : tensor<4x4096xf32>
    }
    // expected-error @below {{(G16) shares 3 levels with a stage before they have computed what it reads of that stage}}
    %y = metaop.fused(%b = %s : tensor<4x4096xf32>, %d = %c : tensor<4xf32>) -> tensor<4x4096xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 2048), block(1, 1024), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 3>) {
      %0 = metaop.reindex %b map affine_map<(d0, d1) -> (d0, 4095 - d1)> fill 0.0 : f32 : tensor<4x4096xf32> -> tensor<4x4096xf32>
      metaop.yield %0 : tensor<4x4096xf32>
    }
    metaop.yield %y : tensor<4x4096xf32>
  }
  return %k : tensor<4x4096xf32>
}

// -----

// The reader numbers elements by two dimensions that the writer has as one.
func.func @g16_form(%x: tensor<4x32x128xf32>, %m: tensor<4xf32>) -> tensor<4x4096xf32> {
  %k = metaop.kernel(%a = %x : tensor<4x32x128xf32>, %c = %m : tensor<4xf32>) -> tensor<4x4096xf32> {
    %s = metaop.fused(%b = %a : tensor<4x32x128xf32>, %d = %c : tensor<4xf32>) -> tensor<4x32x128xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 4096), block(1, 2048), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [cluster]>) {
      %1 = metaop.broadcast %d dims = [0] : tensor<4xf32> -> tensor<4x32x128xf32>
      %2 = metaop.sub %b, %1 : tensor<4x32x128xf32>
      metaop.yield %2 : tensor<4x32x128xf32>
    }
    // expected-error @below {{(G16) shares 3 levels with a stage before they have computed what it reads of that stage}}
    %y = metaop.fused(%b = %s : tensor<4x32x128xf32>) -> tensor<4x4096xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 4096), block(1, 2048), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 3>) {
      %0 = metaop.reindex %b map affine_map<(d0, d1) -> (d0, d1 floordiv 128, 127 - d1 mod 128)> fill 0.0 : f32 : tensor<4x32x128xf32> -> tensor<4x4096xf32>
      metaop.yield %0 : tensor<4x4096xf32>
    }
    metaop.yield %y : tensor<4x4096xf32>
  }
  return %k : tensor<4x4096xf32>
}

// -----

// The writer has two dimensions that the reader numbers elements by as one.
func.func @g16_form_of_reader(%x: tensor<4x4x4xf32>) -> tensor<4x4x4xf32> {
  %k = metaop.kernel(%a = %x : tensor<4x4x4xf32>) -> tensor<4x4x4xf32> {
    %s = metaop.fused(%b = %a : tensor<4x4x4xf32>) -> tensor<4x4xf32>
        schedule(#metaop.schedule<[cluster(1, 128), block(1, 32), step(1), step(0, 8), step(2, 4), thread(2), thread(0)], pairwise = 2, place = [cluster]>) {
      %0 = metaop.reindex %b map affine_map<(d0, d1, d2) -> (d0, -d1 + 3, d2)> fill 0.0 : f32 : tensor<4x4x4xf32> -> tensor<4x4x4xf32>
      %1 = metaop.reduce add %0 dims = [2] : tensor<4x4x4xf32> -> tensor<4x4xf32>
      metaop.yield %1 : tensor<4x4xf32>
    }
    // expected-error @below {{(G16) shares 2 levels with a stage before they have computed what it reads of that stage}}
    %y = metaop.fused(%b = %a : tensor<4x4x4xf32>, %c = %s : tensor<4x4xf32>) -> tensor<4x4x4xf32>
        schedule(#metaop.schedule<[cluster(1, 128), block(1, 32), step(0, 4), thread(1), thread(0)], tile = [1: 4], shared = 2>) {
      %0 = metaop.broadcast %c dims = [0, 1] : tensor<4x4xf32> -> tensor<4x4x4xf32>
      %1 = metaop.sub %0, %b : tensor<4x4x4xf32>
      metaop.yield %1 : tensor<4x4x4xf32>
    }
    metaop.yield %y : tensor<4x4x4xf32>
  }
  return %k : tensor<4x4x4xf32>
}

// -----

func.func @g18_sum_of_cluster(%x: tensor<4x4096xf32>) -> (tensor<4xf32>, tensor<4x4096xf32>) {
  %k:2 = metaop.kernel(%a = %x : tensor<4x4096xf32>) -> (tensor<4xf32>, tensor<4x4096xf32>) {
    // expected-error @below {{(G18) result 0 cannot live in memory: one block of a cluster stores it, and others may not see it}}
    %s = metaop.fused(%b = %a : tensor<4x4096xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 4096), block(1, 2048), thread(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %0 = metaop.reduce max %b dims = [1] : tensor<4x4096xf32> -> tensor<4xf32>
      metaop.yield %0 : tensor<4xf32>
    }
    %y = metaop.fused(%b = %a : tensor<4x4096xf32>, %c = %s : tensor<4xf32>) -> tensor<4x4096xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 4096), block(1, 2048), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 3>) {
      %0 = metaop.broadcast %c dims = [0] : tensor<4xf32> -> tensor<4x4096xf32>
      %1 = metaop.sub %b, %0 : tensor<4x4096xf32>
      metaop.yield %1 : tensor<4x4096xf32>
    }
    metaop.yield %s, %y : tensor<4xf32>, tensor<4x4096xf32>
  }
  return %k#0, %k#1 : tensor<4xf32>, tensor<4x4096xf32>
}

// -----

func.func @g5_order(%x: tensor<12x64xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%a = %x : tensor<12x64xf32>) -> tensor<12xf32> {
    // expected-error @below {{(G5) schedule has blocks of dimension 0 inside of those that clusters have}}
    %r = metaop.fused(%b = %a : tensor<12x64xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[cluster(1, 64), block(1, 32), block(0, 4), step(1, 32), thread(0), thread(1)]>) {
      %0 = metaop.reduce add %b dims = [1] : tensor<12x64xf32> -> tensor<12xf32>
      metaop.yield %0 : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// Halves that are added in any order have been widened before.
func.func @g19_halves(%x: tensor<1000xbf16>) -> tensor<40xbf16> {
  %k = metaop.kernel(%a = %x : tensor<1000xbf16>) -> tensor<40xbf16> {
    // expected-error @below {{(G19) sums 'bf16' in any order, which have to be widened before}}
    %r = metaop.fused(%b = %a : tensor<1000xbf16>) -> tensor<40xbf16>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], tile = [0: 2]>) {
      %y = metaop.reindex_reduce add %b map affine_map<(i) -> (i mod 37)> : tensor<1000xbf16> -> tensor<40xbf16>
      metaop.yield %y : tensor<40xbf16>
    }
    metaop.yield %r : tensor<40xbf16>
  }
  return %k : tensor<40xbf16>
}

// -----

// The unit of fixed point depends on how many values there are.
func.func @g19_unknown(%x: tensor<?xf32>) -> tensor<40xf32> {
  %k = metaop.kernel(%a = %x : tensor<?xf32>) -> tensor<40xf32> {
    // expected-error @below {{(G19) sums floats in any order, in dimensions whose extents are not known}}
    %r = metaop.fused(%b = %a : tensor<?xf32>) -> tensor<40xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], tile = [0: 2]>) {
      %y = metaop.reindex_reduce add %b map affine_map<(i) -> (i mod 37)> : tensor<?xf32> -> tensor<40xf32>
      metaop.yield %y : tensor<40xf32>
    }
    metaop.yield %r : tensor<40xf32>
  }
  return %k : tensor<40xf32>
}
