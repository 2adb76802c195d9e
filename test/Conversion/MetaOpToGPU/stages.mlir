// RUN: metaop-opt %s -convert-metaop-to-gpu -canonicalize -cse | FileCheck %s

// One read and one write of each row: vectors and sums stay in registers from
// stage to stage.
// CHECK-LABEL: gpu.func @softmax(
// CHECK-SAME:    %[[X:.*]]: memref<6000xf32, 1>{{.*}}, %[[Y:.*]]: memref<6000xf32, 1>)
// CHECK:         gpu.shuffle
// CHECK:         gpu.barrier
// CHECK:         %[[E:.*]] = math.exp %{{.*}} : vector<4xf32>
// CHECK:         %[[F:.*]] = math.exp %{{.*}} : vector<4xf32>
// CHECK:         gpu.shuffle
// CHECK:         gpu.barrier
// CHECK:         arith.divf %[[E]], %{{.*}} : vector<4xf32>
// CHECK:         arith.divf %[[F]], %{{.*}} : vector<4xf32>
// CHECK:         vector.store %{{.*}}, %[[Y]]
// CHECK:         gpu.return
func.func private @softmax(%x: tensor<6x1000xf32>) -> tensor<6x1000xf32> {
  %0 = metaop.kernel(%a = %x : tensor<6x1000xf32>) -> tensor<6x1000xf32> {
    %1 = metaop.fused(%c = %a : tensor<6x1000xf32>) -> tensor<6xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
      %2 = metaop.reindex_reduce max %c map affine_map<(d0, d1) -> (d0)> : tensor<6x1000xf32> -> tensor<6xf32>
      metaop.yield %2 : tensor<6xf32>
    }
    %3:2 = metaop.fused(%c = %a : tensor<6x1000xf32>, %d = %1 : tensor<6xf32>) -> (tensor<6x1000xf32>, tensor<6xf32>) schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers, registers], shared = 1>) {
      %4 = metaop.reindex %d map affine_map<(d0, d1) -> (d0)> fill 0.0 : f32 : tensor<6xf32> -> tensor<6x1000xf32>
      %5 = metaop.sub %c, %4 : tensor<6x1000xf32>
      %6 = metaop.exp %5 : tensor<6x1000xf32>
      %7 = metaop.reindex_reduce add %6 map affine_map<(d0, d1) -> (d0)> : tensor<6x1000xf32> -> tensor<6xf32>
      metaop.yield %6, %7 : tensor<6x1000xf32>, tensor<6xf32>
    }
    %8 = metaop.fused(%c = %3#0 : tensor<6x1000xf32>, %d = %3#1 : tensor<6xf32>) -> tensor<6x1000xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 1>) {
      %9 = metaop.reindex %d map affine_map<(d0, d1) -> (d0)> fill 0.0 : f32 : tensor<6xf32> -> tensor<6x1000xf32>
      %10 = metaop.div %c, %9 : tensor<6x1000xf32>
      metaop.yield %10 : tensor<6x1000xf32>
    }
    metaop.yield %8 : tensor<6x1000xf32>
  }
  return %0 : tensor<6x1000xf32>
}

// Rows in memory of the block are written and read by different threads. It has
// the next power of two of elements.
// CHECK-LABEL: gpu.func @centred(
// CHECK-SAME:    workgroup(%[[ROWS:.*]] : memref<512xf32, 3> {{.*}}, %[[SUMS:.*]] : memref<4xf32, 3>
// CHECK:         memref.store %{{.*}}, %[[ROWS]]
// CHECK:         memref.store %{{.*}}, %[[SUMS]]
// CHECK:         gpu.barrier
// CHECK:         memref.load %[[ROWS]]
func.func private @centred(%x: tensor<10x96xf32>) -> tensor<10x96xf32> {
  %0 = metaop.kernel(%a = %x : tensor<10x96xf32>) -> tensor<10x96xf32> {
    %1:2 = metaop.fused(%c = %a : tensor<10x96xf32>) -> (tensor<10x96xf32>, tensor<10xf32>) schedule(#metaop.schedule<[block(0, 4), thread(0), step(1, 32), thread(1)], place = [shared, shared]>) {
      %2 = metaop.mul %c, %c : tensor<10x96xf32>
      %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1) -> (d0)> : tensor<10x96xf32> -> tensor<10xf32>
      metaop.yield %2, %3 : tensor<10x96xf32>, tensor<10xf32>
    }
    %4 = metaop.fused(%c = %1#0 : tensor<10x96xf32>, %d = %1#1 : tensor<10xf32>) -> tensor<10x96xf32> schedule(#metaop.schedule<[block(0, 4), step(1, 32), thread(1), thread(0)], shared = 1>) {
      %5 = metaop.reindex %d map affine_map<(d0, d1) -> (d0)> fill 0.0 : f32 : tensor<10xf32> -> tensor<10x96xf32>
      %6 = metaop.sub %c, %5 : tensor<10x96xf32>
      metaop.yield %6 : tensor<10x96xf32>
    }
    metaop.yield %4 : tensor<10x96xf32>
  }
  return %0 : tensor<10x96xf32>
}

// Blocks of a cluster read each other's sums.
// CHECK-LABEL: gpu.func @cluster(
// CHECK-SAME:    range = 12
// CHECK-SAME:    #metaop.launch<threads = 128, cluster = 4, index_bits = 32>
// CHECK:         nvvm.cluster.arrive
// CHECK:         nvvm.cluster.wait
// CHECK-COUNT-4: nvvm.mapa %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK:         nvvm.cluster.arrive
// CHECK:         nvvm.cluster.wait
func.func private @cluster(%x: tensor<3x2000xf32>) -> tensor<3x2000xf32> {
  %0 = metaop.kernel(%a = %x : tensor<3x2000xf32>) -> tensor<3x2000xf32> {
    %1 = metaop.fused(%c = %a : tensor<3x2000xf32>) -> tensor<3xf32> schedule(#metaop.schedule<[cluster(0), cluster(1, 2048), block(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers]>) {
      %2 = metaop.reindex_reduce add %c map affine_map<(d0, d1) -> (d0)> : tensor<3x2000xf32> -> tensor<3xf32>
      metaop.yield %2 : tensor<3xf32>
    }
    %3 = metaop.fused(%c = %a : tensor<3x2000xf32>, %d = %1 : tensor<3xf32>) -> tensor<3x2000xf32> schedule(#metaop.schedule<[cluster(0), cluster(1, 2048), block(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 3>) {
      %4 = metaop.reindex %d map affine_map<(d0, d1) -> (d0)> fill 0.0 : f32 : tensor<3xf32> -> tensor<3x2000xf32>
      %5 = metaop.sub %c, %4 : tensor<3x2000xf32>
      metaop.yield %5 : tensor<3x2000xf32>
    }
    metaop.yield %3 : tensor<3x2000xf32>
  }
  return %0 : tensor<3x2000xf32>
}
