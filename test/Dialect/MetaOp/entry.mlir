// RUN: metaop-opt %s | metaop-opt | FileCheck %s

// CHECK-LABEL: func.func @least
// CHECK-SAME:    metaop.entry = #metaop.entry<buffers = 0>
func.func @least(%begin: index, %end: index)
    attributes {metaop.entry = #metaop.entry<buffers = 0>} {
  return
}

// CHECK-LABEL: func.func @processor
// CHECK-SAME:    metaop.entry = #metaop.entry<buffers = 2, range = 64, work_per_step = 3413, flushes_denormals = true>, metaop.kernel, metaop.numbers = array<i64: 7>
func.func @processor(%x: memref<4xf32>, %y: memref<4xf32>, %n: index, %begin: index, %end: index)
    attributes {metaop.kernel, metaop.numbers = array<i64: 7>, metaop.entry = #metaop.entry<buffers = 2, range = 64, work_per_step = 3413, flushes_denormals = true>} {
  return
}

// CHECK-LABEL: gpu.func @gpu
// CHECK-SAME:    metaop.dynamic_shared_bytes = 65536 : i64, metaop.entry = #metaop.entry<buffers = 2, range = 0, scratch = [60, 7]>
gpu.module @gpu {
  gpu.func @gpu(%x: memref<?xi64, 1>, %y: memref<?xi64, 1>) kernel
      attributes {metaop.dynamic_shared_bytes = 65536 : i64, metaop.entry = #metaop.entry<buffers = 2, range = 0, scratch = [60, 7]>} {
    gpu.return
  }
}
