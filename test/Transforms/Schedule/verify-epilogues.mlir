// RUN: metaop-opt %s -metaop-verify-schedules -split-input-file -verify-diagnostics
// RUN: metaop-opt %s -convert-metaop-to-vector -split-input-file -verify-diagnostics

// Rules of what follows a contraction in its blocks: which loops it has, and where
// it stands.

// Prefixes have loops of their own.
func.func private @prefixes(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P13) has prefixes, beside a contraction in blocks}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1)], shared = 2>) role(epilogue) {
      %0 = metaop.prefix add %c dim = 1 : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// What follows shares blocks.
func.func private @shares_nothing(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{(P18) schedule has several loops of one dimension, a tile of several or a tail of `sizes`, but the stage shares its kernel}}
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// It stands inside of what threads share,
func.func private @outside(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), parallel(2, 16), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P21) is the epilogue of a contraction outside of a parallel loop, or inside of a tile}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 1>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// and outside of tiles,
func.func private @inside(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P21) is the epilogue of a contraction outside of a parallel loop, or inside of a tile}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(1, 16), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 4>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// in plain loops: no tiles that are transposed,
func.func private @transposed(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 4), step(2, 32), step(0, 4), step(2, 16), step(1)], tile = [0: 4, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P23) is the epilogue of a contraction and transposes, emits loops of a sum, or streams a result}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 4), step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 1: 4, transpose = 0, shared = 1>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// no loops that are emitted,
func.func private @emitted(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P23) is the epilogue of a contraction and transposes, emits loops of a sum, or streams a result}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1)], unroll = [1], shared = 2>) role(epilogue) {
      %0 = metaop.reduce max %c dims = [1] : tensor<28x48xf32> -> tensor<28xf32>
      metaop.yield %0 : tensor<28xf32>
    }
    metaop.yield %y : tensor<28xf32>
  }
  return %k : tensor<28xf32>
}

// -----

// and no results past the caches.
func.func private @streamed(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P23) is the epilogue of a contraction and transposes, emits loops of a sum, or streams a result}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, stream = [0], shared = 2>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Inside of the tile there is nothing to share.
func.func private @more_shared(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(1, 4), step(0, 7), step(1), step(2, 16)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P21) is the epilogue of a contraction and shares more of its loops than those outside of the tile}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(1, 16), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 3>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Each dimension has a loop inside of the blocks.
func.func private @no_loop(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P21) has no loop of some dimension inside of the blocks that it shares with a contraction}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(1, 16)], tile = [0: 7, 1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Inside of the blocks nothing is parallel.
func.func private @twice_parallel(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(1, 4), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P21) has two loops of dimension 1 inside of the blocks that it shares with a contraction}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), parallel(1, 16), step(0)], tile = [1: 16], lanes = 1: 16, shared = 1>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// A shared loop is of one kind.
func.func private @other_kind(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P21) shares loop 0 with a stage that has another one there}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// It is of one dimension.
func.func private @other_dimension(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P21) shares loop 1 with a stage that has another one there}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(1, 7), step(0), step(1)], shared = 2>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Sums of a block are on the stack.
func.func private @many_sums(%x: tensor<128x8xf32>, %w: tensor<8x512xf32>) -> tensor<128x512xf32> {
  %k = metaop.kernel(%kx = %x : tensor<128x8xf32>, %kw = %w : tensor<8x512xf32>) -> tensor<128x512xf32> {
    %r = metaop.fused(%a = %kx : tensor<128x8xf32>, %b = %kw : tensor<8x512xf32>) -> tensor<128x512xf32>
        schedule(#metaop.schedule<[step(2, 512), step(0, 4), step(2, 16), step(1)], tile = [0: 4, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<128x8xf32> -> tensor<128x8x512xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x512xf32> -> tensor<128x8x512xf32>
      %2 = metaop.mul %0, %1 : tensor<128x8x512xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<128x8x512xf32> -> tensor<128x512xf32>
      metaop.yield %3 : tensor<128x512xf32>
    }
    // expected-error @below {{(P24) shares blocks of 65536 sums, but at most 131072 bytes fit}}
    %y = metaop.fused(%c = %r : tensor<128x512xf32>) -> tensor<128x512xf32>
        schedule(#metaop.schedule<[step(1, 512), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 1>) role(epilogue) {
      %0 = metaop.exp %c : tensor<128x512xf32>
      metaop.yield %0 : tensor<128x512xf32>
    }
    metaop.yield %y : tensor<128x512xf32>
  }
  return %k : tensor<128x512xf32>
}

// -----

// Sums that are not complete lie in a result: that of one epilogue,
func.func private @two_inside_of_sums(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
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
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    %z = metaop.fused(%c = %y : tensor<28x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.neg %c : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %z : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// of the same type,
func.func private @other_type(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf16> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf16> {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(1, 4), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P24) stands inside of blocks of a sum and has no result whose memory could hold what is not complete}}
    %y = metaop.fused(%c = %r : tensor<28x48xf32>) -> tensor<28x48xf16>
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.cast %c : tensor<28x48xf32> -> tensor<28x48xf16>
      metaop.yield %0 : tensor<28x48xf16>
    }
    metaop.yield %y : tensor<28x48xf16>
  }
  return %k : tensor<28x48xf16>
}

// -----

// which it has before its own sums begin.
func.func private @sums_of_sums(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> (tensor<28x48xf32>, tensor<28xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> (tensor<28x48xf32>, tensor<28xf32>) {
    %r = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[parallel(0, 14), step(1, 4), step(0, 7), step(2, 16), step(1)], tile = [0: 7, 2: 16], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{(P24) stands inside of blocks of a sum and has no result whose memory could hold what is not complete}}
    %y:2 = metaop.fused(%c = %r : tensor<28x48xf32>) -> (tensor<28x48xf32>, tensor<28xf32>)
        schedule(#metaop.schedule<[parallel(0, 14), step(0, 7), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue) {
      %0 = metaop.exp %c : tensor<28x48xf32>
      %1 = metaop.reduce max %c dims = [1] : tensor<28x48xf32> -> tensor<28xf32>
      metaop.yield %0, %1 : tensor<28x48xf32>, tensor<28xf32>
    }
    metaop.yield %y#0, %y#1 : tensor<28x48xf32>, tensor<28xf32>
  }
  return %k#0, %k#1 : tensor<28x48xf32>, tensor<28xf32>
}
