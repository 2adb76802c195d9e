// RUN: metaop-opt %s -convert-metaop-to-gpu -canonicalize -cse | FileCheck %s

// Copies and lanes are added as a tree, and then to what came before. Threads
// of a warp exchange sums, bit by bit of their numbers; warps go through shared
// memory. One thread stores what all have. The loop has its tile side by side,
// and is not unrolled any further.
// CHECK: #[[LEFT:.*]] = #llvm.loop_unroll<disable = true>
// CHECK: #[[LOOP:.*]] = #llvm.loop_annotation<unroll = #[[LEFT]]>
// CHECK-LABEL: gpu.func @rows(
// CHECK-SAME:    %[[X:.*]]: memref<80000xf32, 1>{{.*}}, %[[Y:.*]]: memref<20xf32, 1>)
// CHECK-SAME:    workgroup(%[[PARTS:.*]] : memref<4xf32, 3> {llvm.align = 16 : i64}) kernel
// CHECK-SAME:    threads = 128
// CHECK:         %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c4000 step %c1024 iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32)
// CHECK:           scf.if %{{.*}} -> (f32) {
// CHECK:             %[[A:.*]] = vector.load %[[X]]
// CHECK:             %[[B:.*]] = vector.load %[[X]]
// CHECK:             arith.addf %[[A]], %[[B]] fastmath<contract> : vector<4xf32>
// CHECK:             %[[MORE:.*]] = arith.addf %[[SO_FAR]], %{{.*}} : f32
// CHECK-NEXT:        scf.yield %[[MORE]]
// CHECK:           } else {
// CHECK:             arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK:         } {loop_annotation = #[[LOOP]]}
// CHECK:         gpu.shuffle  xor %[[SUM]], %c1_i32, %c32_i32 : f32
// CHECK:         gpu.shuffle  xor %{{.*}}, %c2_i32, %c32_i32 : f32
// CHECK:         gpu.shuffle  xor %{{.*}}, %c4_i32, %c32_i32 : f32
// CHECK:         gpu.shuffle  xor %{{.*}}, %c8_i32, %c32_i32 : f32
// CHECK:         %[[LAST:.*]], %{{.*}} = gpu.shuffle  xor %{{.*}}, %c16_i32, %c32_i32 : f32
// CHECK:         %[[WARP:.*]] = arith.addf %{{.*}}, %[[LAST]]
// CHECK:         scf.if
// CHECK:           memref.store %[[WARP]], %[[PARTS]][%{{.*}}]
// CHECK:         gpu.barrier
// CHECK:         memref.load %[[PARTS]][%c0]
// CHECK:         memref.load %[[PARTS]][%c1]
// CHECK:         memref.load %[[PARTS]][%c2]
// CHECK:         memref.load %[[PARTS]][%c3]
// CHECK:         %[[ALL:.*]] = arith.addf
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK:         scf.if %[[FIRST]] {
// CHECK-NEXT:      memref.store %{{.*}}, %[[Y]][%{{.*}}]
func.func private @rows(%x: tensor<20x4000xf32>) -> tensor<20xf32> {
  %k = metaop.kernel(%kx = %x : tensor<20x4000xf32>) -> tensor<20xf32> {
    %r = metaop.fused(%bx = %kx : tensor<20x4000xf32>) -> tensor<20xf32>
        schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 8], lanes = 1: 4>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i, j) -> (i)> : tensor<20x4000xf32> -> tensor<20xf32>
      metaop.yield %y : tensor<20xf32>
    }
    metaop.yield %r : tensor<20xf32>
  }
  return %k : tensor<20xf32>
}

// Half floats are added as floats; a shuffle has 32 bits.
// CHECK-LABEL: gpu.func @half(
// CHECK:         arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK-NOT:     memref<{{.*}}, 3>
// CHECK:         gpu.shuffle  xor %{{.*}} : f32
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
func.func private @half(%x: tensor<32x64xbf16>) -> tensor<32xbf16> {
  %k = metaop.kernel(%kx = %x : tensor<32x64xbf16>) -> tensor<32xbf16> {
    %r = metaop.fused(%bx = %kx : tensor<32x64xbf16>) -> tensor<32xbf16>
        schedule(#metaop.schedule<[block(0, 16), thread(0), step(1, 64), thread(1, 8)], tile = [1: 8], lanes = 1: 8>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i, j) -> (i)> : tensor<32x64xbf16> -> tensor<32xbf16>
      metaop.yield %y : tensor<32xbf16>
    }
    metaop.yield %r : tensor<32xbf16>
  }
  return %k : tensor<32xbf16>
}

