// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// Neighbouring elements are vectors. The only parallel loop is the vector loop:
// it is shared in blocks of 4096 elements, of which there is one here. Behind the
// last whole vector a mask says which lanes are left.
// CHECK-LABEL: func @tail(
// CHECK-SAME:    %[[X:.*]]: memref<37xf32>, %[[Y:.*]]: memref<37xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME:    metaop.entry = #metaop.entry<buffers = 2, range = 1, work_per_step = 22000>, metaop.kernel
// CHECK:         scf.for %[[BLOCK:.*]] = %[[BEGIN]] to %[[END]]
// CHECK:           %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c4096
// CHECK:           %[[NEXT:.*]] = arith.addi %[[FIRST]], %c4096
// CHECK:           %[[LAST:.*]] = arith.minsi %[[NEXT]], %c37
// CHECK:           %[[LENGTH:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK:           %[[OVER:.*]] = arith.remsi %[[LENGTH]], %c8
// CHECK:           %[[REST:.*]] = arith.subi %[[LAST]], %[[OVER]]
// CHECK:           scf.for %[[I:.*]] = %[[FIRST]] to %[[REST]] step %c8
// CHECK-NEXT:        %[[V:.*]] = vector.load %[[X]][%[[I]]] : memref<37xf32>, vector<8xf32>
// CHECK-NEXT:        %[[E:.*]] = math.exp %[[V]]
// CHECK-NEXT:        vector.store %[[E]], %[[Y]][%[[I]]]
// CHECK:           scf.for %[[J:.*]] = %[[REST]] to %[[LAST]] step %c8
// CHECK-NEXT:        %[[LEFT:.*]] = arith.subi %[[LAST]], %[[J]]
// CHECK-NEXT:        %[[MASK:.*]] = vector.create_mask %[[LEFT]] : vector<8xi1>
// CHECK-NEXT:        vector.maskedload %[[X]][%[[J]]], %[[MASK]]
// CHECK:             vector.maskedstore %[[Y]][%[[J]]], %[[MASK]]
func.func private @tail(%x: tensor<37xf32>) -> tensor<37xf32> {
  %k = metaop.kernel(%kx = %x : tensor<37xf32>) -> tensor<37xf32> {
    %r = metaop.fused(%bx = %kx : tensor<37xf32>) -> tensor<37xf32>
        schedule(#metaop.schedule<[parallel(0, 4096), step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.exp %bx : tensor<37xf32>
      metaop.yield %y : tensor<37xf32>
    }
    metaop.yield %r : tensor<37xf32>
  }
  return %k : tensor<37xf32>
}

// Strips of a long loop are the parallel range: 20000 elements are 5 of them, the last
// of which is shorter.
// CHECK-LABEL: func @blocks(
// CHECK-SAME:    range = 5
func.func private @blocks(%x: tensor<20000xf32>) -> tensor<20000xf32> {
  %k = metaop.kernel(%kx = %x : tensor<20000xf32>) -> tensor<20000xf32> {
    %r = metaop.fused(%bx = %kx : tensor<20000xf32>) -> tensor<20000xf32>
        schedule(#metaop.schedule<[parallel(0, 4096), step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.exp %bx : tensor<20000xf32>
      metaop.yield %y : tensor<20000xf32>
    }
    metaop.yield %r : tensor<20000xf32>
  }
  return %k : tensor<20000xf32>
}

// As many with an unrolled vector loop.
// CHECK-LABEL: func @unrolled_blocks(
// CHECK-SAME:    range = 5
func.func private @unrolled_blocks(%x: tensor<2x20000xf32>) -> tensor<20000xf32> {
  %k = metaop.kernel(%kx = %x : tensor<2x20000xf32>) -> tensor<20000xf32> {
    %r = metaop.fused(%bx = %kx : tensor<2x20000xf32>) -> tensor<20000xf32>
        schedule(#metaop.schedule<[parallel(1, 4096), step(1, 32), step(0)], tile = [1: 32], lanes = 1: 8>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<2x20000xf32> -> tensor<20000xf32>
      metaop.yield %y : tensor<20000xf32>
    }
    metaop.yield %r : tensor<20000xf32>
  }
  return %k : tensor<20000xf32>
}

// Scalar code has no blocks: each iteration of a parallel loop is a step.
// CHECK-LABEL: func @scalar(
// CHECK-SAME:    range = 37, work_per_step = 4400
// CHECK:         memref.load
// CHECK:         memref.store
// CHECK-NOT:     vector.
func.func private @scalar(%x: tensor<37xf32>) -> tensor<37xf32> {
  %k = metaop.kernel(%kx = %x : tensor<37xf32>) -> tensor<37xf32> {
    %r = metaop.fused(%bx = %kx : tensor<37xf32>) -> tensor<37xf32>
        schedule(#metaop.schedule<[parallel(0)]>) {
      %y = metaop.exp %bx : tensor<37xf32>
      metaop.yield %y : tensor<37xf32>
    }
    metaop.yield %r : tensor<37xf32>
  }
  return %k : tensor<37xf32>
}

// Two parallel loops are one range of 12 * 5 steps, taken apart by division.
// CHECK-LABEL: func @two_loops(
// CHECK-SAME:    range = 60
// CHECK:         scf.for %[[STEP:.*]] =
// CHECK:           %[[J:.*]] = arith.remui %[[STEP]], %c5
// CHECK:           %[[I:.*]] = arith.divui %[[STEP]], %c5
func.func private @two_loops(%x: tensor<5x12xf32>) -> tensor<12x5xf32> {
  %k = metaop.kernel(%kx = %x : tensor<5x12xf32>) -> tensor<12x5xf32> {
    %r = metaop.fused(%bx = %kx : tensor<5x12xf32>) -> tensor<12x5xf32>
        schedule(#metaop.schedule<[parallel(0), parallel(1)]>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<5x12xf32> -> tensor<12x5xf32>
      metaop.yield %y : tensor<12x5xf32>
    }
    metaop.yield %r : tensor<12x5xf32>
  }
  return %k : tensor<12x5xf32>
}

// A boolean is a byte in memory.
// CHECK-LABEL: func @booleans(
// CHECK:         vector.load {{.*}} : memref<16xi8>, vector<16xi8>
// CHECK:         arith.cmpi ne
// CHECK:         arith.extui {{.*}} : vector<16xi1> to vector<16xi8>
// CHECK:         vector.store {{.*}} : memref<16xi8>, vector<16xi8>
func.func private @booleans(%x: tensor<16xi1>) -> tensor<16xi1> {
  %k = metaop.kernel(%kx = %x : tensor<16xi1>) -> tensor<16xi1> {
    %r = metaop.fused(%bx = %kx : tensor<16xi1>) -> tensor<16xi1>
        schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16>) {
      %y = metaop.not %bx : tensor<16xi1>
      metaop.yield %y : tensor<16xi1>
    }
    metaop.yield %r : tensor<16xi1>
  }
  return %k : tensor<16xi1>
}
