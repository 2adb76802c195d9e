// RUN: metaop-opt %s -metaop-pipeline="from=gpu target=cuda chip=sm_80" | metaop-translate --print-ptx | FileCheck %s

// The accesses that kernels are scheduled for, as instructions.

// Vectors of 16 bytes are one access, also where only the arithmetic of the
// offset tells their alignment. An input that no call writes over goes through
// the cache for what is only read.
// CHECK-LABEL: .entry vectors(
// CHECK:         .param .u64 .ptr .global .align 64 vectors_param_0
// CHECK:         .reqntid 256, 1, 1
// CHECK:         .minnctapersm 4
// CHECK:         ld.global.nc.v4.b32
// CHECK-NOT:     ld.global.b32
// CHECK:         ld.global.v4.b32
// CHECK:         st.global.v4.b32
// CHECK:         ret;
gpu.module @vectors {
  gpu.func @vectors(%x: memref<?xf32, 1> {llvm.noalias}, %y: memref<?xf32, 1>, %z: memref<?xf32, 1>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 3>, metaop.launch = #metaop.launch<threads = 256, min_blocks = 4, index_bits = 32>} {
    %c4 = arith.constant 4 : index
    %c1024 = arith.constant 1024 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %0 = arith.muli %b, %c1024 : index
    %1 = arith.muli %t, %c4 : index
    %i = arith.addi %0, %1 : index
    %v = vector.load %x[%i] {alignment = 16 : i64} : memref<?xf32, 1>, vector<4xf32>
    %w = vector.load %y[%i] : memref<?xf32, 1>, vector<4xf32>
    %s = arith.addf %v, %w : vector<4xf32>
    vector.store %s, %z[%i] : memref<?xf32, 1>, vector<4xf32>
    gpu.return
  }
}

// Eight halves are one access, too; a thread computes in f32 and rounds by one
// instruction for two.
// CHECK-LABEL: .entry halves(
// CHECK:         ld.global.v4.b32
// CHECK:         fma.rn.f32
// CHECK:         cvt.rn.bf16x2.f32
// CHECK:         st.global.v4.b32
gpu.module @halves {
  gpu.func @halves(%x: memref<?xbf16, 1>, %y: memref<?xbf16, 1>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 128>} {
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %i = arith.muli %t, %c8 : index
    %v = vector.load %x[%i] {alignment = 16 : i64} : memref<?xbf16, 1>, vector<8xbf16>
    %w = arith.extf %v : vector<8xbf16> to vector<8xf32>
    %s = math.fma %w, %w, %w : vector<8xf32>
    %r = arith.truncf %s : vector<8xf32> to vector<8xbf16>
    vector.store %r, %y[%i] {alignment = 16 : i64} : memref<?xbf16, 1>, vector<8xbf16>
    gpu.return
  }
}

