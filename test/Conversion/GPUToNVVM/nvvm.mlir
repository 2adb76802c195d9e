// RUN: metaop-opt %s -split-input-file -metaop-pipeline="from=gpu to=nvvm target=cuda" | FileCheck %s

// Of a descriptor nothing is left but the address; indices of 32 bits address by
// one addition, which stays within them. Accesses keep their alignment.
// CHECK-LABEL: llvm.func @narrow
// CHECK-SAME:    (%[[X:.*]]: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noalias}, %[[Y:.*]]: !llvm.ptr<1> {llvm.align = 64 : i64}, %[[N:.*]]: i64)
// CHECK-SAME:    gpu.kernel
// CHECK-SAME:    range = 8
// CHECK-SAME:    nvvm.kernel
// CHECK-SAME:    nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK-NOT:     struct
// CHECK:         %[[N32:.*]] = llvm.trunc %[[N]] : i64 to i32
// CHECK:         %[[T:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK:         %[[I:.*]] = llvm.add %[[T]], %[[N32]] overflow<nsw> : i32
// CHECK:         %[[P:.*]] = llvm.getelementptr %[[X]][%[[I]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
// CHECK:         llvm.load %[[P]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
gpu.module @narrow {
  gpu.func @narrow(%x: memref<?xf32, 1> {llvm.noalias}, %y: memref<?xf32, 1>, %n: index) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2, range = 8>, metaop.launch = #metaop.launch<threads = 128, index_bits = 32>} {
    %t = gpu.thread_id x
    %i = arith.addi %t, %n : index
    %v = vector.load %x[%i] {alignment = 16 : i64} : memref<?xf32, 1>, vector<4xf32>
    vector.store %v, %y[%t] {alignment = 16 : i64} : memref<?xf32, 1>, vector<4xf32>
    gpu.return
  }
}

// -----

// CHECK-LABEL: llvm.func @wide
// CHECK:         %[[T:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK:         %[[T64:.*]] = llvm.sext %[[T]] : i32 to i64
// CHECK:         llvm.add %[[T64]], %arg1 : i64
// CHECK-NOT:     nsw
gpu.module @wide {
  gpu.func @wide(%y: memref<?xf32, 1>, %n: index) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 128>} {
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %i = arith.addi %t, %n : index
    memref.store %f, %y[%i] : memref<?xf32, 1>
    gpu.return
  }
}

// -----

// Shuffles, barriers and shared memory. A product that feeds a sum is one
// operation where the kernel allows it.
// CHECK-LABEL: gpu.module @reduce
// CHECK:         llvm.mlir.global internal @[[S:.*]]() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x f32>
// CHECK:         llvm.func @reduce
// CHECK:         llvm.intr.fma
// CHECK:         nvvm.shfl.sync bfly
// CHECK:         llvm.cond_br
// CHECK:         llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> f32
gpu.module @reduce {
  gpu.func @reduce(%x: memref<?xf32, 1>, %y: memref<?xf32, 1>) workgroup(%s: memref<4xf32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 128, index_bits = 32>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c16 = arith.constant 16 : i32
    %w32 = arith.constant 32 : i32
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf32, 1>
    %q = arith.mulf %v, %v fastmath<contract> : f32
    %p = arith.addf %q, %v fastmath<contract> : f32
    %o, %valid = gpu.shuffle xor %p, %c16, %w32 : f32
    %sum = arith.addf %p, %o : f32
    %lane = arith.remui %t, %c32 : index
    %warp = arith.divui %t, %c32 : index
    %is = arith.cmpi eq, %lane, %c0 : index
    scf.if %is {
      memref.store %sum, %s[%warp] : memref<4xf32, 3>
    }
    gpu.barrier
    %r = memref.load %s[%c0] : memref<4xf32, 3>
    memref.store %r, %y[%t] : memref<?xf32, 1>
    gpu.return
  }
}

// -----

// Atomic operations order nothing else, and reach no farther than they must.
// CHECK-LABEL: llvm.func @atomics
// CHECK:         llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, f32
// CHECK:         llvm.atomicrmw max %{{.*}}, %{{.*}} syncscope("block") monotonic : !llvm.ptr<3>, i32
gpu.module @atomics {
  gpu.func @atomics(%x: memref<?xf32, 1>) workgroup(%s: memref<4xi32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    %f = arith.constant 1.0 : f32
    %k = arith.constant 7 : i32
    %t = gpu.thread_id x
    %0 = memref.atomic_rmw addf %f, %x[%t] : (f32, memref<?xf32, 1>) -> f32
    %1 = memref.atomic_rmw maxs %k, %s[%t] : (i32, memref<4xi32, 3>) -> i32
    gpu.return
  }
}

// -----

// What NVVM has no operation for in LLVM stays until PTX is made of it.
// CHECK-LABEL: llvm.func @stays
// CHECK:         nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.wait.group 0
gpu.module @stays {
  gpu.func @stays(%x: memref<?xf32, 1>, %y: memref<?xf32, 1>) workgroup(%s: memref<128xf32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 32>} {
    %t = gpu.thread_id x
    %p = llvm.mlir.zero : !llvm.ptr<3>
    %q = llvm.mlir.zero : !llvm.ptr<1>
    nvvm.cp.async.shared.global %p, %q, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.return
  }
}
