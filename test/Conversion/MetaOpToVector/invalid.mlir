// RUN: metaop-opt %s -convert-metaop-to-vector -split-input-file -verify-diagnostics
// RUN: metaop-opt %s -metaop-verify-schedules -split-input-file -verify-diagnostics

// A stage is scheduled before it is lowered.
func.func private @no_schedule(%x: tensor<12xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12xf32>) -> tensor<12xf32> {
    // expected-error @below {{(S1) has no schedule; run metaop-schedule, or metaop-schedule-gpu, before}}
    %r = metaop.fused(%bx = %kx : tensor<12xf32>) -> tensor<12xf32> {
      %y = metaop.exp %bx : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// Loops are counted after contiguous dimensions were collapsed.
func.func private @order(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<12x8xf32> {
    // expected-error @below {{(S2) schedule orders 2 loops, but the stage has 1}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<12x8xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %y = metaop.exp %bx : tensor<12x8xf32>
      metaop.yield %y : tensor<12x8xf32>
    }
    metaop.yield %r : tensor<12x8xf32>
  }
  return %k : tensor<12x8xf32>
}

// -----

// A silly width.
func.func private @wide(%x: tensor<12xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12xf32>) -> tensor<12xf32> {
    // expected-error @below {{(P2) schedule has vectors of 1099511627776 lanes, but at most 256 can be compiled}}
    %r = metaop.fused(%bx = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0, 1099511627776)], tile = [0: 1099511627776], lanes = 0: 1099511627776>) {
      %y = metaop.exp %bx : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// Silly unrolling.
func.func private @unrolled(%x: tensor<12xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12xf32>) -> tensor<12xf32> {
    // expected-error @below {{(P2) schedule unrolls 1099511627776 iterations, but at most 64 can be compiled}}
    %r = metaop.fused(%bx = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0, 1099511627776)], tile = [0: 1099511627776]>) {
      %y = metaop.exp %bx : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// Iterations of a reduced loop write the same elements.
func.func private @parallel_sum(%x: tensor<12xf32>) -> tensor<f32> {
  %k = metaop.kernel(%kx = %x : tensor<12xf32>) -> tensor<f32> {
    // expected-error @below {{(P3) loop 0 is not parallel: its iterations write the same elements of result 0}}
    %r = metaop.fused(%bx = %kx : tensor<12xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[parallel(0)]>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<12xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}

// -----

// Lanes may meet in one element.
func.func private @lanes(%x: tensor<12xf32>) -> tensor<3xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12xf32>) -> tensor<3xf32> {
    // expected-error @below {{(P4) loop 0 cannot be a vector: its lanes may write one element of result 0}}
    %r = metaop.fused(%bx = %kx : tensor<12xf32>) -> tensor<3xf32>
        schedule(#metaop.schedule<[step(0, 4)], tile = [0: 4], lanes = 0: 4>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i) -> (i mod 3)> : tensor<12xf32> -> tensor<3xf32>
      metaop.yield %y : tensor<3xf32>
    }
    metaop.yield %r : tensor<3xf32>
  }
  return %k : tensor<3xf32>
}

// -----

// Threads share the vector loop in strips only.
func.func private @parallel_vector(%x: tensor<12x8xf32>) -> tensor<8x12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<8x12xf32> {
    // expected-error @below {{(P4) loop 1 is parallel and cannot be the vector loop, unless a further loop of it stands inside}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[parallel(0), parallel(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<12x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    metaop.yield %r : tensor<8x12xf32>
  }
  return %k : tensor<8x12xf32>
}

// -----

// A step of the parallel range is a whole number of copies, or it is known which
// are too many.
func.func private @parallel_unroll(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  %k = metaop.kernel(%kx = %x : tensor<?x8xf32>) -> tensor<?xf32> {
    // expected-error @below {{(P5) unrolls parallel loop 0 by 5, which does not divide its extent}}
    %r = metaop.fused(%bx = %kx : tensor<?x8xf32>) -> tensor<?xf32>
        schedule(#metaop.schedule<[parallel(0, 5, body), step(1)], tile = [0: 5]>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
      metaop.yield %y : tensor<?xf32>
    }
    metaop.yield %r : tensor<?xf32>
  }
  return %k : tensor<?xf32>
}