// Columns: neighbouring threads keep different elements, so no warp has two
// parts of one. The rows of a tile are constants away from its first.
// CHECK-LABEL: gpu.func @columns(
// CHECK-SAME:    %[[X:.*]]: memref<8192xf32, 1>
// CHECK-SAME:    workgroup(%[[PARTS:.*]] : memref<256xf32, 3>
// CHECK:         memref.load %[[X]][%[[FIRST:.*]]] :
// CHECK-NEXT:    %[[SECOND:.*]] = arith.addi %[[FIRST]], %c512 : index
// CHECK-NEXT:    memref.load %[[X]][%[[SECOND]]]
// CHECK-NEXT:    %[[THIRD:.*]] = arith.addi %[[FIRST]], %c1024 : index
// CHECK-NEXT:    memref.load %[[X]][%[[THIRD]]]
// CHECK-NOT:     gpu.shuffle
// CHECK:         memref.store %{{.*}}, %[[PARTS]]
// CHECK-NEXT:    gpu.barrier
// CHECK-COUNT-8: memref.load %[[PARTS]]
func.func private @columns(%x: tensor<128x64xf32>) -> tensor<64xf32> {
  %k = metaop.kernel(%kx = %x : tensor<128x64xf32>) -> tensor<64xf32> {
    %r = metaop.fused(%bx = %kx : tensor<128x64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(1, 32), step(0, 64), thread(0), thread(1)], tile = [0: 8]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i, j) -> (j)> : tensor<128x64xf32> -> tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %r : tensor<64xf32>
  }
  return %k : tensor<64xf32>
}

// A tile beside the loop has as many reads in an iteration.
// CHECK-LABEL: gpu.func @tile_beside(
// CHECK:         scf.for
// CHECK-COUNT-4:   memref.load
// CHECK:         } {loop_annotation = #[[LOOP]]}
func.func private @tile_beside(%x: tensor<100x1024xf32>) -> tensor<1024xf32> {
  %k = metaop.kernel(%kx = %x : tensor<100x1024xf32>) -> tensor<1024xf32> {
    %r = metaop.fused(%bx = %kx : tensor<100x1024xf32>) -> tensor<1024xf32>
        schedule(#metaop.schedule<[block(1, 128), thread(1), step(0)], tile = [1: 4]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i, j) -> (j)> : tensor<100x1024xf32> -> tensor<1024xf32>
      metaop.yield %y : tensor<1024xf32>
    }
    metaop.yield %r : tensor<1024xf32>
  }
  return %k : tensor<1024xf32>
}

// One read in an iteration leaves it to the assembler.
// CHECK-LABEL: gpu.func @no_tile(
// CHECK:         scf.for
// CHECK-NOT:     loop_annotation
// CHECK:         gpu.return
func.func private @no_tile(%x: tensor<100x1024xf32>) -> tensor<1024xf32> {
  %k = metaop.kernel(%kx = %x : tensor<100x1024xf32>) -> tensor<1024xf32> {
    %r = metaop.fused(%bx = %kx : tensor<100x1024xf32>) -> tensor<1024xf32>
        schedule(#metaop.schedule<[block(1, 128), thread(1), step(0)]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i, j) -> (j)> : tensor<100x1024xf32> -> tensor<1024xf32>
      metaop.yield %y : tensor<1024xf32>
    }
    metaop.yield %r : tensor<1024xf32>
  }
  return %k : tensor<1024xf32>
}

// The parts of many threads are combined in a loop, eight in each iteration, and
// what is left behind it.
// CHECK-LABEL: gpu.func @many_groups(
// CHECK-SAME:    workgroup(%[[PARTS:.*]] : memref<896xf32, 3>
// CHECK:         gpu.barrier
// CHECK-COUNT-8: memref.load %[[PARTS]]
// CHECK:         %[[LOOPED:.*]] = scf.for %{{.*}} = %c8 to %c24 step %c8 iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK-COUNT-8:   memref.load %[[PARTS]]
// CHECK:           %[[NEXT:.*]] = arith.addf %[[SUM]],
// CHECK-NEXT:      scf.yield %[[NEXT]]
// CHECK-COUNT-4: memref.load %[[PARTS]]
// CHECK:         arith.addf %[[LOOPED]],
func.func private @many_groups(%x: tensor<1000x40xf32>) -> tensor<40xf32> {
  %0 = metaop.kernel(%a = %x : tensor<1000x40xf32>) -> tensor<40xf32> {
    %1 = metaop.fused(%c = %a : tensor<1000x40xf32>) -> tensor<40xf32> schedule(#metaop.schedule<[block(1, 32), step(0, 28), thread(0), thread(1)]>) {
      %2 = metaop.reindex_reduce add %c map affine_map<(d0, d1) -> (d1)> : tensor<1000x40xf32> -> tensor<40xf32>
      metaop.yield %2 : tensor<40xf32>
    }
    metaop.yield %1 : tensor<40xf32>
  }
  return %0 : tensor<40xf32>
}
