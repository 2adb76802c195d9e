// RUN: metaop-opt %s -convert-metaop-to-vector -cse -split-input-file | FileCheck %s

// The number of rows varies: whole tiles of four, and a tile of one, two or three.
// The constants of this length are not folded into the loops.
// CHECK-LABEL: func @rows
// CHECK:         %[[ROWS:.*]] = arith.constant 40 : index
// CHECK:         %[[REST:.*]] = arith.remui
// CHECK:         %[[WHOLE:.*]] = arith.subi %{{.*}}, %[[REST]]
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[WHOLE]] step
// CHECK:           scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
// CHECK:         %[[OVER:.*]] = arith.subi %{{.*}}, %[[WHOLE]]
// CHECK:         arith.cmpi sgt, %[[OVER]]
// CHECK:         arith.cmpi sle, %[[OVER]]
// CHECK:         scf.if
// CHECK:           scf.for {{.*}} -> (vector<8xf32>) {
// CHECK:         scf.if
// CHECK:           scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>) {
// CHECK:         scf.if
// CHECK:           scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
// CHECK-NOT:     scf.if
#a = affine_map<(d0, d1, d2) -> (d0, d1)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @rows(%a: tensor<40x64xf32>, %b: tensor<64x8xf32>) -> tensor<40x8xf32> {
  %r = metaop.kernel(%ka = %a : tensor<40x64xf32>, %kb = %b : tensor<64x8xf32>) -> tensor<40x8xf32> {
    %s = metaop.fused(%sa = %ka : tensor<40x64xf32>, %sb = %kb : tensor<64x8xf32>) -> tensor<40x8xf32>
        schedule(#metaop.schedule<[step(0, 4, sizes), step(2, 8), step(1)], tile = [0: 4, 2: 8], lanes = 2: 8>)
        role(contraction) attributes {metaop.varying = array<i64: 0>} {
      %x = metaop.reindex %sa map #a fill 0.0 : f32 : tensor<40x64xf32> -> tensor<40x64x8xf32>
      %y = metaop.reindex %sb map #b fill 0.0 : f32 : tensor<64x8xf32> -> tensor<40x64x8xf32>
      %p = metaop.mul %x, %y : tensor<40x64x8xf32>
      %t = metaop.reindex_reduce add %p map #c : tensor<40x64x8xf32> -> tensor<40x8xf32>
      metaop.yield %t : tensor<40x8xf32>
    }
    metaop.yield %s : tensor<40x8xf32>
  }
  return %r : tensor<40x8xf32>
}

// -----

// The lanes vary: two vectors, or one, of which the last is masked.
// CHECK-LABEL: func @lanes
// CHECK:         scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>) {
// CHECK:         scf.if
// CHECK:           scf.for {{.*}} -> (vector<8xf32>) {
// CHECK:             vector.maskedload
// CHECK:           vector.maskedstore
// CHECK:         scf.if
// CHECK:           scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>) {
// CHECK:             vector.load
// CHECK:             vector.maskedload
// CHECK:           vector.store
// CHECK:           vector.maskedstore
// CHECK-NOT:     scf.if
#a = affine_map<(d0, d1, d2) -> (d0, d1)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @lanes(%a: tensor<2x64xf32>, %b: tensor<64x40xf32>) -> tensor<2x40xf32> {
  %r = metaop.kernel(%ka = %a : tensor<2x64xf32>, %kb = %b : tensor<64x40xf32>) -> tensor<2x40xf32> {
    %s = metaop.fused(%sa = %ka : tensor<2x64xf32>, %sb = %kb : tensor<64x40xf32>) -> tensor<2x40xf32>
        schedule(#metaop.schedule<[step(0), step(2, 16, sizes), step(1)], tile = [2: 16], lanes = 2: 8>)
        role(contraction) attributes {metaop.varying = array<i64: 2>} {
      %x = metaop.reindex %sa map #a fill 0.0 : f32 : tensor<2x64xf32> -> tensor<2x64x40xf32>
      %y = metaop.reindex %sb map #b fill 0.0 : f32 : tensor<64x40xf32> -> tensor<2x64x40xf32>
      %p = metaop.mul %x, %y : tensor<2x64x40xf32>
      %t = metaop.reindex_reduce add %p map #c : tensor<2x64x40xf32> -> tensor<2x40xf32>
      metaop.yield %t : tensor<2x40xf32>
    }
    metaop.yield %s : tensor<2x40xf32>
  }
  return %r : tensor<2x40xf32>
}