// -----

// Copies of what is combined in memory would be combined at once.
func.func private @parallel_unroll_in_memory(%x: tensor<12x8xf32>) -> tensor<12x2xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<12x2xf32> {
    // expected-error @below {{(P5) unrolls parallel loop 0, but result 0 is combined in memory}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<12x2xf32>
        schedule(#metaop.schedule<[parallel(0, 4), step(1)], tile = [0: 4]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i, j) -> (i, j floordiv 4)> : tensor<12x8xf32> -> tensor<12x2xf32>
      metaop.yield %y : tensor<12x2xf32>
    }
    metaop.yield %r : tensor<12x2xf32>
  }
  return %k : tensor<12x2xf32>
}

// -----

// A shared loop steps by one iteration for all its stages.
func.func private @shared_vector(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
    // expected-error @below {{(P4) loop 0 is shared with another stage and cannot be the vector loop}}
    %p = metaop.fused(%a = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0, 4)], tile = [0: 4], lanes = 0: 4>) {
      %y = metaop.exp %a : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    %r = metaop.fused(%a = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)], shared = 1>) {
      %y = metaop.neg %a : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %p, %r : tensor<12xf32>, tensor<12xf32>
  }
  return %k#0, %k#1 : tensor<12xf32>, tensor<12xf32>
}

// -----

// The same holds of unrolling.
func.func private @shared_unroll(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
    %p = metaop.fused(%a = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    // expected-error @below {{(P5) loop 0 is shared with another stage and cannot be unrolled}}
    %r = metaop.fused(%a = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0, 2)], tile = [0: 2], shared = 1>) {
      %y = metaop.neg %a : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %p, %r : tensor<12xf32>, tensor<12xf32>
  }
  return %k#0, %k#1 : tensor<12xf32>, tensor<12xf32>
}

// -----

// Loops of several collapsed dimensions may differ where the dimensions do not.
func.func private @other_extent(%x: tensor<12x8xf32>) -> (tensor<12x8xf32>, tensor<8x12xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> (tensor<12x8xf32>, tensor<8x12xf32>) {
    %p = metaop.fused(%a = %kx : tensor<12x8xf32>) -> tensor<12x8xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<12x8xf32>
      metaop.yield %y : tensor<12x8xf32>
    }
    // expected-error @below {{(P15) shares loop 0 with the stage before it, which runs over another extent}}
    %r = metaop.fused(%a = %kx : tensor<12x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[step(0), step(1)], shared = 1>) {
      %y = metaop.transpose %a perm = [1, 0] : tensor<12x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    metaop.yield %p, %r : tensor<12x8xf32>, tensor<8x12xf32>
  }
  return %k#0, %k#1 : tensor<12x8xf32>, tensor<8x12xf32>
}

// -----

// A reversed read would come before the write.
func.func private @reversed(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
    %p = metaop.fused(%a = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    // expected-error @below {{(P16) shares 1 loops with a stage before they have computed what it reads of that stage}}
    %r = metaop.fused(%a = %p : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)], shared = 1>) {
      %y = metaop.reindex %a map affine_map<(i) -> (11 - i)> fill 0.0 : f32 : tensor<12xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %p, %r : tensor<12xf32>, tensor<12xf32>
  }
  return %k#0, %k#1 : tensor<12xf32>, tensor<12xf32>
}

// -----

// So would the read of a sum that has only begun.
func.func private @partial_sum(%x: tensor<12xf32>) -> (tensor<f32>, tensor<12xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<12xf32>) -> (tensor<f32>, tensor<12xf32>) {
    %p = metaop.fused(%a = %kx : tensor<12xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.reduce add %a dims = [0] : tensor<12xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    // expected-error @below {{(P16) shares 1 loops with a stage before they have computed what it reads of that stage}}
    %r = metaop.fused(%a = %p : tensor<f32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)], shared = 1>) {
      %y = metaop.broadcast %a dims = [] : tensor<f32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %p, %r : tensor<f32>, tensor<12xf32>
  }
  return %k#0, %k#1 : tensor<f32>, tensor<12xf32>
}

