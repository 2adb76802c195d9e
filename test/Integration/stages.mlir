// Kernels of several stages in one loop tree, scheduled by hand: compiled as they
// stand, they give what the stages give one after another.

// RUN: metaop-run %s --compare --seed=1 | FileCheck %s
// RUN: metaop-run %s --compare --seed=2 | FileCheck %s

// Instance norm: for each image and channel, the mean, the variance around it, and
// the normalised image, in one parallel loop. Mean and variance stay inside.
// CHECK: instance_norm: 1 results agree
func.func @instance_norm(%x: tensor<3x5x67xf32>) -> tensor<3x5x67xf32> {
  %k = metaop.kernel(%kx = %x : tensor<3x5x67xf32>) -> tensor<3x5x67xf32> {
    %mean = metaop.fused(%a = %kx : tensor<3x5x67xf32>) -> tensor<3x5xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 8>) {
      %c = metaop.constant dense<0.0149253731> : tensor<3x5x67xf32>
      %0 = metaop.mul %a, %c : tensor<3x5x67xf32>
      %1 = metaop.reduce add %0 dims = [2] : tensor<3x5x67xf32> -> tensor<3x5xf32>
      metaop.yield %1 : tensor<3x5xf32>
    }
    %variance = metaop.fused(%a = %kx : tensor<3x5x67xf32>, %m = %mean : tensor<3x5xf32>) -> tensor<3x5xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 1>) {
      %c = metaop.constant dense<0.0149253731> : tensor<3x5x67xf32>
      %0 = metaop.broadcast %m dims = [0, 1] : tensor<3x5xf32> -> tensor<3x5x67xf32>
      %1 = metaop.sub %a, %0 : tensor<3x5x67xf32>
      %2 = metaop.mul %1, %1 : tensor<3x5x67xf32>
      %3 = metaop.mul %2, %c : tensor<3x5x67xf32>
      %4 = metaop.reduce add %3 dims = [2] : tensor<3x5x67xf32> -> tensor<3x5xf32>
      metaop.yield %4 : tensor<3x5xf32>
    }
    %y = metaop.fused(%a = %kx : tensor<3x5x67xf32>, %m = %mean : tensor<3x5xf32>,
                      %v = %variance : tensor<3x5xf32>) -> tensor<3x5x67xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 1>) {
      %c = metaop.constant dense<1.0e-5> : tensor<3x5x67xf32>
      %0 = metaop.broadcast %m dims = [0, 1] : tensor<3x5xf32> -> tensor<3x5x67xf32>
      %1 = metaop.broadcast %v dims = [0, 1] : tensor<3x5xf32> -> tensor<3x5x67xf32>
      %2 = metaop.add %1, %c : tensor<3x5x67xf32>
      %3 = metaop.sqrt %2 : tensor<3x5x67xf32>
      %4 = metaop.sub %a, %0 : tensor<3x5x67xf32>
      %5 = metaop.div %4, %3 : tensor<3x5x67xf32>
      metaop.yield %5 : tensor<3x5x67xf32>
    }
    metaop.yield %y : tensor<3x5x67xf32>
  }
  return %k : tensor<3x5x67xf32>
}

// Softmax of rows; the exponentials are a buffer of the kernel's own that the last
// stage reads. The rows are not parallel here.
// CHECK: softmax: 2 results agree
func.func @softmax(%x: tensor<9x21xf32>) -> (tensor<9x21xf32>, tensor<9xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<9x21xf32>) -> (tensor<9x21xf32>, tensor<9xf32>) {
    %most = metaop.fused(%a = %kx : tensor<9x21xf32>) -> tensor<9xf32>
        schedule(#metaop.schedule<[step(0), step(1, 4, body)], tile = [1: 4]>) {
      %0 = metaop.reduce max %a dims = [1] : tensor<9x21xf32> -> tensor<9xf32>
      metaop.yield %0 : tensor<9xf32>
    }
    %e, %sum = metaop.fused(%a = %kx : tensor<9x21xf32>, %m = %most : tensor<9xf32>)
        -> (tensor<9x21xf32>, tensor<9xf32>)
        schedule(#metaop.schedule<[step(0), step(1, 8)], tile = [1: 8], lanes = 1: 8, shared = 1>) {
      %0 = metaop.broadcast %m dims = [0] : tensor<9xf32> -> tensor<9x21xf32>
      %1 = metaop.sub %a, %0 : tensor<9x21xf32>
      %2 = metaop.exp %1 : tensor<9x21xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<9x21xf32> -> tensor<9xf32>
      metaop.yield %2, %3 : tensor<9x21xf32>, tensor<9xf32>
    }
    %y = metaop.fused(%a = %e : tensor<9x21xf32>, %s = %sum : tensor<9xf32>) -> tensor<9x21xf32>
        schedule(#metaop.schedule<[step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 1>) {
      %0 = metaop.broadcast %s dims = [0] : tensor<9xf32> -> tensor<9x21xf32>
      %1 = metaop.div %a, %0 : tensor<9x21xf32>
      metaop.yield %1 : tensor<9x21xf32>
    }
    metaop.yield %y, %sum : tensor<9x21xf32>, tensor<9xf32>
  }
  return %k#0, %k#1 : tensor<9x21xf32>, tensor<9xf32>
}

