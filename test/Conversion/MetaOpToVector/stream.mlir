// RUN: metaop-opt %s -split-input-file -convert-metaop-to-vector -canonicalize -verify-diagnostics | FileCheck %s

// Whole vectors go past the caches, the masked rest does not.
// CHECK-LABEL: func @tail
// CHECK: vector.store %{{.*}} {alignment = 64 : i64, nontemporal = true} : memref<100xf32>, vector<16xf32>
// CHECK: vector.maskedstore
func.func @tail(%x: tensor<100xf32>) -> tensor<100xf32> {
  %k = metaop.kernel(%bx = %x : tensor<100xf32>) -> tensor<100xf32> {
    %0 = metaop.fused(%a = %bx : tensor<100xf32>) -> tensor<100xf32>
        schedule(#metaop.schedule<[parallel(0, 4096), step(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %y = metaop.exp %a : tensor<100xf32>
      metaop.yield %y : tensor<100xf32>
    }
    metaop.yield %0 : tensor<100xf32>
  }
  return %k : tensor<100xf32>
}

// -----

// Of two results one; a vector of half a line is aligned to itself, one of two
// lines to a line.
// CHECK-LABEL: func @second
// CHECK: vector.store %{{[^{]*}} : memref<96xf32>, vector<8xf32>
// CHECK: vector.store %{{.*}} {alignment = 32 : i64, nontemporal = true} : memref<96xf32>, vector<8xf32>
func.func @second(%x: tensor<96xf32>) -> (tensor<96xf32>, tensor<96xf32>) {
  %k:2 = metaop.kernel(%bx = %x : tensor<96xf32>) -> (tensor<96xf32>, tensor<96xf32>) {
    %0:2 = metaop.fused(%a = %bx : tensor<96xf32>) -> (tensor<96xf32>, tensor<96xf32>)
        schedule(#metaop.schedule<[parallel(0, 4096), step(0, 8)], tile = [0: 8], lanes = 0: 8, stream = [1]>) {
      %y = metaop.exp %a : tensor<96xf32>
      %z = metaop.log %a : tensor<96xf32>
      metaop.yield %y, %z : tensor<96xf32>, tensor<96xf32>
    }
    metaop.yield %0#0, %0#1 : tensor<96xf32>, tensor<96xf32>
  }
  return %k#0, %k#1 : tensor<96xf32>, tensor<96xf32>
}
// CHECK-LABEL: func @wide
// CHECK: vector.store %{{.*}} {alignment = 64 : i64, nontemporal = true} : memref<96xf64>, vector<16xf64>
func.func @wide(%x: tensor<96xf64>) -> tensor<96xf64> {
  %k = metaop.kernel(%bx = %x : tensor<96xf64>) -> tensor<96xf64> {
    %0 = metaop.fused(%a = %bx : tensor<96xf64>) -> tensor<96xf64>
        schedule(#metaop.schedule<[parallel(0, 4096), step(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %y = metaop.abs %a : tensor<96xf64>
      metaop.yield %y : tensor<96xf64>
    }
    metaop.yield %0 : tensor<96xf64>
  }
  return %k : tensor<96xf64>
}

// -----

// Of tiles, whole ones.
// CHECK-LABEL: func @tiles
// CHECK-COUNT-16: vector.store %{{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK-NOT: nontemporal
// CHECK: return
func.func @tiles(%x: tensor<80x70xf32>) -> tensor<70x80xf32> {
  %k = metaop.kernel(%bx = %x : tensor<80x70xf32>) -> tensor<70x80xf32> {
    %0 = metaop.fused(%a = %bx : tensor<80x70xf32>) -> tensor<70x80xf32>
        schedule(#metaop.schedule<[parallel(1, 64), step(0, 16), step(1, 16)], tile = [0: 16, 1: 16], lanes = 0: 16, transpose = 1, stream = [0]>) {
      %y = metaop.transpose %a perm = [1, 0] : tensor<80x70xf32> -> tensor<70x80xf32>
      metaop.yield %y : tensor<70x80xf32>
    }
    metaop.yield %0 : tensor<70x80xf32>
  }
  return %k : tensor<70x80xf32>
}

// -----

func.func @rows(%x: tensor<64x98xf32>) -> tensor<64x97xf32> {
  %k = metaop.kernel(%bx = %x : tensor<64x98xf32>) -> tensor<64x97xf32> {
    // expected-error @below {{(P14) the schedule streams result 0, which it does not store by aligned vectors that fill cache lines}}
    %0 = metaop.fused(%a = %bx : tensor<64x98xf32>) -> tensor<64x97xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, stream = [0]>) {
      %y = metaop.reindex %a map affine_map<(i, j) -> (i, j + 1)> fill 0.0 : f32 : tensor<64x98xf32> -> tensor<64x97xf32>
      metaop.yield %y : tensor<64x97xf32>
    }
    metaop.yield %0 : tensor<64x97xf32>
  }
  return %k : tensor<64x97xf32>
}

// -----

func.func @dynamic(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %k = metaop.kernel(%bx = %x : tensor<?x?xf32>) -> tensor<?x?xf32> {
    // expected-error @below {{(P14) the schedule streams result 0, which it does not store by aligned vectors that fill cache lines}}
    %0 = metaop.fused(%a = %bx : tensor<?x?xf32>) -> tensor<?x?xf32>
        schedule(#metaop.schedule<[parallel(1), step(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %y = metaop.transpose %a perm = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
      metaop.yield %y : tensor<?x?xf32>
    }
    metaop.yield %0 : tensor<?x?xf32>
  }
  return %k : tensor<?x?xf32>
}

// -----

func.func @number(%x: tensor<64xf32>) -> tensor<64xf32> {
  %k = metaop.kernel(%bx = %x : tensor<64xf32>) -> tensor<64xf32> {
    // expected-error @below {{(P14) the schedule streams result 1, but the stage has 1}}
    %0 = metaop.fused(%a = %bx : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[parallel(0, 4096), step(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [1]>) {
      %y = metaop.exp %a : tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %0 : tensor<64xf32>
  }
  return %k : tensor<64xf32>
}

// -----

func.func @local(%x: tensor<64xf32>) -> tensor<64xf32> {
  %k = metaop.kernel(%bx = %x : tensor<64xf32>) -> tensor<64xf32> {
    // expected-error @below {{(P14) the schedule streams result 0, which stays inside of the kernel}}
    %0 = metaop.fused(%a = %bx : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %y = metaop.exp %a : tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    %1 = metaop.fused(%a = %0 : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16>) {
      %y = metaop.exp %a : tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %k : tensor<64xf32>
}
