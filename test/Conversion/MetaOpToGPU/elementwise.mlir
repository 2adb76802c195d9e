// RUN: metaop-opt %s -convert-metaop-to-gpu -canonicalize -cse | FileCheck %s

// All loads of a whole tile come first; vectors of a thread are a sweep of all
// threads apart. At the end each element has a condition of its own.
// CHECK-LABEL: gpu.module @whole_and_rest
// CHECK:         gpu.func @whole_and_rest(%[[X:.*]]: memref<10003xf32, 1>{{.*}}, %[[Y:.*]]: memref<10003xf32, 1>)
// CHECK-SAME:      kernel
// CHECK-SAME:      metaop.entry = #metaop.entry<buffers = 2, range = 5>
// CHECK-SAME:      metaop.launch = #metaop.launch<threads = 256, index_bits = 32>
// CHECK:         %[[THREAD:.*]] = gpu.thread_id  x
// CHECK:         %[[BLOCK:.*]] = gpu.block_id  x
// CHECK:         %[[VECTOR:.*]] = arith.muli %[[THREAD]], %c4
// CHECK:         %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c2048
// CHECK:         %[[AT:.*]] = arith.addi %[[FIRST]], %[[VECTOR]]
// CHECK:         %[[END:.*]] = arith.addi %[[FIRST]], %c2048
// CHECK:         %[[WHOLE:.*]] = arith.cmpi sle, %[[END]], %c10003
// CHECK:         scf.if %[[WHOLE]] {
// CHECK:           %[[A:.*]] = vector.load %[[X]][%[[AT]]] {alignment = 16 : i64} : memref<10003xf32, 1>, vector<4xf32>
// CHECK:           %[[NEXT:.*]] = arith.addi %[[AT]], %c1024
// CHECK:           %[[B:.*]] = vector.load %[[X]][%[[NEXT]]] {alignment = 16 : i64}
// CHECK:           %[[E:.*]] = math.exp %[[A]] : vector<4xf32>
// CHECK:           %[[F:.*]] = math.exp %[[B]] : vector<4xf32>
// CHECK:           vector.store %[[E]], %[[Y]][%[[AT]]] {alignment = 16 : i64}
// CHECK:           vector.store %[[F]], %[[Y]][%[[NEXT]]] {alignment = 16 : i64}
// CHECK:         } else {
// CHECK:           %[[IN:.*]] = arith.cmpi slt, %[[AT]], %c10003
// CHECK:           scf.if %[[IN]] -> (f32) {
// CHECK:             memref.load %[[X]][%[[AT]]]
// CHECK-NOT:       vector.load
// CHECK:           vector.from_elements
// CHECK:           scf.if %[[IN]] {
// CHECK-NEXT:        memref.store %{{.*}}, %[[Y]][%[[AT]]]
func.func private @whole_and_rest(%x: tensor<10003xf32>) -> tensor<10003xf32> {
  %k = metaop.kernel(%kx = %x : tensor<10003xf32>) -> tensor<10003xf32> {
    %r = metaop.fused(%bx = %kx : tensor<10003xf32>) -> tensor<10003xf32>
        schedule(#metaop.schedule<[block(0, 2048), thread(0, 4)], tile = [0: 8], lanes = 0: 4>) {
      %y = metaop.exp %bx : tensor<10003xf32>
      metaop.yield %y : tensor<10003xf32>
    }
    metaop.yield %r : tensor<10003xf32>
  }
  return %k : tensor<10003xf32>
}

