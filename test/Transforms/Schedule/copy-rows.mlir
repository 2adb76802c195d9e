// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-pack-operands,metaop-schedule-contractions,metaop-attach-panels,metaop-copy-rows))' -mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-pack-operands,metaop-schedule-contractions,metaop-attach-panels,metaop-copy-rows{report=true}))' 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: metaop-opt %s -split-input-file -metaop-pipeline=to=loops | FileCheck %s --check-prefix=LOOPS

// Rows of 4096 bytes: 14 of them, as far as a block of the sum goes, are copied
// inside of the loop over the tile's rows, and read for eight panels there.
// REPORT: remark: copies rows of 'tensor<560x1024xf32>' inside of 3 loops
// CHECK-LABEL: func @main
// CHECK:         %[[PANELS:.*]] = metaop.fused{{.*}} -> tensor<32x1024x32xf32>
// CHECK:         %[[ROWS:.*]] = metaop.fused{{.*}} -> tensor<560x1024xf32> schedule(#metaop.schedule<[step(1, 256), step(0, 14), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16>) role(packing)
// CHECK:         metaop.fused(%{{.*}} = %[[ROWS]] : tensor<560x1024xf32>, %{{.*}} = %[[PANELS]] : tensor<32x1024x32xf32>)
// CHECK-SAME:      schedule(#metaop.schedule<[parallel(2, 8), step(1, 256), step(0, 14), step(2), step(3, 32), step(1)], tile = [0: 14, 3: 32], lanes = 3: 16, prefetch = 8, shared = 3>) role(contraction)
// LOOPS-LABEL: func.func @kernel_0
// LOOPS-DAG:     %[[SIZE:.*]] = arith.constant 3584 : index
// LOOPS:         memref.alloca(%[[SIZE]])
func.func @main(%a: tensor<560x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<560x1024xf32> {
  %0 = metaop.broadcast %a dims = [0, 1] : tensor<560x1024xf32> -> tensor<560x1024x1024xf32>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<1024x1024xf32> -> tensor<560x1024x1024xf32>
  %2 = metaop.mul %0, %1 : tensor<560x1024x1024xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<560x1024x1024xf32> -> tensor<560x1024xf32>
  return %3 : tensor<560x1024xf32>
}

// -----

// Rows of other lengths are read where they are.
// REPORT-NOT: remark
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.fused
// CHECK-NOT:     metaop.fused
// LOOPS-LABEL: func.func @kernel_0
func.func @main(%a: tensor<560x1040xf32>, %b: tensor<1040x1024xf32>) -> tensor<560x1024xf32> {
  %0 = metaop.broadcast %a dims = [0, 1] : tensor<560x1040xf32> -> tensor<560x1040x1024xf32>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<1040x1024xf32> -> tensor<560x1040x1024xf32>
  %2 = metaop.mul %0, %1 : tensor<560x1040x1024xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<560x1040x1024xf32> -> tensor<560x1024xf32>
  return %3 : tensor<560x1024xf32>
}

// -----

// Rows that are neighbours, in A^T * B: steps of the sum are on pages of their
// own. Fourteen neighbours are copied by vectors of two.
// REPORT: remark: copies rows of 'tensor<512x3072xf32>' inside of 3 loops
// CHECK-LABEL: func @main
// CHECK:         %[[ROWS:.*]] = metaop.fused{{.*}} -> tensor<512x3072xf32> schedule(#metaop.schedule<[parallel(1, 1540), step(1, 14), step(0), step(1, 2)], tile = [1: 2], lanes = 1: 2>) role(packing)
// CHECK:         metaop.fused(%{{.*}} = %[[ROWS]] : tensor<512x3072xf32>, %{{.*}} : tensor<24x512x32xf32>)
// CHECK-SAME:      schedule(#metaop.schedule<[parallel(2, 8), parallel(1, 1540), step(1, 14), step(2), step(3, 32), step(0)], tile = [1: 14, 3: 32], lanes = 3: 16, prefetch = 8, shared = 3>)
// LOOPS-LABEL: func.func @kernel_0
func.func @main(%a: tensor<512x3072xf32>, %b: tensor<512x768xf32>) -> tensor<3072x768xf32> {
  %0 = metaop.broadcast %a dims = [0, 1] : tensor<512x3072xf32> -> tensor<512x3072x768xf32>
  %1 = metaop.broadcast %b dims = [0, 2] : tensor<512x768xf32> -> tensor<512x3072x768xf32>
  %2 = metaop.mul %0, %1 : tensor<512x3072x768xf32>
  %3 = metaop.reduce add %2 dims = [0] : tensor<512x3072x768xf32> -> tensor<3072x768xf32>
  return %3 : tensor<3072x768xf32>
}

// -----

// The same steps in a batch, whose dimension is one by one outside of the copy:
// what passes by for a panel are the 32 steps of one product.
// REPORT-NOT: remark
// CHECK-LABEL: func @main
// CHECK-NOT:     -> tensor<128x32x3072xf32>
func.func @main(%a: tensor<128x32x1100xf32>, %b: tensor<128x32x160xf32>) -> tensor<128x1100x160xf32> {
  %0 = metaop.broadcast %a dims = [0, 1, 2] : tensor<128x32x1100xf32> -> tensor<128x32x1100x160xf32>
  %1 = metaop.broadcast %b dims = [0, 1, 3] : tensor<128x32x160xf32> -> tensor<128x32x1100x160xf32>
  %2 = metaop.mul %0, %1 : tensor<128x32x1100x160xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<128x32x1100x160xf32> -> tensor<128x1100x160xf32>
  return %3 : tensor<128x1100x160xf32>
}
