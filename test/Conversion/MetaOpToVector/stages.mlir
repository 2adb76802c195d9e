// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// The mean of a row and the row less it, in one loop over rows. The mean of this row
// lives in memory of the kernel's own.
// CHECK-LABEL: func @normalise(
// CHECK-SAME:    %[[X:.*]]: memref<400xf32>, %[[Y:.*]]: memref<400xf32>,
// CHECK-SAME:    metaop.entry = #metaop.entry<buffers = 2, range = 4, work_per_step = 25400>, metaop.kernel
// CHECK:         %[[MEAN:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1xf32>
// CHECK:         scf.for %[[ROW:.*]] =
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             vector.load %[[X]]
// CHECK:           memref.store %{{.*}}, %[[MEAN]][%c0]
// CHECK:           memref.load %[[MEAN]][%c0]
// CHECK:           scf.for
// CHECK:             vector.load %[[X]]
// CHECK:             vector.store %{{.*}}, %[[Y]]
func.func private @normalise(%x: tensor<4x100xf32>) -> tensor<4x100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<4x100xf32>) -> tensor<4x100xf32> {
    %mean = metaop.fused(%a = %kx : tensor<4x100xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %y = metaop.reduce add %a dims = [1] : tensor<4x100xf32> -> tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    %r = metaop.fused(%a = %kx : tensor<4x100xf32>, %m = %mean : tensor<4xf32>) -> tensor<4x100xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 1>) {
      %1 = metaop.broadcast %m dims = [0] : tensor<4xf32> -> tensor<4x100xf32>
      %y = metaop.sub %a, %1 : tensor<4x100xf32>
      metaop.yield %y : tensor<4x100xf32>
    }
    metaop.yield %r : tensor<4x100xf32>
  }
  return %k : tensor<4x100xf32>
}

// Without shared loops one stage follows the other, and nothing is parallel.
// CHECK-LABEL: func @one_after_another(
// CHECK-SAME:    range = 1
// CHECK:         scf.for %{{.*}} = %{{.*}} to
// CHECK:           scf.for %{{.*}} = %c0 to %c4
// CHECK:           }
// CHECK:           scf.for %{{.*}} = %c0 to %c4
func.func private @one_after_another(%x: tensor<4x100xf32>) -> tensor<4x100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<4x100xf32>) -> tensor<4x100xf32> {
    %mean = metaop.fused(%a = %kx : tensor<4x100xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %y = metaop.reduce add %a dims = [1] : tensor<4x100xf32> -> tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    %r = metaop.fused(%a = %kx : tensor<4x100xf32>, %m = %mean : tensor<4xf32>) -> tensor<4x100xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %1 = metaop.broadcast %m dims = [0] : tensor<4xf32> -> tensor<4x100xf32>
      %y = metaop.sub %a, %1 : tensor<4x100xf32>
      metaop.yield %y : tensor<4x100xf32>
    }
    metaop.yield %r : tensor<4x100xf32>
  }
  return %k : tensor<4x100xf32>
}

// Three stages in a tree: all share the rows, the last two each element of them.
// CHECK-LABEL: func @tree(
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %c4
// CHECK:           scf.for {{.*}} iter_args
// CHECK:           memref.store
// CHECK:           scf.for %[[J:.*]] = %c0 to %c100
// CHECK:             arith.subf
// CHECK:             memref.store
// CHECK:             memref.load
// CHECK:             math.exp
// CHECK:             memref.store
// CHECK-NOT:       scf.for
func.func private @tree(%x: tensor<4x100xf32>) -> tensor<4x100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<4x100xf32>) -> tensor<4x100xf32> {
    %mean = metaop.fused(%a = %kx : tensor<4x100xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %y = metaop.reduce add %a dims = [1] : tensor<4x100xf32> -> tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    %less = metaop.fused(%a = %kx : tensor<4x100xf32>, %m = %mean : tensor<4xf32>) -> tensor<4x100xf32>
        schedule(#metaop.schedule<[step(0), step(1)], shared = 1>) {
      %1 = metaop.broadcast %m dims = [0] : tensor<4xf32> -> tensor<4x100xf32>
      %y = metaop.sub %a, %1 : tensor<4x100xf32>
      metaop.yield %y : tensor<4x100xf32>
    }
    %r = metaop.fused(%a = %less : tensor<4x100xf32>, %m = %mean : tensor<4xf32>) -> tensor<4x100xf32>
        schedule(#metaop.schedule<[step(0), step(1)], shared = 2>) {
      %1 = metaop.broadcast %m dims = [0] : tensor<4xf32> -> tensor<4x100xf32>
      %2 = metaop.exp %a : tensor<4x100xf32>
      %y = metaop.mul %2, %1 : tensor<4x100xf32>
      metaop.yield %y : tensor<4x100xf32>
    }
    metaop.yield %r : tensor<4x100xf32>
  }
  return %k : tensor<4x100xf32>
}
