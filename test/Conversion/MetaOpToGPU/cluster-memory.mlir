// RUN: metaop-opt %s -convert-metaop-to-gpu=chip=sm_90a -canonicalize -cse | FileCheck %s

// What lives in the memory of a cluster: each of two blocks keeps half of a row,
// and reads the row backwards, the other one's half.
// CHECK-LABEL: gpu.func @k(
// CHECK-SAME: workgroup(%[[HALF:.*]] : memref<2048xf32, 3>
// CHECK-SAME: #metaop.launch<threads = 512, cluster = 2
// CHECK: math.exp
// CHECK: vector.store {{.*}}, %[[HALF]]
// CHECK: nvvm.cluster.arrive {aligned}
// CHECK: nvvm.cluster.wait {aligned}
// The block that has the element, and its place there.
// CHECK: %[[BLOCK:.*]] = arith.divui %[[AT:.*]], %c2048
// CHECK: %[[OWN:.*]] = arith.remui %[[AT]], %c2048
// CHECK: llvm.getelementptr
// CHECK: %[[THERE:.*]] = nvvm.mapa
// CHECK: llvm.load %[[THERE]] : !llvm.ptr<7> -> f32
// No block ends before the others have read what it has.
// CHECK: nvvm.cluster.arrive {aligned}
// CHECK: nvvm.cluster.wait {aligned}
// CHECK: gpu.return
func.func @k(%x: tensor<4x4096xf32>, %m: tensor<4xf32>) -> tensor<4x4096xf32> {
  %k = metaop.kernel(%a = %x : tensor<4x4096xf32>, %c = %m : tensor<4xf32>) -> tensor<4x4096xf32> {
    %s = metaop.fused(%b = %a : tensor<4x4096xf32>, %d = %c : tensor<4xf32>) -> tensor<4x4096xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 4096), block(1, 2048), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [cluster]>) {
      %1 = metaop.broadcast %d dims = [0] : tensor<4xf32> -> tensor<4x4096xf32>
      %2 = metaop.sub %b, %1 : tensor<4x4096xf32>
      %0 = metaop.exp %2 : tensor<4x4096xf32>
      metaop.yield %0 : tensor<4x4096xf32>
    }
    %y = metaop.fused(%b = %s : tensor<4x4096xf32>) -> tensor<4x4096xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 4096), block(1, 2048), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 3>) {
      %0 = metaop.reindex %b map affine_map<(d0, d1) -> (d0, 4095 - d1)> fill 0.0 : f32 : tensor<4x4096xf32> -> tensor<4x4096xf32>
      metaop.yield %0 : tensor<4x4096xf32>
    }
    metaop.yield %y : tensor<4x4096xf32>
  }
  return %k : tensor<4x4096xf32>
}