// -----

// Of many vectors, those that are surely there are not masked: none of four,
// and the first four of eight.
// CHECK-LABEL: func @many
// CHECK:         scf.if
// CHECK-NOT:       vector.store
// CHECK-COUNT-4:   vector.maskedstore
// CHECK:         scf.if
// CHECK-NOT:       vector.maskedstore
// CHECK-COUNT-4:   vector.store
// CHECK-NOT:       vector.store
// CHECK-COUNT-4:   vector.maskedstore
// CHECK-NOT:       vector.{{(masked)?}}store
#a = affine_map<(d0, d1, d2) -> (d0, d1)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @many(%a: tensor<2x64xf32>, %b: tensor<64x70xf32>) -> tensor<2x70xf32> {
  %r = metaop.kernel(%ka = %a : tensor<2x64xf32>, %kb = %b : tensor<64x70xf32>) -> tensor<2x70xf32> {
    %s = metaop.fused(%sa = %ka : tensor<2x64xf32>, %sb = %kb : tensor<64x70xf32>) -> tensor<2x70xf32>
        schedule(#metaop.schedule<[step(0), step(2, 64, sizes), step(1)], tile = [2: 64], lanes = 2: 8>)
        role(contraction) attributes {metaop.varying = array<i64: 2>} {
      %x = metaop.reindex %sa map #a fill 0.0 : f32 : tensor<2x64xf32> -> tensor<2x64x70xf32>
      %y = metaop.reindex %sb map #b fill 0.0 : f32 : tensor<64x70xf32> -> tensor<2x64x70xf32>
      %p = metaop.mul %x, %y : tensor<2x64x70xf32>
      %t = metaop.reindex_reduce add %p map #c : tensor<2x64x70xf32> -> tensor<2x70xf32>
      metaop.yield %t : tensor<2x70xf32>
    }
    metaop.yield %s : tensor<2x70xf32>
  }
  return %r : tensor<2x70xf32>
}

// -----

// Blocks of the loop leave nothing over, so that there is no tail of no row.
// CHECK-LABEL: func @nothing_left
// CHECK:         scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
// CHECK-NOT:     iter_args
#a = affine_map<(d0, d1, d2) -> (d0, d1)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @nothing_left(%a: tensor<2x64xf32>, %b: tensor<64x64xf32>) -> tensor<2x64xf32> {
  %r = metaop.kernel(%ka = %a : tensor<2x64xf32>, %kb = %b : tensor<64x64xf32>) -> tensor<2x64xf32> {
    %s = metaop.fused(%sa = %ka : tensor<2x64xf32>, %sb = %kb : tensor<64x64xf32>) -> tensor<2x64xf32>
        schedule(#metaop.schedule<[step(0, 2), step(2, 16, body), step(1)], tile = [0: 2, 2: 16], lanes = 2: 8>)
        role(contraction) attributes {metaop.varying = array<i64: 2>} {
      %x = metaop.reindex %sa map #a fill 0.0 : f32 : tensor<2x64xf32> -> tensor<2x64x64xf32>
      %y = metaop.reindex %sb map #b fill 0.0 : f32 : tensor<64x64xf32> -> tensor<2x64x64xf32>
      %p = metaop.mul %x, %y : tensor<2x64x64xf32>
      %t = metaop.reindex_reduce add %p map #c : tensor<2x64x64xf32> -> tensor<2x64xf32>
      metaop.yield %t : tensor<2x64xf32>
    }
    metaop.yield %s : tensor<2x64xf32>
  }
  return %r : tensor<2x64xf32>
}