// Places a constant apart are one address, in a loop, too.
// CHECK-LABEL: .entry tile(
// CHECK:         .pragma "nounroll";
// CHECK:         ld.global.nc.b32 %{{.*}}, [%[[AT:rd[0-9]+]]+-1048576];
// CHECK-NEXT:    ld.global.nc.b32 %{{.*}}, [%[[AT]]+-524288];
// CHECK-NEXT:    ld.global.nc.b32 %{{.*}}, [%[[AT]]];
// CHECK:         bra
#kept = #llvm.loop_annotation<unroll = <disable = true>>
gpu.module @tile {
  gpu.func @tile(%x: memref<67108864xf32, 1> {llvm.noalias}, %y: memref<?xf32, 1>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 32, index_bits = 32>} {
    %c0 = arith.constant 0 : index
    %c96 = arith.constant 96 : index
    %c4096 = arith.constant 4096 : index
    %c16384 = arith.constant 16384 : index
    %c131072 = arith.constant 131072 : index
    %c262144 = arith.constant 262144 : index
    %f0 = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %sum = scf.for %i = %c0 to %c16384 step %c96 iter_args(%so_far = %f0) -> (f32) {
      %row = arith.muli %i, %c4096 : index
      %0 = arith.addi %row, %t : index
      %1 = arith.addi %0, %c131072 : index
      %2 = arith.addi %0, %c262144 : index
      %a = memref.load %x[%0] : memref<67108864xf32, 1>
      %b = memref.load %x[%1] : memref<67108864xf32, 1>
      %c = memref.load %x[%2] : memref<67108864xf32, 1>
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %c : f32
      %more = arith.addf %so_far, %abc : f32
      scf.yield %more : f32
    } {loop_annotation = #kept}
    memref.store %sum, %y[%t] : memref<?xf32, 1>
    gpu.return
  }
}

// An offset of three elements allows no vector.
// CHECK-LABEL: .entry unaligned(
// CHECK-COUNT-4: ld.global.b32
gpu.module @unaligned {
  gpu.func @unaligned(%x: memref<?xf32, 1>, %y: memref<?xf32, 1>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 128>} {
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    %i = arith.muli %t, %c3 : index
    %j = arith.muli %t, %c4 : index
    %v = vector.load %x[%i] : memref<?xf32, 1>, vector<4xf32>
    vector.store %v, %y[%j] {alignment = 16 : i64} : memref<?xf32, 1>, vector<4xf32>
    gpu.return
  }
}

// A reduction: shuffles in a warp, then shared memory behind a barrier.
// CHECK-LABEL: .entry reduce(
// CHECK:         shfl.sync.bfly.b32
// CHECK:         st.shared.b32
// CHECK:         bar.sync 0
// CHECK:         ld.shared.b32
gpu.module @reduce {
  gpu.func @reduce(%x: memref<?xf32, 1>, %y: memref<?xf32, 1>) workgroup(%s: memref<4xf32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 128, index_bits = 32>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c16 = arith.constant 16 : i32
    %w32 = arith.constant 32 : i32
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf32, 1>
    %o, %valid = gpu.shuffle xor %v, %c16, %w32 : f32
    %sum = arith.addf %v, %o : f32
    %lane = arith.remui %t, %c32 : index
    %warp = arith.divui %t, %c32 : index
    %is = arith.cmpi eq, %lane, %c0 : index
    scf.if %is {
      memref.store %sum, %s[%warp] : memref<4xf32, 3>
    }
    gpu.barrier
    %r = memref.load %s[%c1] : memref<4xf32, 3>
    memref.store %r, %y[%t] : memref<?xf32, 1>
    gpu.return
  }
}

// A product and a sum that were not fused before are not fused by the assembler.
// CHECK-LABEL: .entry separate(
// CHECK:         mul.rn.f32
// CHECK:         add.rn.f32
// CHECK:         div.rn.f32
// CHECK:         sqrt.rn.f32
// CHECK-NOT:     ftz
gpu.module @separate {
  gpu.func @separate(%x: memref<?xf32, 1>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf32, 1>
    %p = arith.mulf %v, %v : f32
    %s = arith.addf %p, %v : f32
    %q = arith.divf %v, %s : f32
    %r = math.sqrt %q : f32
    memref.store %r, %x[%t] : memref<?xf32, 1>
    gpu.return
  }
}

// CHECK-LABEL: .entry atomics(
// CHECK-NOT:     {{fence|membar}}
// CHECK:         atom.global.add.f32
// CHECK-NOT:     {{fence|membar}}
// CHECK:         atom.shared.max.s32
// CHECK-NOT:     {{fence|membar}}
// CHECK:         ret;
gpu.module @atomics {
  gpu.func @atomics(%x: memref<?xf32, 1>) workgroup(%s: memref<32xi32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    %f = arith.constant 1.0 : f32
    %k = arith.constant 7 : i32
    %t = gpu.thread_id x
    %0 = memref.atomic_rmw addf %f, %x[%t] : (f32, memref<?xf32, 1>) -> f32
    %1 = memref.atomic_rmw maxs %k, %s[%t] : (i32, memref<32xi32, 3>) -> i32
    gpu.return
  }
}

// More shared memory than a kernel may hold by itself.
// CHECK:         .extern .shared .align 128 .b8 dynamic_shared[]
// CHECK:         .entry large(
// CHECK:         st.shared.b32
gpu.module @large {
  gpu.func @large(%x: memref<?xf32, 1>) workgroup(%s: memref<16384xf32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    %c5 = arith.constant 5 : index
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf32, 1>
    memref.store %v, %s[%t] : memref<16384xf32, 3>
    gpu.barrier
    %w = memref.load %s[%c5] : memref<16384xf32, 3>
    memref.store %w, %x[%t] : memref<?xf32, 1>
    gpu.return
  }
}

// A loop that is to be left as it is says so to the assembler, too.
// CHECK-LABEL: .entry loop(
// CHECK:         .pragma "nounroll";
#left = #llvm.loop_annotation<unroll = <disable = true>>
gpu.module @loop {
  gpu.func @loop(%x: memref<?xf32, 1>, %y: memref<?xf32, 1>, %n: index) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 128>} {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %f0 = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %sum = scf.for %i = %t to %n step %c128 iter_args(%so_far = %f0) -> (f32) {
      %v = memref.load %x[%i] : memref<?xf32, 1>
      %more = arith.addf %so_far, %v : f32
      scf.yield %more : f32
    } {loop_annotation = #left}
    memref.store %sum, %y[%t] : memref<?xf32, 1>
    gpu.return
  }
}
