// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// The extents of the inputs come behind the buffers, in order. How long the
// parallel range is, the caller has to know.
// CHECK-LABEL: func @rows(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[M:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME:    attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.kernel}
// CHECK:         scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]]
// CHECK:           %[[REST:.*]] = arith.remsi %[[M]], %c8
// CHECK:           %[[WHOLE:.*]] = arith.subi %[[M]], %[[REST]]
// CHECK:           scf.for {{.*}} = %c0 to %[[WHOLE]] step %c8
// CHECK:             arith.muli %[[ROW]], %[[M]]
// CHECK:             vector.load
// CHECK:           scf.for {{.*}} = %[[WHOLE]] to %[[M]] step %c8
// CHECK:             vector.create_mask
// CHECK:             vector.maskedload
// CHECK:           vector.reduction <maximumf>
func.func private @rows(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %k = metaop.kernel(%kx = %x : tensor<?x?xf32>) -> tensor<?xf32> {
    %r = metaop.fused(%bx = %kx : tensor<?x?xf32>) -> tensor<?xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 8)], tile = [1: 8], lanes = 1: 8>) {
      %y = metaop.reduce max %bx dims = [1] : tensor<?x?xf32> -> tensor<?xf32>
      metaop.yield %y : tensor<?xf32>
    }
    metaop.yield %r : tensor<?xf32>
  }
  return %k : tensor<?xf32>
}

// An extent that is an operand.
// CHECK-LABEL: func @operand(
// CHECK-SAME:    %{{.*}}: memref<1xf32>, %{{.*}}: memref<?xf32>, %[[N:.*]]: index, %{{.*}}: index, %{{.*}}: index)
// CHECK:         scf.for %{{.*}} = %c0 to %[[N]]
func.func private @operand(%x: tensor<f32>, %n: index) -> tensor<?xf32> {
  %k = metaop.kernel(%kx = %x : tensor<f32>, %kn = %n : index) -> tensor<?xf32> {
    %r = metaop.fused(%bx = %kx : tensor<f32>, %bn = %kn : index) -> tensor<?xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.broadcast %bx extents(%bn) dims = [] : tensor<f32> -> tensor<?xf32>
      metaop.yield %y : tensor<?xf32>
    }
    metaop.yield %r : tensor<?xf32>
  }
  return %k : tensor<?xf32>
}

// Combined in memory: the identity is set for as many elements as there are.
// CHECK-LABEL: func @in_memory(
// CHECK-SAME:    %{{.*}}: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[M:.*]]: index, %{{.*}}: index, %{{.*}}: index)
// CHECK:         scf.for %{{.*}} = %c0 to %[[M]]
// CHECK:           memref.store %{{.*}}, %[[Y]]
// CHECK:         scf.for %{{.*}} = %c0 to %[[N]]
func.func private @in_memory(%x: tensor<?xf32>, %m: index) -> tensor<?xf32> {
  %k = metaop.kernel(%kx = %x : tensor<?xf32>, %km = %m : index) -> tensor<?xf32> {
    %r = metaop.fused(%bx = %kx : tensor<?xf32>, %bm = %km : index) -> tensor<?xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.reindex_reduce add %bx extents(%bm) map affine_map<(i) -> (i floordiv 2)> : tensor<?xf32> -> tensor<?xf32>
      metaop.yield %y : tensor<?xf32>
    }
    metaop.yield %r : tensor<?xf32>
  }
  return %k : tensor<?xf32>
}

// Two stages share a loop of one dynamic extent.
// CHECK-LABEL: func @shared(
// CHECK:         scf.for
// CHECK-NOT:     scf.for
// CHECK:         return
func.func private @shared(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %p = metaop.fused(%a = %kx : tensor<?xf32>) -> tensor<?xf32>
        schedule(#metaop.schedule<[parallel(0)]>) {
      %y = metaop.exp %a : tensor<?xf32>
      metaop.yield %y : tensor<?xf32>
    }
    %r = metaop.fused(%a = %kx : tensor<?xf32>) -> tensor<?xf32>
        schedule(#metaop.schedule<[parallel(0)], shared = 1>) {
      %y = metaop.neg %a : tensor<?xf32>
      metaop.yield %y : tensor<?xf32>
    }
    metaop.yield %p, %r : tensor<?xf32>, tensor<?xf32>
  }
  return %k#0, %k#1 : tensor<?xf32>, tensor<?xf32>
}
