// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-pack-operands,metaop-schedule-contractions,metaop-attach-panels,metaop-attach-epilogues))' -mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-pack-operands,metaop-schedule-contractions,metaop-attach-panels,metaop-attach-epilogues{report=true}))' 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: metaop-opt %s -split-input-file -metaop-pipeline=to=loops | FileCheck %s --check-prefix=LOOPS

// A bias and an activation follow 14 rows of sums, which have memory of their
// own: nothing but the result is written.
// REPORT: remark: is an epilogue of a contraction inside of 2 of its loops
// CHECK-LABEL: func @main
// CHECK:       metaop.kernel(
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0, 28), step(0, 14), step(1, 32, body), step(2)], tile = [0: 14, 1: 32], lanes = 1: 16, prefetch = 8>) role(contraction)
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0, 28), step(0, 14), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue)
// CHECK-NOT:   metaop.kernel(
// LOOPS-LABEL: func.func @kernel_0
// LOOPS-SAME:    memref<172032xf32>, %{{.*}}: index, %{{.*}}: index)
// LOOPS:         %[[SUMS:.*]] = memref.alloca
// LOOPS:         %[[BACK:.*]] = arith.muli %{{.*}}, %c-1
// LOOPS:         %[[PLACE:.*]] = arith.addi %{{.*}}, %[[BACK]]
// LOOPS:         vector.store %{{.*}}, %[[SUMS]][%[[PLACE]]]
// LOOPS:         vector.load %[[SUMS]]
func.func @main(%a: tensor<512x200xf32>, %b: tensor<200x336xf32>, %bias: tensor<336xf32>) -> tensor<512x336xf32> {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x200xf32> -> tensor<512x336x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x336xf32> -> tensor<512x336x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x336x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x336x200xf32> -> tensor<512x336xf32>
  %4 = metaop.broadcast %bias dims = [1] : tensor<336xf32> -> tensor<512x336xf32>
  %5 = metaop.add %3, %4 : tensor<512x336xf32>
  %6 = metaop.tanh %5 : tensor<512x336xf32>
  return %6 : tensor<512x336xf32>
}

// -----

// Blocks of a long sum stand outside: the result's memory holds sums until the
// last block, behind which the epilogue runs.
// REPORT: remark: is an epilogue of a contraction inside of 2 of its loops
// CHECK-LABEL: func @main
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(1, 8), step(2, 240), step(0, 14),
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(1, 256), step(0, 14), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>) role(epilogue)
// LOOPS-LABEL: func.func @kernel_0
// LOOPS:         arith.cmpi eq
// LOOPS:         arith.cmpi sge
func.func @main(%a: tensor<512x1200xf32>, %b: tensor<1200x1024xf32>) -> tensor<512x1024xf32> {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x1200xf32> -> tensor<512x1024x1200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<1200x1024xf32> -> tensor<512x1024x1200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x1024x1200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x1024x1200xf32> -> tensor<512x1024xf32>
  %4 = metaop.tanh %3 : tensor<512x1024xf32>
  return %4 : tensor<512x1024xf32>
}

// -----

// Pixels of a 1x1 convolution are one loop, and so they are of the epilogue.
// REPORT: remark: is an epilogue
// CHECK-LABEL: func @main
// CHECK:         metaop.fused{{.*}} shared = {{[1-9]}}>)
// CHECK-NOT:   metaop.kernel(
func.func @main(%x: tensor<4x64x28x28xf32>, %w: tensor<64x64xf32>, %y: tensor<4x64x28x28xf32>) -> tensor<4x64x28x28xf32> {
  %0 = metaop.reindex %x map affine_map<(n, o, i, j, c) -> (n, c, i, j)> fill 0.0 : f32 : tensor<4x64x28x28xf32> -> tensor<4x64x28x28x64xf32>
  %1 = metaop.broadcast %w dims = [1, 4] : tensor<64x64xf32> -> tensor<4x64x28x28x64xf32>
  %2 = metaop.mul %0, %1 : tensor<4x64x28x28x64xf32>
  %3 = metaop.reduce add %2 dims = [4] : tensor<4x64x28x28x64xf32> -> tensor<4x64x28x28xf32>
  %4 = metaop.add %3, %y : tensor<4x64x28x28xf32>
  return %4 : tensor<4x64x28x28xf32>
}

// -----

