// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// What the elements before have made goes from one iteration to the next.
// CHECK-LABEL: func @line(
// CHECK-SAME:    %[[X:.*]]: memref<100xf32>, %[[Y:.*]]: memref<100xf32>
// CHECK:         %[[ZERO:.*]] = arith.constant -0.000000e+00 : f32
// CHECK:         scf.for %[[K:.*]] = %c0 to %c100 step %c1 iter_args(%[[SO_FAR:.*]] = %[[ZERO]]) -> (f32)
// CHECK:           %[[VALUE:.*]] = memref.load %[[X]][%[[K]]]
// CHECK:           %[[SUM:.*]] = arith.addf %[[SO_FAR]], %[[VALUE]]
// CHECK:           memref.store %[[SUM]], %[[Y]][%[[K]]]
// CHECK:           scf.yield %[[SUM]]
func.func private @line(%x: tensor<100xf32>) -> tensor<100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<100xf32>) -> tensor<100xf32> {
    %r = metaop.fused(%a = %kx : tensor<100xf32>) -> tensor<100xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %p = metaop.prefix add %a dim = 0 : tensor<100xf32>
      metaop.yield %p : tensor<100xf32>
    }
    metaop.yield %r : tensor<100xf32>
  }
  return %k : tensor<100xf32>
}

// Backwards from the last element on; what came before is stored.
// CHECK-LABEL: func @backwards(
// CHECK:         scf.for %[[K:.*]] = %c0 to %c100 step %c1 iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32)
// CHECK:           %[[AT:.*]] = arith.subi %c99, %[[K]]
// CHECK:           %[[VALUE:.*]] = memref.load %{{.*}}[%[[AT]]]
// CHECK:           %[[MAX:.*]] = arith.maximumf %[[SO_FAR]], %[[VALUE]]
// CHECK:           memref.store %[[SO_FAR]], %{{.*}}[%[[AT]]]
// CHECK:           scf.yield %[[MAX]]
func.func private @backwards(%x: tensor<100xf32>) -> tensor<100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<100xf32>) -> tensor<100xf32> {
    %r = metaop.fused(%a = %kx : tensor<100xf32>) -> tensor<100xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %p = metaop.prefix max %a dim = 0 reverse exclusive : tensor<100xf32>
      metaop.yield %p : tensor<100xf32>
    }
    metaop.yield %r : tensor<100xf32>
  }
  return %k : tensor<100xf32>
}

// A long line has a loop over blocks, which carries what all before it have made.
// CHECK-LABEL: func @blocks(
// CHECK:         scf.for %[[BLOCK:.*]] = %c0 to %c2100 step %c1008 iter_args(%[[CARRY:.*]] = %[[ZERO:.*]]) -> (f32)
// CHECK:           %[[BEHIND:.*]] = arith.addi %[[BLOCK]], %c1008
// CHECK:           %[[END:.*]] = arith.minsi %[[BEHIND]], %c2100
// CHECK:           %[[TOTAL:.*]] = scf.for %[[K:.*]] = %[[BLOCK]] to %[[END]] step %c1 iter_args(%[[LOCAL:.*]] = %[[ZERO]]) -> (f32)
// CHECK:             %[[SUM:.*]] = arith.addf %[[LOCAL]], %{{.*}}
// CHECK:             %[[RESULT:.*]] = arith.addf %[[CARRY]], %[[SUM]]
// CHECK:             memref.store %[[RESULT]]
// CHECK:             scf.yield %[[SUM]]
// CHECK:           %[[NEXT:.*]] = arith.addf %[[CARRY]], %[[TOTAL]]
// CHECK:           scf.yield %[[NEXT]]
func.func private @blocks(%x: tensor<2100xf32>) -> tensor<2100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<2100xf32>) -> tensor<2100xf32> {
    %r = metaop.fused(%a = %kx : tensor<2100xf32>) -> tensor<2100xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %p = metaop.prefix add %a dim = 0 : tensor<2100xf32>
      metaop.yield %p : tensor<2100xf32>
    }
    metaop.yield %r : tensor<2100xf32>
  }
  return %k : tensor<2100xf32>
}

// A tile is transposed, so that its rows are steps of as many chains, and back.
// CHECK-LABEL: func @tile(
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %c8 step %c4
// CHECK:           scf.for %{{.*}} = %c0 to %c8 step %c4 iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (vector<4xi32>)
// CHECK-COUNT-4:     vector.load
// CHECK-COUNT-8:     vector.shuffle
// CHECK:             %[[A:.*]] = arith.addi %[[SO_FAR]], %{{.*}} : vector<4xi32>
// CHECK:             %[[B:.*]] = arith.addi %[[A]], %{{.*}} : vector<4xi32>
// CHECK:             %[[C:.*]] = arith.addi %[[B]], %{{.*}} : vector<4xi32>
// CHECK:             %[[D:.*]] = arith.addi %[[C]], %{{.*}} : vector<4xi32>
// CHECK-COUNT-8:     vector.shuffle
// CHECK-COUNT-4:     vector.store
// CHECK:             scf.yield %[[D]]
func.func private @tile(%x: tensor<8x8xi32>) -> tensor<8x8xi32> {
  %k = metaop.kernel(%kx = %x : tensor<8x8xi32>) -> tensor<8x8xi32> {
    %r = metaop.fused(%a = %kx : tensor<8x8xi32>) -> tensor<8x8xi32>
        schedule(#metaop.schedule<[step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 0: 4, transpose = 1>) {
      %p = metaop.prefix add %a dim = 1 : tensor<8x8xi32>
      metaop.yield %p : tensor<8x8xi32>
    }
    metaop.yield %r : tensor<8x8xi32>
  }
  return %k : tensor<8x8xi32>
}

// The first step of a recurrence takes no factor, which may be no number.
// CHECK-LABEL: func @recurrence(
// CHECK:         scf.for %[[K:.*]] = %c0 to %c50 step %c1 iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32)
// CHECK:           %[[IS_FIRST:.*]] = arith.cmpi eq, %[[K]], %c0
// CHECK:           %[[X:.*]] = memref.load
// CHECK:           %[[F:.*]] = memref.load
// CHECK:           %[[NEXT:.*]] = math.fma %[[F]], %[[SO_FAR]], %[[X]]
// CHECK:           %[[H:.*]] = arith.select %[[IS_FIRST]], %[[X]], %[[NEXT]]
// CHECK:           scf.yield %[[H]]
func.func private @recurrence(%x: tensor<50xf32>, %f: tensor<50xf32>) -> tensor<50xf32> {
  %k = metaop.kernel(%kx = %x : tensor<50xf32>, %kf = %f : tensor<50xf32>) -> tensor<50xf32> {
    %r = metaop.fused(%a = %kx : tensor<50xf32>, %b = %kf : tensor<50xf32>) -> tensor<50xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %p = metaop.prefix linear %a factors(%b) dim = 0 : tensor<50xf32>
      metaop.yield %p : tensor<50xf32>
    }
    metaop.yield %r : tensor<50xf32>
  }
  return %k : tensor<50xf32>
}