// A convolution with bias and ReLU as its epilogue, on one row of the result at a
// time. The stages share three loops, the first two of which are parallel.
// CHECK: convolution: 1 results agree
func.func @convolution(%x: tensor<2x3x6x20xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>)
    -> tensor<2x4x6x20xf32> {
  %k = metaop.kernel(%kx = %x : tensor<2x3x6x20xf32>, %kw = %w : tensor<4x3x3x3xf32>,
                     %kb = %b : tensor<4xf32>) -> tensor<2x4x6x20xf32> {
    %sum = metaop.fused(%p = %kx : tensor<2x3x6x20xf32>, %q = %kw : tensor<4x3x3x3xf32>) -> tensor<2x4x6x20xf32>
        schedule(#metaop.schedule<[parallel(0), parallel(1), step(2), step(3, 8), step(4), step(5), step(6)], tile = [3: 8], lanes = 3: 8>) {
      %0 = metaop.reindex %p map affine_map<(n, o, h, w, c, i, j) -> (n, c, h + i - 1, w + j - 1)> fill 0.0 : f32
          : tensor<2x3x6x20xf32> -> tensor<2x4x6x20x3x3x3xf32>
      %1 = metaop.broadcast %q dims = [1, 4, 5, 6] : tensor<4x3x3x3xf32> -> tensor<2x4x6x20x3x3x3xf32>
      %2 = metaop.mul %0, %1 : tensor<2x4x6x20x3x3x3xf32>
      %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<2x4x6x20x3x3x3xf32> -> tensor<2x4x6x20xf32>
      metaop.yield %3 : tensor<2x4x6x20xf32>
    }
    %y = metaop.fused(%a = %sum : tensor<2x4x6x20xf32>, %c = %kb : tensor<4xf32>, %p = %kx : tensor<2x3x6x20xf32>)
        -> tensor<2x4x6x20xf32>
        schedule(#metaop.schedule<[parallel(0), parallel(1), step(2), step(3, 16)], tile = [3: 16], lanes = 3: 16, shared = 3>) {
      // The border keeps rows and columns apart.
      %0 = metaop.reindex %p map affine_map<(n, o, h, w) -> (n, 0, h - 1, w)> fill 0.0 : f32
          : tensor<2x3x6x20xf32> -> tensor<2x4x6x20xf32>
      %1 = metaop.broadcast %c dims = [1] : tensor<4xf32> -> tensor<2x4x6x20xf32>
      %2 = metaop.add %a, %1 : tensor<2x4x6x20xf32>
      %3 = metaop.add %2, %0 : tensor<2x4x6x20xf32>
      %4 = metaop.constant dense<0.0> : tensor<2x4x6x20xf32>
      %5 = metaop.max %3, %4 : tensor<2x4x6x20xf32>
      metaop.yield %5 : tensor<2x4x6x20xf32>
    }
    metaop.yield %y : tensor<2x4x6x20xf32>
  }
  return %k : tensor<2x4x6x20xf32>
}

// The element of the row's mean is written while other rows are still to be read:
// a donated argument is not written over (see Transforms/MemoryPlan), or the second
// stage would change what the first reads in the next iteration.
// CHECK: mirrored: 2 results agree
func.func @mirrored(%x: tensor<8x12xf32> {metaop.donatable}) -> (tensor<8x12xf32>, tensor<8xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8xf32>) {
    %sum = metaop.fused(%a = %kx : tensor<8x12xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %0 = metaop.reindex %a map affine_map<(i, j) -> (7 - i, j)> fill 0.0 : f32
          : tensor<8x12xf32> -> tensor<8x12xf32>
      %1 = metaop.reduce add %0 dims = [1] : tensor<8x12xf32> -> tensor<8xf32>
      metaop.yield %1 : tensor<8xf32>
    }
    %y = metaop.fused(%a = %kx : tensor<8x12xf32>, %s = %sum : tensor<8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[step(0), step(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 1>) {
      %0 = metaop.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x12xf32>
      %1 = metaop.add %a, %0 : tensor<8x12xf32>
      metaop.yield %1 : tensor<8x12xf32>
    }
    metaop.yield %y, %sum : tensor<8x12xf32>, tensor<8xf32>
  }
  return %k#0, %k#1 : tensor<8x12xf32>, tensor<8xf32>
}

// The same without shared loops: there the first stage is over, and the plan may
// write in place.
// CHECK: one_after_another: 1 results agree
func.func @one_after_another(%x: tensor<8x12xf32> {metaop.donatable}) -> tensor<8x12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x12xf32>) -> tensor<8x12xf32> {
    %sum = metaop.fused(%a = %kx : tensor<8x12xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %0 = metaop.reindex %a map affine_map<(i, j) -> (7 - i, j)> fill 0.0 : f32
          : tensor<8x12xf32> -> tensor<8x12xf32>
      %1 = metaop.reduce add %0 dims = [1] : tensor<8x12xf32> -> tensor<8xf32>
      metaop.yield %1 : tensor<8xf32>
    }
    %y = metaop.fused(%a = %kx : tensor<8x12xf32>, %s = %sum : tensor<8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[step(0), step(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %0 = metaop.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x12xf32>
      %1 = metaop.add %a, %0 : tensor<8x12xf32>
      metaop.yield %1 : tensor<8x12xf32>
    }
    metaop.yield %y : tensor<8x12xf32>
  }
  return %k : tensor<8x12xf32>
}

// Two stages without a schedule among them get one each.
// CHECK: unscheduled: 1 results agree
func.func @unscheduled(%x: tensor<8x12xf32>) -> tensor<8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x12xf32>) -> tensor<8xf32> {
    %e = metaop.fused(%a = %kx : tensor<8x12xf32>) -> tensor<8x12xf32> {
      %0 = metaop.exp %a : tensor<8x12xf32>
      metaop.yield %0 : tensor<8x12xf32>
    }
    %s = metaop.fused(%a = %e : tensor<8x12xf32>) -> tensor<8xf32> {
      %0 = metaop.reduce add %a dims = [1] : tensor<8x12xf32> -> tensor<8xf32>
      metaop.yield %0 : tensor<8xf32>
    }
    metaop.yield %s : tensor<8xf32>
  }
  return %k : tensor<8xf32>
}