// Sums that others read are a result as well.
// REPORT: remark: is an epilogue of a contraction inside of 2 of its loops
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel({{.*}} -> (tensor<512x336xf32>, tensor<512x336xf32>)
// CHECK:           %[[SUMS:.*]] = metaop.fused
// CHECK:           %[[Y:.*]] = metaop.fused({{.*}} = %[[SUMS]]
// CHECK:           metaop.yield %[[Y]], %[[SUMS]]
func.func @main(%a: tensor<512x200xf32>, %b: tensor<200x336xf32>) -> (tensor<512x336xf32>, tensor<512x336xf32>) {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x200xf32> -> tensor<512x336x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x336xf32> -> tensor<512x336x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x336x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x336x200xf32> -> tensor<512x336xf32>
  %4 = metaop.tanh %3 : tensor<512x336xf32>
  return %3, %4 : tensor<512x336xf32>, tensor<512x336xf32>
}

// -----

// Small sums are in cache anyway.
// REPORT-NOT: remark
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.kernel(
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = metaop.broadcast %a dims = [0, 1] : tensor<64x64xf32> -> tensor<64x64x64xf32>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<64x64xf32> -> tensor<64x64x64xf32>
  %2 = metaop.mul %0, %1 : tensor<64x64x64xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<64x64x64xf32> -> tensor<64x64xf32>
  %4 = metaop.tanh %3 : tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// -----

// A softmax of sums: its three stages share the rows of a block, too, and what
// passes between them is a number or a row on the stack.
// REPORT: remark: is an epilogue of a contraction inside of 2 of its loops
// REPORT: remark: is an epilogue of a contraction inside of 2 of its loops
// REPORT: remark: is an epilogue of a contraction inside of 2 of its loops
// CHECK-LABEL: func @main
// CHECK:       metaop.kernel({{.*}} -> tensor<512x336xf32>
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0, 28), step(0, 14), step(1, 32, body), step(2)],
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0, 28), step(0, 14), step(0), step(1, 64)], tile = [1: 64], lanes = 1: 16, shared = 2>) role(epilogue)
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0, 28), step(0, 14), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 3>) role(epilogue)
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0, 28), step(0, 14), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 3>) role(epilogue)
// CHECK-NOT:   metaop.kernel(
// LOOPS:       memref<67200xf32>, %{{.*}}: memref<172032xf32>, %{{.*}}: index, %{{.*}}: index)
// LOOPS:         %[[SUMS:.*]] = memref.alloca(%c4704)
// LOOPS:         memref.alloca(%c1)
// LOOPS:         %[[ROW:.*]] = memref.alloca(%c336)
// LOOPS:         vector.store %{{.*}}, %[[SUMS]]
// LOOPS:         vector.load %[[SUMS]]
// LOOPS:         math.exp
// LOOPS:         vector.store %{{.*}}, %[[ROW]]
// LOOPS:         vector.load %[[ROW]]
// LOOPS:         arith.divf
func.func @main(%a: tensor<512x200xf32>, %b: tensor<200x336xf32>) -> tensor<512x336xf32> {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x200xf32> -> tensor<512x336x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x336xf32> -> tensor<512x336x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x336x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x336x200xf32> -> tensor<512x336xf32>
  %4 = metaop.reduce max %3 dims = [1] : tensor<512x336xf32> -> tensor<512xf32>
  %5 = metaop.broadcast %4 dims = [0] : tensor<512xf32> -> tensor<512x336xf32>
  %6 = metaop.sub %3, %5 : tensor<512x336xf32>
  %7 = metaop.exp %6 : tensor<512x336xf32>
  %8 = metaop.reduce add %7 dims = [1] : tensor<512x336xf32> -> tensor<512xf32>
  %9 = metaop.broadcast %8 dims = [0] : tensor<512xf32> -> tensor<512x336xf32>
  %10 = metaop.div %7, %9 : tensor<512x336xf32>
  return %10 : tensor<512x336xf32>
}

// -----

// An epilogue may have results of both kinds.
// REPORT: remark: is an epilogue of a contraction inside of 2 of its loops
// CHECK-LABEL: func @main
// CHECK:       metaop.kernel({{.*}} -> (tensor<512x336xf32>, tensor<512xf32>)
// CHECK:         metaop.fused
// CHECK:         metaop.fused{{.*}} -> (tensor<512x336xf32>, tensor<512xf32>) schedule({{.*}} shared = 2>)
// CHECK-NOT:   metaop.kernel(
func.func @main(%a: tensor<512x200xf32>, %b: tensor<200x336xf32>, %r: tensor<512x336xf32>) -> (tensor<512x336xf32>, tensor<512xf32>) {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x200xf32> -> tensor<512x336x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x336xf32> -> tensor<512x336x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x336x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x336x200xf32> -> tensor<512x336xf32>
  %4 = metaop.add %3, %r : tensor<512x336xf32>
  %5 = metaop.reduce add %4 dims = [1] : tensor<512x336xf32> -> tensor<512xf32>
  return %4, %5 : tensor<512x336xf32>, tensor<512xf32>
}

