// RUN: metaop-opt %s -convert-metaop-to-gpu -canonicalize -cse | FileCheck %s

// Each thread goes along its own line, and carries what came before.
// CHECK-LABEL: gpu.func @columns(
// CHECK:         scf.for %[[I:.*]] = %c0 to %c60 step %c1 iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32)
// CHECK:           %[[SUM:.*]] = arith.addf %[[SO_FAR]], %{{.*}} : f32
// CHECK:           scf.if
// CHECK:             memref.store %[[SUM]]
// CHECK:           scf.yield %[[SUM]]
func.func private @columns(%x: tensor<60x40xf32>) -> tensor<60x40xf32> {
  %k = metaop.kernel(%kx = %x : tensor<60x40xf32>) -> tensor<60x40xf32> {
    %r = metaop.fused(%a = %kx : tensor<60x40xf32>) -> tensor<60x40xf32>
        schedule(#metaop.schedule<[block(1, 32), thread(1), step(0)]>) {
      %p = metaop.prefix add %a dim = 0 : tensor<60x40xf32>
      metaop.yield %p : tensor<60x40xf32>
    }
    metaop.yield %r : tensor<60x40xf32>
  }
  return %k : tensor<60x40xf32>
}