// Where vectors fill the extent, they are there as a whole or not at all.
// CHECK-LABEL: gpu.func @whole_vectors(
// CHECK:         } else {
// CHECK:           %[[IN:.*]] = arith.cmpi slt
// CHECK:           scf.if %[[IN]] -> (vector<8xbf16>) {
// CHECK:             vector.load %{{.*}} {alignment = 16 : i64}
// CHECK:           scf.if %[[IN]] {
// CHECK-NEXT:        vector.store %{{.*}} {alignment = 16 : i64}
func.func private @whole_vectors(%x: tensor<10000xbf16>) -> tensor<10000xbf16> {
  %k = metaop.kernel(%kx = %x : tensor<10000xbf16>) -> tensor<10000xbf16> {
    %r = metaop.fused(%bx = %kx : tensor<10000xbf16>) -> tensor<10000xbf16>
        schedule(#metaop.schedule<[block(0, 4096), thread(0, 8)], tile = [0: 16], lanes = 0: 8>) {
      %y = metaop.mul %bx, %bx : tensor<10000xbf16>
      metaop.yield %y : tensor<10000xbf16>
    }
    metaop.yield %r : tensor<10000xbf16>
  }
  return %k : tensor<10000xbf16>
}

// Nothing is asked where the blocks fill the extent.
// CHECK-LABEL: gpu.func @whole(
// CHECK-NOT:     scf.if
// CHECK:         vector.store
// CHECK-NOT:     scf.if
// CHECK:         gpu.return
func.func private @whole(%x: tensor<8192xf32>) -> tensor<8192xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8192xf32>) -> tensor<8192xf32> {
    %r = metaop.fused(%bx = %kx : tensor<8192xf32>) -> tensor<8192xf32>
        schedule(#metaop.schedule<[block(0, 1024), thread(0, 4)], tile = [0: 4], lanes = 0: 4>) {
      %y = metaop.neg %bx : tensor<8192xf32>
      metaop.yield %y : tensor<8192xf32>
    }
    metaop.yield %r : tensor<8192xf32>
  }
  return %k : tensor<8192xf32>
}

// Rows of 7 begin anywhere: their vectors are not aligned.
// CHECK-LABEL: gpu.func @not_aligned(
// CHECK:         vector.load %{{[^{]*}} : memref<700xf32, 1>, vector<4xf32>
func.func private @not_aligned(%x: tensor<100x7xf32>) -> tensor<100x4xf32> {
  %k = metaop.kernel(%kx = %x : tensor<100x7xf32>) -> tensor<100x4xf32> {
    %r = metaop.fused(%bx = %kx : tensor<100x7xf32>) -> tensor<100x4xf32>
        schedule(#metaop.schedule<[block(0, 32), block(1, 4), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %y = metaop.reindex %bx map affine_map<(i, j) -> (i, j + 2)> fill 0.0 : f32 : tensor<100x7xf32> -> tensor<100x4xf32>
      metaop.yield %y : tensor<100x4xf32>
    }
    metaop.yield %r : tensor<100x4xf32>
  }
  return %k : tensor<100x4xf32>
}

// What does not depend on a loop is read outside of it.
// CHECK-LABEL: gpu.func @bias(
// CHECK:         %[[V:.*]] = vector.load %{{.*}} : memref<64xf32, 1>, vector<4xf32>
// CHECK:         scf.for
// CHECK:           %[[X:.*]] = vector.load %{{.*}} : memref<3200xf32, 1>, vector<4xf32>
// CHECK:           arith.addf %[[X]], %[[V]]
func.func private @bias(%x: tensor<50x64xf32>, %v: tensor<64xf32>) -> tensor<50x64xf32> {
  %k = metaop.kernel(%kx = %x : tensor<50x64xf32>, %kv = %v : tensor<64xf32>) -> tensor<50x64xf32> {
    %r = metaop.fused(%bx = %kx : tensor<50x64xf32>, %bv = %kv : tensor<64xf32>) -> tensor<50x64xf32>
        schedule(#metaop.schedule<[block(0, 8), block(1, 64), thread(1, 4), step(0)], tile = [1: 4], lanes = 1: 4>) {
      %1 = metaop.broadcast %bv dims = [1] : tensor<64xf32> -> tensor<50x64xf32>
      %2 = metaop.add %bx, %1 : tensor<50x64xf32>
      metaop.yield %2 : tensor<50x64xf32>
    }
    metaop.yield %r : tensor<50x64xf32>
  }
  return %k : tensor<50x64xf32>
}