// -----

// Places are computed before the first stage.
func.func private @symbol(%x: tensor<12xf32>, %s: tensor<i64>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12xf32>, %ks = %s : tensor<i64>) -> tensor<12xf32> {
    %p = metaop.fused(%a = %ks : tensor<i64>) -> tensor<i64>
        schedule(#metaop.schedule<[]>) {
      %y = metaop.neg %a : tensor<i64>
      metaop.yield %y : tensor<i64>
    }
    // expected-error @below {{(P16) reads places that depend on a number which the same kernel computes}}
    %r = metaop.fused(%a = %kx : tensor<12xf32>, %t = %p : tensor<i64>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.slice %a[%t] strides = [1] : tensor<12xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// Values inside of a kernel live on the stack.
func.func private @large_local(%x: tensor<20000xf32>) -> tensor<20000xf32> {
  %k = metaop.kernel(%kx = %x : tensor<20000xf32>) -> tensor<20000xf32> {
    // expected-error @below {{(P17) holds a value inside of the kernel that does not fit its local memory of 65536 bytes: 'tensor<20000xf32>'}}
    %p = metaop.fused(%a = %kx : tensor<20000xf32>) -> tensor<20000xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<20000xf32>
      metaop.yield %y : tensor<20000xf32>
    }
    %r = metaop.fused(%a = %p : tensor<20000xf32>) -> tensor<20000xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<20000xf32>
      metaop.yield %y : tensor<20000xf32>
    }
    metaop.yield %r : tensor<20000xf32>
  }
  return %k : tensor<20000xf32>
}

// -----

// All of them together.
func.func private @large_locals(%x: tensor<12000xf32>) -> tensor<12000xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12000xf32>) -> tensor<12000xf32> {
    %p = metaop.fused(%a = %kx : tensor<12000xf32>) -> tensor<12000xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<12000xf32>
      metaop.yield %y : tensor<12000xf32>
    }
    // expected-error @below {{(P17) holds a value inside of the kernel that does not fit its local memory of 65536 bytes}}
    %q = metaop.fused(%a = %p : tensor<12000xf32>) -> tensor<12000xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<12000xf32>
      metaop.yield %y : tensor<12000xf32>
    }
    %r = metaop.fused(%a = %q : tensor<12000xf32>) -> tensor<12000xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<12000xf32>
      metaop.yield %y : tensor<12000xf32>
    }
    metaop.yield %r : tensor<12000xf32>
  }
  return %k : tensor<12000xf32>
}

// -----

// Sums of half floats accumulate in f32, which memory does not hold.
func.func private @rounded(%x: tensor<12x8xbf16>) -> tensor<8xbf16> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xbf16>) -> tensor<8xbf16> {
    // expected-error @below {{(P12) result 0 would be rounded to 'bf16' in memory at each step; order the loops that it is reduced over inside of those that it keeps}}
    %r = metaop.fused(%a = %kx : tensor<12x8xbf16>) -> tensor<8xbf16>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %y = metaop.reduce add %a dims = [0] : tensor<12x8xbf16> -> tensor<8xbf16>
      metaop.yield %y : tensor<8xbf16>
    }
    metaop.yield %r : tensor<8xbf16>
  }
  return %k : tensor<8xbf16>
}

// -----

