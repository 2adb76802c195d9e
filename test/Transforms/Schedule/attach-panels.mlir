// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-pack-operands,metaop-schedule-contractions,metaop-attach-panels{report=true}))' -mlir-print-local-scope 2>&1 | FileCheck %s
// RUN: metaop-opt %s -split-input-file -metaop-pipeline=to=loops | FileCheck %s --check-prefix=LOOPS

// The second factor is large: its panels are packed block by block.
// CHECK: remark: packs 'tensor<32x1024x32xf32>' inside of 2 loops
// CHECK-LABEL: func @main
// CHECK:       metaop.kernel({{.*}} = %arg1 : tensor<1024x1024xf32>, {{.*}} = %arg0 : tensor<560x1024xf32>) -> tensor<560x1024xf32>
// CHECK:         metaop.fused{{.*}} -> tensor<32x1024x32xf32> schedule(#metaop.schedule<[parallel(0, 8), step(1, 256), step(1), step(0), step(2, 16)], tile = [2: 16], lanes = 2: 16>) role(packing)
// CHECK:         metaop.fused{{.*}} -> tensor<560x1024xf32> schedule(#metaop.schedule<[parallel(2, 8), step(1, 256), step(0, 14), step(2), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, prefetch = 8, shared = 2>) role(contraction)
// CHECK-NOT:   metaop.kernel
// LOOPS-LABEL: func.func @kernel_0
// LOOPS:         %[[PANEL:.*]] = memref.alloca
// LOOPS:         scf.for
// LOOPS:           scf.for
// LOOPS:             %[[BACK:.*]] = arith.muli %{{.*}}, %c-1
// LOOPS:             %[[PLACE:.*]] = arith.addi %{{.*}}, %[[BACK]]
// LOOPS:             vector.store %{{.*}}, %[[PANEL]][%[[PLACE]]]
func.func @main(%a: tensor<560x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<560x1024xf32> {
  %0 = metaop.broadcast %a dims = [0, 1] : tensor<560x1024xf32> -> tensor<560x1024x1024xf32>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<1024x1024xf32> -> tensor<560x1024x1024xf32>
  %2 = metaop.mul %0, %1 : tensor<560x1024x1024xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<560x1024x1024xf32> -> tensor<560x1024xf32>
  return %3 : tensor<560x1024xf32>
}

// -----

// Threads share rows here, and would each pack the same panels.
// CHECK-NOT:   remark
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.kernel(
// CHECK-NOT:   metaop.kernel(
func.func @main(%a: tensor<512x128xf32>, %b: tensor<64x128xf32>) -> tensor<512x64xf32> {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x128xf32> -> tensor<512x64x128xf32>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<64x128xf32> -> tensor<512x64x128xf32>
  %2 = metaop.mul %0, %1 : tensor<512x64x128xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x64x128xf32> -> tensor<512x64xf32>
  return %3 : tensor<512x64xf32>
}
