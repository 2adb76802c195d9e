// RUN: metaop-opt %s -metaop-verify-schedules -split-input-file -verify-diagnostics
// RUN: metaop-opt %s -convert-metaop-to-vector -split-input-file -verify-diagnostics

// Rules of plain loops: tiles that are transposed, unrolled loops, and what
// stages share. More are in Conversion/MetaOpToVector/invalid.mlir.

// Rows of a tile that is transposed are shuffled, by more code than rows.
func.func private @many_rows(%x: tensor<128x64xf32>) -> tensor<64x128xf32> {
  %k = metaop.kernel(%kx = %x : tensor<128x64xf32>) -> tensor<64x128xf32> {
    // expected-error @below {{(P2) schedule has tiles of 64 rows, but at most 32 can be compiled}}
    %r = metaop.fused(%bx = %kx : tensor<128x64xf32>) -> tensor<64x128xf32>
        schedule(#metaop.schedule<[step(0, 64), step(1, 64)], tile = [0: 64, 1: 64], lanes = 1: 64, transpose = 0>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<128x64xf32> -> tensor<64x128xf32>
      metaop.yield %y : tensor<64x128xf32>
    }
    metaop.yield %r : tensor<64x128xf32>
  }
  return %k : tensor<64x128xf32>
}

// -----

// A tile's rows are stored.
func.func private @summed_rows(%x: tensor<12x8xf32>) -> tensor<8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<8xf32> {
    // expected-error @below {{(P8) loop 0 cannot be the rows of a tile: result 0 is reduced}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 1: 4, transpose = 0>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<12x8xf32> -> tensor<8xf32>
      metaop.yield %y : tensor<8xf32>
    }
    metaop.yield %r : tensor<8xf32>
  }
  return %k : tensor<8xf32>
}

// -----

// Stages share no rows of tiles.
func.func private @shared_rows(%x: tensor<12x8xf32>) -> (tensor<8x12xf32>, tensor<8xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> (tensor<8x12xf32>, tensor<8xf32>) {
    // expected-error @below {{(P8) loop 0 is shared with another stage and cannot be the rows of a tile}}
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 1: 4, transpose = 0>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<12x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    %s = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(1), step(0)], shared = 1>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<12x8xf32> -> tensor<8xf32>
      metaop.yield %y : tensor<8xf32>
    }
    metaop.yield %r, %s : tensor<8x12xf32>, tensor<8xf32>
  }
  return %k#0, %k#1 : tensor<8x12xf32>, tensor<8xf32>
}

// -----

// What is emitted is not shared.
func.func private @emitted_shared(%x: tensor<8x12xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<8x12xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %r = metaop.fused(%bx = %kx : tensor<8x12xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<8x12xf32> -> tensor<8xf32>
      metaop.yield %y : tensor<8xf32>
    }
    // expected-error @below {{(P6) emits the iterations of loop 1, which is parallel or shared}}
    %s = metaop.fused(%bx = %kx : tensor<8x12xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(0), step(1)], unroll = [1], shared = 2>) {
      %y = metaop.reduce max %bx dims = [1] : tensor<8x12xf32> -> tensor<8xf32>
      metaop.yield %y : tensor<8xf32>
    }
    metaop.yield %r, %s : tensor<8xf32>, tensor<8xf32>
  }
  return %k#0, %k#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Stages inside of a kernel have memory of a size that is known.
func.func private @dynamic_local(%x: tensor<?xf32>) -> tensor<?xf32> {
  %k = metaop.kernel(%kx = %x : tensor<?xf32>) -> tensor<?xf32> {
    // expected-error @below {{(P17) holds a value inside of the kernel that does not fit its local memory of 65536 bytes: 'tensor<?xf32>'}}
    %p = metaop.fused(%a = %kx : tensor<?xf32>) -> tensor<?xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<?xf32>
      metaop.yield %y : tensor<?xf32>
    }
    %r = metaop.fused(%a = %p : tensor<?xf32>) -> tensor<?xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<?xf32>
      metaop.yield %y : tensor<?xf32>
    }
    metaop.yield %r : tensor<?xf32>
  }
  return %k : tensor<?xf32>
}

// -----

// So would numbers that a generator takes.
func.func private @generated(%x: tensor<12xi64>) -> (tensor<i64>, tensor<12xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<12xi64>) -> (tensor<i64>, tensor<12xf32>) {
    %p = metaop.fused(%a = %kx : tensor<12xi64>) -> tensor<i64>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.reduce add %a dims = [0] : tensor<12xi64> -> tensor<i64>
      metaop.yield %y : tensor<i64>
    }
    // expected-error @below {{(P16) shares 1 loops with a stage before they have computed what it reads of that stage}}
    %r = metaop.fused(%a = %p : tensor<i64>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)], shared = 1>) {
      %y = metaop.random %a, %a : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %p, %r : tensor<i64>, tensor<12xf32>
  }
  return %k#0, %k#1 : tensor<i64>, tensor<12xf32>
}
