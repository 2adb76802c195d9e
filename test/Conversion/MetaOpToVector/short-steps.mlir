// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// Lanes two elements apart are read by two vectors. The second begins one
// element early and so ends with the last lane's. What is left over is masked,
// and so are the elements between the lanes.
// CHECK-LABEL: func @every_second(
// CHECK-DAG:     %[[NONE:.*]] = arith.constant dense<false> : vector<8xi1>
// CHECK:         scf.for
// CHECK:           %[[A:.*]] = vector.load %[[X:.*]][%[[AT:.*]]] : memref<39xf32>
// CHECK:           %[[CHOSEN:.*]] = vector.shuffle %[[A]], %[[A]] [0, 2, 4, 6, 0, 0, 0, 0]
// CHECK:           %[[NEXT:.*]] = arith.addi %[[AT]], %c7
// CHECK:           %[[B:.*]] = vector.load %[[X]][%[[NEXT]]]
// CHECK:           vector.shuffle %[[CHOSEN]], %[[B]] [0, 1, 2, 3, 9, 11, 13, 15]
// CHECK:         %[[MASK:.*]] = vector.constant_mask [4]
// CHECK:         %[[LOW:.*]] = vector.shuffle %[[MASK]], %[[NONE]] [0, 8, 1, 8, 2, 8, 3, 8]
// CHECK:         vector.maskedload %[[X]][%{{.*}}], %[[LOW]]
// CHECK:         %[[HIGH:.*]] = vector.shuffle %[[MASK]], %[[NONE]] [8, 4, 8, 5, 8, 6, 8, 7]
// CHECK:         vector.maskedload %[[X]][%{{.*}}], %[[HIGH]]
func.func private @every_second(%x: tensor<39xf32>) -> tensor<20xf32> {
  %k = metaop.kernel(%kx = %x : tensor<39xf32>) -> tensor<20xf32> {
    %r = metaop.fused(%bx = %kx : tensor<39xf32>) -> tensor<20xf32>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reindex %bx map affine_map<(i) -> (2 * i)> fill 0.0 : f32 : tensor<39xf32> -> tensor<20xf32>
      metaop.yield %y : tensor<20xf32>
    }
    metaop.yield %r : tensor<20xf32>
  }
  return %k : tensor<20xf32>
}

// Backwards is forwards and reversed.
// CHECK-LABEL: func @backwards(
// CHECK:         %[[A:.*]] = vector.load
// CHECK:         vector.shuffle %[[A]], %[[A]] [7, 6, 5, 4, 3, 2, 1, 0]
func.func private @backwards(%x: tensor<16xf32>) -> tensor<16xf32> {
  %k = metaop.kernel(%kx = %x : tensor<16xf32>) -> tensor<16xf32> {
    %r = metaop.fused(%bx = %kx : tensor<16xf32>) -> tensor<16xf32>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reindex %bx map affine_map<(i) -> (15 - i)> fill 0.0 : f32 : tensor<16xf32> -> tensor<16xf32>
      metaop.yield %y : tensor<16xf32>
    }
    metaop.yield %r : tensor<16xf32>
  }
  return %k : tensor<16xf32>
}

// Longer steps take a shuffle for each vector; more than a quarter of the lanes
// is no short step.
// CHECK-LABEL: func @every_third(
// CHECK-COUNT-3: vector.load
// CHECK-NOT:     vector.load
// CHECK:         return
func.func private @every_third(%x: tensor<48xf32>) -> tensor<16xf32> {
  %k = metaop.kernel(%kx = %x : tensor<48xf32>) -> tensor<16xf32> {
    %r = metaop.fused(%bx = %kx : tensor<48xf32>) -> tensor<16xf32>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reindex %bx map affine_map<(i) -> (3 * i)> fill 0.0 : f32 : tensor<48xf32> -> tensor<16xf32>
      metaop.yield %y : tensor<16xf32>
    }
    metaop.yield %r : tensor<16xf32>
  }
  return %k : tensor<16xf32>
}

// CHECK-LABEL: func @few_lanes(
// CHECK:         vector.gather
func.func private @few_lanes(%x: tensor<48xf32>) -> tensor<16xf32> {
  %k = metaop.kernel(%kx = %x : tensor<48xf32>) -> tensor<16xf32> {
    %r = metaop.fused(%bx = %kx : tensor<48xf32>) -> tensor<16xf32>
        schedule(#metaop.schedule<[step(0, 4)], tile = [0: 4], lanes = 0: 4>) {
      %y = metaop.reindex %bx map affine_map<(i) -> (3 * i)> fill 0.0 : f32 : tensor<48xf32> -> tensor<16xf32>
      metaop.yield %y : tensor<16xf32>
    }
    metaop.yield %r : tensor<16xf32>
  }
  return %k : tensor<16xf32>
}

// What is written every second element, by two iterations of another loop, is
// written by whole vectors where these are copies side by side. The last of an
// odd number is masked as its copy is.
// CHECK-LABEL: func @spread(
// CHECK:         %[[EVEN:.*]] = arith.addf
// CHECK:         %[[LOW:.*]] = vector.shuffle %[[EVEN]], %[[ODD:.*]] [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK:         %[[HIGH:.*]] = vector.shuffle %[[EVEN]], %[[ODD]] [4, 12, 5, 13, 6, 14, 7, 15]
// CHECK:         %[[LOWMASK:.*]] = vector.shuffle %[[EVENMASK:.*]], %[[ODDMASK:.*]] [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK:         %[[HIGHMASK:.*]] = vector.shuffle %[[EVENMASK]], %[[ODDMASK]] [4, 12, 5, 13, 6, 14, 7, 15]
// CHECK:         vector.maskedstore %{{.*}}[%[[AT:.*]]], %[[LOWMASK]], %[[LOW]]
// CHECK:         %[[NEXT:.*]] = arith.addi %[[AT]], %c8
// CHECK:         vector.maskedstore %{{.*}}[%[[NEXT]]], %[[HIGHMASK]], %[[HIGH]]
// CHECK-NOT:     vector.scatter
func.func private @spread(%x: tensor<16xf32>) -> tensor<31xf32> {
  %k = metaop.kernel(%kx = %x : tensor<16xf32>) -> tensor<31xf32> {
    %r = metaop.fused(%bx = %kx : tensor<16xf32>) -> tensor<31xf32>
        schedule(#metaop.schedule<[step(1, 2), step(0, 8)], tile = [0: 8, 1: 2], lanes = 0: 8>) {
      %s = metaop.reindex %bx map affine_map<(i, j) -> (i)> fill 0.0 : f32 : tensor<16xf32> -> tensor<16x2xf32>
      %y = metaop.reindex_reduce add %s map affine_map<(i, j) -> (2 * i + j)> where affine_set<(i, j) : (-j >= 0)> : tensor<16x2xf32> -> tensor<31xf32>
      metaop.yield %y : tensor<31xf32>
    }
    metaop.yield %r : tensor<31xf32>
  }
  return %k : tensor<31xf32>
}