// -----

// Columns of a block are no whole columns of the sums.
// REPORT-NOT: remark
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.kernel(
func.func @main(%a: tensor<512x200xf32>, %b: tensor<200x336xf32>) -> tensor<336xf32> {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x200xf32> -> tensor<512x336x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x336xf32> -> tensor<512x336x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x336x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x336x200xf32> -> tensor<512x336xf32>
  %4 = metaop.reduce max %3 dims = [0] : tensor<512x336xf32> -> tensor<336xf32>
  return %4 : tensor<336xf32>
}

// -----

// A second product is none of the first one's epilogues.
// REPORT-NOT: remark
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.kernel(
func.func @main(%a: tensor<512x200xf32>, %b: tensor<200x256xf32>, %c: tensor<256x96xf32>) -> tensor<512x96xf32> {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x200xf32> -> tensor<512x256x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x256xf32> -> tensor<512x256x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x256x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x256x200xf32> -> tensor<512x256xf32>
  %4 = metaop.broadcast %3 dims = [0, 2] : tensor<512x256xf32> -> tensor<512x96x256xf32>
  %5 = metaop.reindex %c map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<256x96xf32> -> tensor<512x96x256xf32>
  %6 = metaop.mul %4, %5 : tensor<512x96x256xf32>
  %7 = metaop.reduce add %6 dims = [2] : tensor<512x96x256xf32> -> tensor<512x96xf32>
  return %7 : tensor<512x96xf32>
}

// -----

// Rows of the product are positions of all samples; their sum over samples goes
// through another part of them in each block.
// REPORT: remark: is an epilogue of a contraction inside of 1 of its loops
// REPORT-NOT: remark
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.kernel(
// CHECK-NOT:   metaop.kernel(
// LOOPS:       func.func @kernel_1
func.func @main(%a: tensor<4x128x200xf32>, %b: tensor<200x256xf32>, %r: tensor<4x128x256xf32>) -> (tensor<4x128x256xf32>, tensor<128x256xf32>) {
  %0 = metaop.broadcast %a dims = [0, 1, 3] : tensor<4x128x200xf32> -> tensor<4x128x256x200xf32>
  %1 = metaop.reindex %b map affine_map<(n, i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x256xf32> -> tensor<4x128x256x200xf32>
  %2 = metaop.mul %0, %1 : tensor<4x128x256x200xf32>
  %3 = metaop.reduce add %2 dims = [3] : tensor<4x128x256x200xf32> -> tensor<4x128x256xf32>
  %y = metaop.add %3, %r : tensor<4x128x256xf32>
  %4 = metaop.reduce max %y dims = [2] : tensor<4x128x256xf32> -> tensor<4x128xf32>
  %5 = metaop.broadcast %4 dims = [0, 1] : tensor<4x128xf32> -> tensor<4x128x256xf32>
  %7 = metaop.sub %y, %5 : tensor<4x128x256xf32>
  %8 = metaop.reduce add %7 dims = [0] : tensor<4x128x256xf32> -> tensor<128x256xf32>
  return %7, %8 : tensor<4x128x256xf32>, tensor<128x256xf32>
}

// -----

// The gradient of a convolution by its filters, and their update: 16 channels
// are the rows of a block, whose filters fill whole cache lines. These are one
// loop of the epilogue, which goes through them by whole vectors.
// REPORT: remark: is an epilogue of a contraction inside of 2 of its loops
// CHECK-LABEL: func @main
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(4, 16), step(1), step(7, 32), step(4), step(5, 3), step(6, 3), step(0), step(2), step(3)], tile = [5: 3, 6: 3, 7: 32], lanes = 7: 16, transpose = 6
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(1, 144), step(0, 32), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 2>)
func.func @main(%dy: tensor<8x128x4x4xf32>, %x: tensor<8x128x4x4xf32>, %w: tensor<128x128x3x3xf32>) -> tensor<128x128x3x3xf32> {
  %0 = metaop.reindex %dy map affine_map<(n, k, i, j, c, r, s) -> (n, k, i, j)> fill 0.0 : f32 : tensor<8x128x4x4xf32> -> tensor<8x128x4x4x128x3x3xf32>
  %1 = metaop.reindex %x map affine_map<(n, k, i, j, c, r, s) -> (n, c, i + r - 1, j + s - 1)> fill 0.0 : f32 : tensor<8x128x4x4xf32> -> tensor<8x128x4x4x128x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<8x128x4x4x128x3x3xf32>
  %3 = metaop.reduce add %2 dims = [0, 2, 3] : tensor<8x128x4x4x128x3x3xf32> -> tensor<128x128x3x3xf32>
  %4 = metaop.sub %w, %3 : tensor<128x128x3x3xf32>
  return %4 : tensor<128x128x3x3xf32>
}

// -----

// One row of the sums: no loop of what reads it goes through the others.
// REPORT-NOT: is an epilogue
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.kernel(
func.func @main(%a: tensor<512x200xf32>, %b: tensor<200x1024xf32>) -> tensor<1024xf32> {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x200xf32> -> tensor<512x1024x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x1024xf32> -> tensor<512x1024x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x1024x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x1024x200xf32> -> tensor<512x1024xf32>
  %4 = metaop.reindex %3 map affine_map<(j) -> (0, j)> fill 0.0 : f32 : tensor<512x1024xf32> -> tensor<1024xf32>
  %5 = metaop.tanh %4 : tensor<1024xf32>
  return %5 : tensor<1024xf32>
}

// -----

// The rows are those of a batch and of its sequences: the result has both
// dimensions behind packing, too, and the bias is added in its blocks. That is
// little but stores, so it follows each tile.
// REPORT: remark: is an epilogue of a contraction inside of 3 of its loops
// CHECK-LABEL: func @main
// CHECK:       metaop.kernel({{.*}} = %arg1 : tensor<1024x256xf32>) -> tensor<32x256x32xf32>
// CHECK:       metaop.kernel({{.*}} = %arg0 : tensor<64x64x256xf32>, {{.*}} -> tensor<64x64x1024xf32>
// CHECK:         metaop.fused{{.*}} -> tensor<64x64x1024xf32> schedule(#metaop.schedule<[parallel(0, 140), step(0, 14), step(2), step(3, 32), step(1)], {{.*}} role(contraction)
// CHECK:           metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3 * 32 + d4)>
// CHECK:         metaop.fused{{.*}} -> tensor<64x64x1024xf32> schedule(#metaop.schedule<[parallel(0, 140), step(0, 14), step(1, 32), step(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, shared = 3>) role(epilogue)
// CHECK-NOT:   metaop.kernel(
// CHECK-NOT:   metaop.reshape
func.func @main(%x: tensor<64x64x256xf32>, %w: tensor<1024x256xf32>, %bias: tensor<1024xf32>) -> tensor<64x64x1024xf32> {
  %0 = metaop.broadcast %x dims = [0, 1, 2] : tensor<64x64x256xf32> -> tensor<64x64x256x1024xf32>
  %1 = metaop.reindex %w map affine_map<(n, i, k, j) -> (j, k)> fill 0.0 : f32 : tensor<1024x256xf32> -> tensor<64x64x256x1024xf32>
  %2 = metaop.mul %0, %1 : tensor<64x64x256x1024xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<64x64x256x1024xf32> -> tensor<64x64x1024xf32>
  %4 = metaop.broadcast %bias dims = [2] : tensor<1024xf32> -> tensor<64x64x1024xf32>
  %5 = metaop.add %3, %4 : tensor<64x64x1024xf32>
  return %5 : tensor<64x64x1024xf32>
}

// -----

// What else is large is read in longer rows.
// REPORT: remark: is an epilogue of a contraction inside of 2 of its loops
// CHECK-LABEL: func @main
// CHECK:         metaop.fused{{.*}} shared = 2>) role(epilogue)
func.func @main(%x: tensor<64x64x256xf32>, %w: tensor<1024x256xf32>, %r: tensor<64x64x1024xf32>) -> tensor<64x64x1024xf32> {
  %0 = metaop.broadcast %x dims = [0, 1, 2] : tensor<64x64x256xf32> -> tensor<64x64x256x1024xf32>
  %1 = metaop.reindex %w map affine_map<(n, i, k, j) -> (j, k)> fill 0.0 : f32 : tensor<1024x256xf32> -> tensor<64x64x256x1024xf32>
  %2 = metaop.mul %0, %1 : tensor<64x64x256x1024xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<64x64x256x1024xf32> -> tensor<64x64x1024xf32>
  %4 = metaop.add %3, %r : tensor<64x64x1024xf32>
  return %4 : tensor<64x64x1024xf32>
}