// Each factor is small enough, and the product is not.
func.func private @code(%x: tensor<12xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12xf32>) -> tensor<12xf32> {
    // expected-error @below {{(P2) schedule unrolls 64 iterations, about 67968 instructions, but at most 65536 can be compiled}}
    %r = metaop.fused(%bx = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0, 64)], tile = [0: 64]>) {
      %0 = metaop.sin %bx : tensor<12xf32>
      %1 = metaop.sin %0 : tensor<12xf32>
      %2 = metaop.sin %1 : tensor<12xf32>
      %3 = metaop.sin %2 : tensor<12xf32>
      %4 = metaop.sin %3 : tensor<12xf32>
      %5 = metaop.sin %4 : tensor<12xf32>
      %6 = metaop.sin %5 : tensor<12xf32>
      %7 = metaop.sin %6 : tensor<12xf32>
      %8 = metaop.sin %7 : tensor<12xf32>
      %9 = metaop.sin %8 : tensor<12xf32>
      %10 = metaop.sin %9 : tensor<12xf32>
      %11 = metaop.sin %10 : tensor<12xf32>
      %12 = metaop.sin %11 : tensor<12xf32>
      %13 = metaop.sin %12 : tensor<12xf32>
      %14 = metaop.sin %13 : tensor<12xf32>
      %15 = metaop.sin %14 : tensor<12xf32>
      %16 = metaop.sin %15 : tensor<12xf32>
      %17 = metaop.sin %16 : tensor<12xf32>
      %18 = metaop.sin %17 : tensor<12xf32>
      %19 = metaop.sin %18 : tensor<12xf32>
      %20 = metaop.sin %19 : tensor<12xf32>
      %21 = metaop.sin %20 : tensor<12xf32>
      metaop.yield %21 : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// Strips are of what all results keep,
func.func private @reduced_strips(%x: tensor<96x8xf32>) -> tensor<8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<96x8xf32>) -> tensor<8xf32> {
    // expected-error @below {{(P7) cuts loop 0 into strips, but result 0 is reduced over it}}
    %r = metaop.fused(%bx = %kx : tensor<96x8xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(0, 32), step(1), step(0)]>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<96x8xf32> -> tensor<8xf32>
      metaop.yield %y : tensor<8xf32>
    }
    metaop.yield %r : tensor<8xf32>
  }
  return %k : tensor<8xf32>
}

// -----

// in one loop around another one,
func.func private @strips_of_strips(%x: tensor<96xf32>) -> tensor<96xf32> {
  %k = metaop.kernel(%kx = %x : tensor<96xf32>) -> tensor<96xf32> {
    // expected-error @below {{(P7) has 3 loops of dimension 0, but only contractions have more than two}}
    %r = metaop.fused(%bx = %kx : tensor<96xf32>) -> tensor<96xf32>
        schedule(#metaop.schedule<[parallel(0, 32), step(0, 16), step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.exp %bx : tensor<96xf32>
      metaop.yield %y : tensor<96xf32>
    }
    metaop.yield %r : tensor<96xf32>
  }
  return %k : tensor<96xf32>
}

// -----

// of which one is shared by threads,
func.func private @parallel_strips(%x: tensor<96xf32>) -> tensor<96xf32> {
  %k = metaop.kernel(%kx = %x : tensor<96xf32>) -> tensor<96xf32> {
    // expected-error @below {{(P7) has two parallel loops of dimension 0}}
    %r = metaop.fused(%bx = %kx : tensor<96xf32>) -> tensor<96xf32>
        schedule(#metaop.schedule<[parallel(0, 32), parallel(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.exp %bx : tensor<96xf32>
      metaop.yield %y : tensor<96xf32>
    }
    metaop.yield %r : tensor<96xf32>
  }
  return %k : tensor<96xf32>
}

// -----

// all of one body,
func.func private @body_of_strips(%x: tensor<100xf32>) -> tensor<100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<100xf32>) -> tensor<100xf32> {
    // expected-error @below {{(P7) has a body of its own for the last strip of loop 0, which is only shorter}}
    %r = metaop.fused(%bx = %kx : tensor<100xf32>) -> tensor<100xf32>
        schedule(#metaop.schedule<[parallel(0, 32, body), step(0)]>) {
      %y = metaop.exp %bx : tensor<100xf32>
      metaop.yield %y : tensor<100xf32>
    }
    metaop.yield %r : tensor<100xf32>
  }
  return %k : tensor<100xf32>
}

// -----

// in a stage that is alone.
func.func private @shared_strips(%x: tensor<96xf32>) -> tensor<96xf32> {
  %k = metaop.kernel(%kx = %x : tensor<96xf32>) -> tensor<96xf32> {
    %0 = metaop.fused(%bx = %kx : tensor<96xf32>) -> tensor<96xf32>
        schedule(#metaop.schedule<[parallel(0)]>) {
      %y = metaop.exp %bx : tensor<96xf32>
      metaop.yield %y : tensor<96xf32>
    }
    // expected-error @below {{(P7) cuts loop 0 into strips, but shares its kernel}}
    %r = metaop.fused(%bx = %0 : tensor<96xf32>) -> tensor<96xf32>
        schedule(#metaop.schedule<[parallel(0, 32), step(0)], shared = 2>) {
      %y = metaop.neg %bx : tensor<96xf32>
      metaop.yield %y : tensor<96xf32>
    }
    metaop.yield %r : tensor<96xf32>
  }
  return %k : tensor<96xf32>
}

