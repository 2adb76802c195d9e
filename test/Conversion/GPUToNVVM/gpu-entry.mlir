// RUN: metaop-opt %s -split-input-file -metaop-gpu-entry | FileCheck %s

// Buffers are addresses, aligned, and promise no more than they did; numbers have
// 64 bits, also where indices have fewer. The launch is said as NVVM says it.
// CHECK-LABEL: gpu.func @whole
// CHECK-SAME:    (%[[X:.*]]: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noalias}, %[[Y:.*]]: !llvm.ptr<1> {llvm.align = 256 : i64}, %[[N:.*]]: i64)
// CHECK-SAME:    workgroup(%[[S:.*]] : memref<4xf32, 3> {llvm.align = 16 : i64}, %[[T:.*]] : memref<2x33xf32, 3> {llvm.align = 128 : i64}) kernel
// CHECK-SAME:    nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK-SAME:    nvvm.minctasm = 3 : i32
// CHECK-SAME:    nvvm.reqntid = array<i32: 96, 1, 1>
// CHECK:         %[[P:.*]] = llvm.mlir.poison : !llvm.struct<(ptr<1>, ptr<1>, i32, array<1 x i32>, array<1 x i32>)>
// CHECK:         llvm.insertvalue %[[X]], %[[P]][0]
// CHECK:         %[[A:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?xf32, 1>
// CHECK:         %[[B:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<12xi8, 1>
// CHECK:         %[[I:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK:         memref.load %[[A]][%[[I]]]
// CHECK:         memref.load %[[B]][%[[I]]]
// CHECK:         memref.store %{{.*}}, %[[S]][%[[I]]]
gpu.module @whole {
  gpu.func @whole(%x: memref<?xf32, 1> {llvm.noalias}, %y: memref<12xi8, 1> {llvm.align = 256 : i64}, %n: index)
      workgroup(%s: memref<4xf32, 3>, %t: memref<2x33xf32, 3> {llvm.align = 128 : i64}) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 96, cluster = 2, min_blocks = 3, index_bits = 32>} {
    %0 = memref.load %x[%n] : memref<?xf32, 1>
    %1 = memref.load %y[%n] : memref<12xi8, 1>
    memref.store %0, %s[%n] : memref<4xf32, 3>
    gpu.return
  }
}

// -----

// What launches say nothing of has no attribute.
// CHECK-LABEL: gpu.func @plain() kernel
// CHECK-SAME:    attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 1>, nvvm.reqntid = array<i32: 1, 1, 1>}
gpu.module @plain {
  gpu.func @plain() kernel attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 1>} {
    gpu.return
  }
}

// -----

// Exactly 48 KB is what a kernel may hold by itself.
// CHECK-LABEL: gpu.module @full
// CHECK-NOT:     dynamic_shared
// CHECK:         workgroup(%{{.*}} : memref<12288xf32, 3> {llvm.align = 16 : i64})
gpu.module @full {
  gpu.func @full() workgroup(%s: memref<12288xf32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

// Beyond that all of it is asked for by the call. Places follow each other, each
// aligned: 20 bytes, then 12 of none, then 128 KB.
// CHECK-LABEL: gpu.module @large
// CHECK:         llvm.mlir.global external @dynamic_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK:         gpu.func @large() kernel
// CHECK-SAME:    metaop.dynamic_shared_bytes = 131104 : i64
// CHECK:         %[[BASE:.*]] = llvm.mlir.addressof @dynamic_shared : !llvm.ptr<3>
// CHECK:         llvm.getelementptr %[[BASE]][0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK:         %[[S:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<5xf32, 3>
// CHECK:         llvm.getelementptr %[[BASE]][32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK:         %[[T:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<128x256xf32, 3>
// CHECK:         %[[V:.*]] = memref.load %[[S]]
// CHECK:         memref.store %[[V]], %[[T]]
gpu.module @large {
  gpu.func @large() workgroup(%s: memref<5xf32, 3>, %t: memref<128x256xf32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32>} {
    %i = gpu.thread_id x
    %v = memref.load %s[%i] : memref<5xf32, 3>
    memref.store %v, %t[%i, %i] : memref<128x256xf32, 3>
    gpu.return
  }
  // The kernels of a module have the array in common, and each its own size.
  // CHECK:       gpu.func @other() kernel
  // CHECK-SAME:  metaop.dynamic_shared_bytes = 65536 : i64
  // CHECK:       llvm.mlir.addressof @dynamic_shared
  // CHECK-NOT:   llvm.mlir.global
  gpu.func @other() workgroup(%s: memref<16384xf32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}
