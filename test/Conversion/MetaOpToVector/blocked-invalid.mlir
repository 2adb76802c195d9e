// RUN: metaop-opt %s -split-input-file -verify-diagnostics -convert-metaop-to-vector
// RUN: metaop-opt %s -metaop-verify-schedules -split-input-file -verify-diagnostics

// What follows a contraction in its blocks, and may not as it says.

// Rows are not whole in a block.
func.func private @part_of_a_row(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P23) shares blocks of loops with a contraction, but does not compute from these blocks alone, element by element or by whole rows}}
    %m = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(1, 16), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 3>) role(epilogue) {
      %0 = metaop.reduce max %c dims = [1] : tensor<28x48xf32> -> tensor<28xf32>
      metaop.yield %0 : tensor<28xf32>
    }
    %y = metaop.fused(%c = %r : tensor<28x48xf32>, %n = %m : tensor<28xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(1, 16), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 4>) role(epilogue) {
      %0 = metaop.broadcast %n dims = [0] : tensor<28xf32> -> tensor<28x48xf32>
      %1 = metaop.sub %c, %0 : tensor<28x48xf32>
      metaop.yield %1 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// All epilogues run in the same blocks.
func.func private @fewer(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    %m = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.reduce max %c dims = [1] : tensor<28x48xf32> -> tensor<28xf32>
      metaop.yield %0 : tensor<28xf32>
    }
    // expected-error @below {{(P21) is the epilogue of a contraction and shares fewer loops than the epilogue before it}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>, %n = %m : tensor<28xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 1>) role(epilogue) {
      %0 = metaop.broadcast %n dims = [0] : tensor<28xf32> -> tensor<28x48xf32>
      %1 = metaop.sub %c, %0 : tensor<28x48xf32>
      metaop.yield %1 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Rows of a block may be fewer than those side by side.
func.func private @side_by_side(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P23) is an epilogue of a contraction and does several iterations side by side of loop 0, of which it shares blocks}}
    %m = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0, 7), step(1)], tile = [0: 7], shared = 2>) role(epilogue) {
      %0 = metaop.reduce max %c dims = [1] : tensor<28x48xf32> -> tensor<28xf32>
      metaop.yield %0 : tensor<28xf32>
    }
    %y = metaop.fused(%c = %r : tensor<28x48xf32>, %n = %m : tensor<28xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.broadcast %n dims = [0] : tensor<28xf32> -> tensor<28x48xf32>
      %1 = metaop.sub %c, %0 : tensor<28x48xf32>
      metaop.yield %1 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Sums of the rows of other blocks lie in the same memory.
func.func private @in_memory(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P23) is an epilogue of a contraction and combines result 0 in memory}}
    %m = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(1), step(0)], shared = 2>) role(epilogue) {
      %0 = metaop.reduce max %c dims = [1] : tensor<28x48xf32> -> tensor<28xf32>
      metaop.yield %0 : tensor<28xf32>
    }
    %y = metaop.fused(%c = %r : tensor<28x48xf32>, %n = %m : tensor<28xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.broadcast %n dims = [0] : tensor<28xf32> -> tensor<28x48xf32>
      %1 = metaop.sub %c, %0 : tensor<28x48xf32>
      metaop.yield %1 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// The first epilogue shares the loops of the contraction only.
func.func private @other_loop(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(2, 16), step(0, 7), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    %m = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 1>) role(epilogue) {
      %0 = metaop.reduce max %c dims = [1] : tensor<28x48xf32> -> tensor<28xf32>
      metaop.yield %0 : tensor<28xf32>
    }
    // expected-error @below {{(P23) shares loop 0 inside of a block with an epilogue that goes through another part of it there}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>, %n = %m : tensor<28xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(1, 16), step(0)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.broadcast %n dims = [0] : tensor<28xf32> -> tensor<28x48xf32>
      %1 = metaop.sub %c, %0 : tensor<28x48xf32>
      metaop.yield %1 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Until the last block of the sum there is no row of it.
func.func private @incomplete(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(1, 4), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P24) stands inside of blocks of a sum and has no result whose memory could hold what is not complete}}
    %m = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.reduce max %c dims = [1] : tensor<28x48xf32> -> tensor<28xf32>
      metaop.yield %0 : tensor<28xf32>
    }
    %y = metaop.fused(%c = %r : tensor<28x48xf32>, %n = %m : tensor<28xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 3>) role(epilogue) {
      %0 = metaop.broadcast %n dims = [0] : tensor<28xf32> -> tensor<28x48xf32>
      %1 = metaop.sub %c, %0 : tensor<28x48xf32>
      metaop.yield %1 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}
