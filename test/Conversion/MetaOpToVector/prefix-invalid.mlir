// RUN: metaop-opt %s -convert-metaop-to-vector -split-input-file -verify-diagnostics
// RUN: metaop-opt %s -metaop-verify-schedules -split-input-file -verify-diagnostics

func.func @not_innermost(%x: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6x10xf32> {
    // expected-error @below {{(P13) loop 1 carries prefixes, and has to be the innermost loop, and one loop}}
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6x10xf32>
        schedule(#metaop.schedule<[step(1), step(0)]>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<6x10xf32>
      metaop.yield %p0 : tensor<6x10xf32>
    }
    metaop.yield %r : tensor<6x10xf32>
  }
  return %k : tensor<6x10xf32>
}

// -----

func.func @two_loops(%x: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6x10xf32> {
    // expected-error @below {{(P13) loop 1 carries prefixes, and has to be the innermost loop, and one loop}}
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6x10xf32>
        schedule(#metaop.schedule<[step(1, 5), step(0), step(1)]>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<6x10xf32>
      metaop.yield %p0 : tensor<6x10xf32>
    }
    metaop.yield %r : tensor<6x10xf32>
  }
  return %k : tensor<6x10xf32>
}

// -----

func.func @parallel(%x: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6x10xf32> {
    // expected-error @below {{(P13) loop 1 carries prefixes, and cannot be parallel or shared with another stage}}
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6x10xf32>
        schedule(#metaop.schedule<[parallel(0), parallel(1)]>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<6x10xf32>
      metaop.yield %p0 : tensor<6x10xf32>
    }
    metaop.yield %r : tensor<6x10xf32>
  }
  return %k : tensor<6x10xf32>
}

// -----

func.func @lanes(%x: tensor<6x16xf32>) -> tensor<6x16xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x16xf32>) -> tensor<6x16xf32> {
    // expected-error @below {{(P13) loop 1 carries prefixes, and cannot be the vector loop}}
    %r = metaop.fused(%a = %kx : tensor<6x16xf32>) -> tensor<6x16xf32>
        schedule(#metaop.schedule<[step(0), step(1, 8)], tile = [1: 8], lanes = 1: 8>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<6x16xf32>
      metaop.yield %p0 : tensor<6x16xf32>
    }
    metaop.yield %r : tensor<6x16xf32>
  }
  return %k : tensor<6x16xf32>
}

// -----

func.func @copies(%x: tensor<6x16xf32>) -> tensor<6x16xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x16xf32>) -> tensor<6x16xf32> {
    // expected-error @below {{(P13) loop 1 carries prefixes, and cannot have copies side by side, but for the rows of a tile}}
    %r = metaop.fused(%a = %kx : tensor<6x16xf32>) -> tensor<6x16xf32>
        schedule(#metaop.schedule<[step(0), step(1, 4)], tile = [1: 4]>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<6x16xf32>
      metaop.yield %p0 : tensor<6x16xf32>
    }
    metaop.yield %r : tensor<6x16xf32>
  }
  return %k : tensor<6x16xf32>
}

// -----

func.func @dimensions(%x: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6x10xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6x10xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<6x10xf32>
      // expected-error @below {{goes along another dimension, or in another direction, than a prefix before it in one stage}}
      %p1 = metaop.prefix add %p0 dim = 0 : tensor<6x10xf32>
      metaop.yield %p1 : tensor<6x10xf32>
    }
    metaop.yield %r : tensor<6x10xf32>
  }
  return %k : tensor<6x10xf32>
}

// -----

func.func @directions(%x: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6x10xf32> {
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6x10xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %p0 = metaop.prefix add %a dim = 1 : tensor<6x10xf32>
      // expected-error @below {{goes along another dimension, or in another direction, than a prefix before it in one stage}}
      %p1 = metaop.prefix max %p0 dim = 1 reverse : tensor<6x10xf32>
      metaop.yield %p1 : tensor<6x10xf32>
    }
    metaop.yield %r : tensor<6x10xf32>
  }
  return %k : tensor<6x10xf32>
}

// -----

// Nor is the loop one that stages share.
func.func @shared(%x: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6x10xf32> {
    // expected-error @below {{(P13) loop 1 carries prefixes, and cannot be parallel or shared with another stage}}
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6x10xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %p = metaop.prefix add %a dim = 1 : tensor<6x10xf32>
      metaop.yield %p : tensor<6x10xf32>
    }
    %s = metaop.fused(%a = %r : tensor<6x10xf32>) -> tensor<6x10xf32>
        schedule(#metaop.schedule<[step(0), step(1)], shared = 2>) {
      %n = metaop.prefix max %a dim = 1 : tensor<6x10xf32>
      metaop.yield %n : tensor<6x10xf32>
    }
    metaop.yield %s : tensor<6x10xf32>
  }
  return %k : tensor<6x10xf32>
}

// -----

func.func @reduction(%x: tensor<6x10xf32>) -> tensor<6xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x10xf32>) -> tensor<6xf32> {
    // expected-error @below {{has prefixes and reductions in one stage}}
    %r = metaop.fused(%a = %kx : tensor<6x10xf32>) -> tensor<6xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %p = metaop.prefix add %a dim = 1 : tensor<6x10xf32>
      %s = metaop.reduce add %p dims = [1] : tensor<6x10xf32> -> tensor<6xf32>
      metaop.yield %s : tensor<6xf32>
    }
    metaop.yield %r : tensor<6xf32>
  }
  return %k : tensor<6xf32>
}