// -----

// Tiles of several dimensions are for contractions,
func.func private @wide_tile(%x: tensor<12x8xf32>) -> tensor<8x12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<8x12xf32> {
    // expected-error @below {{(P18) schedule has a tile of several dimensions, but the stage is no sum of products}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[parallel(0, 4), step(1, 4)], tile = [0: 4, 1: 4]>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<12x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    metaop.yield %r : tensor<8x12xf32>
  }
  return %k : tensor<8x12xf32>
}

// -----

// and vectors that are asked for ahead.
func.func private @prefetched(%x: tensor<12x8xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<12xf32> {
    // expected-error @below {{(P10) schedule has `prefetch`, but its innermost loop is not that of `lanes`, or it has `transpose`}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1)], tile = [0: 4], lanes = 0: 4, prefetch = 4>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<12x8xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// What has no loop is reduced,
func.func private @emitted_kept(%x: tensor<12x8xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<12xf32> {
    // expected-error @below {{(P6) emits the iterations of loop 0, which result 0 keeps}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0), step(1)], unroll = [0]>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<12x8xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// of an extent that is known,
func.func private @emitted_dynamic(%x: tensor<12x?xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x?xf32>) -> tensor<12xf32> {
    // expected-error @below {{(P6) emits the iterations of loop 1, whose extent is not known}}
    %r = metaop.fused(%bx = %kx : tensor<12x?xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[parallel(0), step(1)], unroll = [1]>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<12x?xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// and neither parallel nor shared;
func.func private @emitted_lanes(%x: tensor<12x8xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<12xf32> {
    // expected-error @below {{(P6) emits the iterations of loop 0, which is parallel or shared}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[parallel(0), step(1)], unroll = [0]>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<12x8xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// it is not more than can be compiled.
func.func private @emitted_much(%x: tensor<12x100000xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x100000xf32>) -> tensor<12xf32> {
    // expected-error @below {{(P2) schedule emits 100000 iterations of `unroll`, but at most 64 can be compiled}}
    %r = metaop.fused(%bx = %kx : tensor<12x100000xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[parallel(0), step(1)], unroll = [1]>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<12x100000xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// What does not fill a vector has masked lanes.
func.func private @lanes_body(%x: tensor<96xf32>) -> tensor<96xf32> {
  %k = metaop.kernel(%kx = %x : tensor<96xf32>) -> tensor<96xf32> {
    // expected-error @below {{(P9) has a body of its own for the rest of loop 0, but lanes and the rows of tiles are masked}}
    %r = metaop.fused(%bx = %kx : tensor<96xf32>) -> tensor<96xf32>
        schedule(#metaop.schedule<[parallel(0, 8, body)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.exp %bx : tensor<96xf32>
      metaop.yield %y : tensor<96xf32>
    }
    metaop.yield %r : tensor<96xf32>
  }
  return %k : tensor<96xf32>
}

// -----

// Rows of a tile are masked, too.
func.func private @rows_body(%x: tensor<12x8xf32>) -> tensor<8x12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<8x12xf32> {
    // expected-error @below {{(P9) has a body of its own for the rest of loop 0, but lanes and the rows of tiles are masked}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[parallel(0, 4, body), step(1, 4)], tile = [0: 4, 1: 4], lanes = 1: 4, transpose = 0>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<12x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    metaop.yield %r : tensor<8x12xf32>
  }
  return %k : tensor<8x12xf32>
}

// -----

// Tiles that are transposed are square.
func.func private @oblong_tile(%x: tensor<12x8xf32>) -> tensor<8x12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<8x12xf32> {
    // expected-error @below {{(P8) transposes tiles that are not square, of the width of vectors, or whose loops, of the rows and of the lanes, are not the innermost}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1, 8)], tile = [0: 4, 1: 8], lanes = 1: 8, transpose = 0>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<12x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    metaop.yield %r : tensor<8x12xf32>
  }
  return %k : tensor<8x12xf32>
}

// -----

// Their loops are the innermost.
func.func private @outer_tile(%x: tensor<12x8xf32>) -> tensor<8x12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<8x12xf32> {
    // expected-error @below {{(P8) transposes tiles that are not square, of the width of vectors, or whose loops, of the rows and of the lanes, are not the innermost}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0, 8), step(0, 4)], tile = [0: 4, 1: 4], lanes = 1: 4, transpose = 0>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<12x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    metaop.yield %r : tensor<8x12xf32>
  }
  return %k : tensor<8x12xf32>
}

// -----

// Threads share rows of tiles in strips only.
func.func private @parallel_rows(%x: tensor<12x8xf32>) -> tensor<8x12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<8x12xf32> {
    // expected-error @below {{(P8) loop 0 is parallel and cannot be the rows of a tile, unless a further loop of it stands inside}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[parallel(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 1: 4, transpose = 0>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<12x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    metaop.yield %r : tensor<8x12xf32>
  }
  return %k : tensor<8x12xf32>
}

// -----

// Copies behind the end add nothing where they are stored, but all to a sum.
func.func private @masked_sum(%x: tensor<12x8xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<12xf32> {
    // expected-error @below {{(P5) masks copies of loop 1, but result 0 is reduced over it}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 3)], tile = [1: 3]>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<12x8xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// -----

// Which copies lie behind the end is known when it is compiled.
func.func private @masked_dynamic(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  %k = metaop.kernel(%kx = %x : tensor<?x8xf32>) -> tensor<?xf32> {
    // expected-error @below {{(P5) masks copies of loop 0, whose extent is not known}}
    %r = metaop.fused(%bx = %kx : tensor<?x8xf32>) -> tensor<?xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1)], tile = [0: 4]>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
      metaop.yield %y : tensor<?xf32>
    }
    metaop.yield %r : tensor<?xf32>
  }
  return %k : tensor<?xf32>
}

// -----

// Sums of floats are pairwise, and nothing else.
func.func private @pairwise_maximum(%x: tensor<100xf32>) -> tensor<f32> {
  %k = metaop.kernel(%kx = %x : tensor<100xf32>) -> tensor<f32> {
    // expected-error @below {{(P11) schedule has `pairwise`, but no result is a sum of floats}}
    %r = metaop.fused(%bx = %kx : tensor<100xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[step(0)], pairwise = 32>) {
      %y = metaop.reduce max %bx dims = [0] : tensor<100xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}

// -----

// Blocks of a contraction's sum are levels.
func.func private @pairwise_blocks(%x: tensor<8x24xf32>, %w: tensor<24x32xf32>) -> tensor<8x32xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x24xf32>, %kw = %w : tensor<24x32xf32>) -> tensor<8x32xf32> {
    // expected-error @below {{(P11) has `pairwise`, which is for plain nests of loops: levels of its sum are blocks}}
    %r = metaop.fused(%a = %kx : tensor<8x24xf32>, %b = %kw : tensor<24x32xf32>) -> tensor<8x32xf32>
        schedule(#metaop.schedule<[parallel(0, 4), step(1, 12), step(2, 16), step(0, 2), step(1)], tile = [0: 2, 2: 16], lanes = 2: 8, pairwise = 32>) role(contraction) {
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

// -----

// A GPU's levels are no loops of a CPU.
func.func private @for_a_gpu(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<12x8xf32> {
    // expected-error @below {{(P1) schedule is for a GPU: only there are `cluster`, `block`, `warp`, `thread`, `staged` and `place`}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<12x8xf32>
        schedule(#metaop.schedule<[block(0, 32), thread(0)]>) {
      %y = metaop.exp %bx : tensor<12x8xf32>
      metaop.yield %y : tensor<12x8xf32>
    }
    metaop.yield %r : tensor<12x8xf32>
  }
  return %k : tensor<12x8xf32>
}
