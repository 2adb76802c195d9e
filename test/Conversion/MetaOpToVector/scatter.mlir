// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// A quotient reaches each element several times: combined in memory, behind
// the identity for the rows of this step.
// CHECK-LABEL: func @quotient(
// CHECK:         %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           scf.for %{{.*}} = %c0 to %c3
// CHECK:             memref.store %[[LOWEST]], %[[Y:.*]][
// CHECK:           scf.for %[[J:.*]] = %c0 to %c12
// CHECK:             %[[NEW:.*]] = memref.load
// CHECK:             arith.floordivsi %[[J]], %c5
// CHECK:             %[[OLD:.*]] = memref.load %[[Y]]
// CHECK:             %[[BOTH:.*]] = arith.maximumf %[[OLD]], %[[NEW]]
// CHECK:             memref.store %[[BOTH]], %[[Y]]
func.func private @quotient(%x: tensor<10x12xf32>) -> tensor<10x3xf32> {
  %k = metaop.kernel(%kx = %x : tensor<10x12xf32>) -> tensor<10x3xf32> {
    %r = metaop.fused(%bx = %kx : tensor<10x12xf32>) -> tensor<10x3xf32>
        schedule(#metaop.schedule<[parallel(0), step(1)]>) {
      %y = metaop.reindex_reduce max %bx map affine_map<(i, j) -> (i, j floordiv 5)> : tensor<10x12xf32> -> tensor<10x3xf32>
      metaop.yield %y : tensor<10x3xf32>
    }
    metaop.yield %r : tensor<10x3xf32>
  }
  return %k : tensor<10x3xf32>
}

// Elements that leave the result are dropped, by a guard on the store.
// CHECK-LABEL: func @dropped(
// CHECK:         scf.if
// CHECK:           memref.load
// CHECK:           arith.addf
// CHECK:           memref.store
func.func private @dropped(%x: tensor<100xf32>) -> tensor<3xf32> {
  %k = metaop.kernel(%kx = %x : tensor<100xf32>) -> tensor<3xf32> {
    %r = metaop.fused(%bx = %kx : tensor<100xf32>) -> tensor<3xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i) -> (i floordiv 10)> : tensor<100xf32> -> tensor<3xf32>
      metaop.yield %y : tensor<3xf32>
    }
    metaop.yield %r : tensor<3xf32>
  }
  return %k : tensor<3xf32>
}

// Elements that nothing is written to are the identity.
// CHECK-LABEL: func @not_covered(
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         scf.for %{{.*}} = %c0 to %c10
// CHECK:           memref.store %[[ONE]]
func.func private @not_covered(%x: tensor<6xf32>) -> tensor<10xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6xf32>) -> tensor<10xf32> {
    %r = metaop.fused(%bx = %kx : tensor<6xf32>) -> tensor<10xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.reindex_reduce mul %bx map affine_map<(i) -> (i mod 4)> : tensor<6xf32> -> tensor<10xf32>
      metaop.yield %y : tensor<10xf32>
    }
    metaop.yield %r : tensor<10xf32>
  }
  return %k : tensor<10xf32>
}

// Conditions choose what is added, lane by lane.
// CHECK-LABEL: func @condition(
// CHECK:         %[[SUM:.*]] = arith.addf
// CHECK:         arith.select %{{.*}}, %[[SUM]], %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK:         vector.reduction <add>
func.func private @condition(%x: tensor<4x64xf32>) -> tensor<4xf32> {
  %k = metaop.kernel(%kx = %x : tensor<4x64xf32>) -> tensor<4xf32> {
    %r = metaop.fused(%bx = %kx : tensor<4x64xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[step(0), step(1, 8)], tile = [1: 8], lanes = 1: 8>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i, j) -> (i)> where affine_set<(i, j) : (j - i * 8 >= 0)> : tensor<4x64xf32> -> tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    metaop.yield %r : tensor<4xf32>
  }
  return %k : tensor<4xf32>
}
