// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// Nothing is reduced: the results are the identity, and there are no loops.
// CHECK-LABEL: func @reduced(
// CHECK-SAME:    range = 1
// CHECK:         %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK:         scf.for %[[I:.*]] = %c0 to %c12
// CHECK-NEXT:      memref.store %[[LOWEST]], %{{.*}}[%[[I]]]
// CHECK-NOT:     scf.for
func.func private @reduced(%x: tensor<0x12xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<0x12xf32>) -> tensor<12xf32> {
    %r = metaop.fused(%bx = %kx : tensor<0x12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[parallel(1, 8), step(0)], tile = [1: 8], lanes = 1: 8>) {
      %y = metaop.reduce max %bx dims = [0] : tensor<0x12xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// CHECK-LABEL: func @elementwise(
// CHECK-NOT:     scf.for
// CHECK:         return
func.func private @elementwise(%x: tensor<3x0xf32>) -> tensor<3x0xf32> {
  %k = metaop.kernel(%kx = %x : tensor<3x0xf32>) -> tensor<3x0xf32> {
    %r = metaop.fused(%bx = %kx : tensor<3x0xf32>) -> tensor<3x0xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %bx : tensor<3x0xf32>
      metaop.yield %y : tensor<3x0xf32>
    }
    metaop.yield %r : tensor<3x0xf32>
  }
  return %k : tensor<3x0xf32>
}

// A kernel without stages does nothing.
// CHECK-LABEL: func @no_stages(
// CHECK-NEXT:    return
func.func private @no_stages() {
  metaop.kernel() {
  }
  return
}

// An empty stage between two that share a loop with it: its results are set
// before, and the two share the loop without it.
// CHECK-LABEL: func @between(
// CHECK:         scf.for %{{.*}} = %c0 to %c4
// CHECK-NEXT:      memref.store
// CHECK:         scf.for %{{.*}} = %c0 to %c4
// CHECK:           memref.store
// CHECK:           memref.load
// CHECK:           memref.load
// CHECK:           memref.store
// CHECK-NOT:     scf.for
func.func private @between(%x: tensor<4xf32>, %z: tensor<4x0xf32>) -> tensor<4xf32> {
  %k = metaop.kernel(%kx = %x : tensor<4xf32>, %kz = %z : tensor<4x0xf32>) -> tensor<4xf32> {
    %p = metaop.fused(%a = %kx : tensor<4xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    %q = metaop.fused(%a = %kz : tensor<4x0xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[step(0), step(1)], shared = 1>) {
      %y = metaop.reduce max %a dims = [1] : tensor<4x0xf32> -> tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    %r = metaop.fused(%a = %p : tensor<4xf32>, %b = %q : tensor<4xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[step(0)], shared = 1>) {
      %y = metaop.max %a, %b : tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    metaop.yield %r : tensor<4xf32>
  }
  return %k : tensor<4xf32>
}
