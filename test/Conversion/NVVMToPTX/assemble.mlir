// REQUIRES: gpu-assembler, libdevice
// RUN: metaop-opt %S/accesses.mlir -metaop-pipeline="from=gpu target=cuda chip=sm_80" | metaop-translate --print-resources %toolkits | FileCheck %s
// RUN: metaop-opt %S/accesses.mlir -metaop-pipeline="from=gpu target=cuda chip=sm_90a" | metaop-translate --print-resources %toolkits | FileCheck %s
// RUN: metaop-opt %S/mathematics.mlir -metaop-pipeline="from=gpu target=cuda chip=sm_80 libdevice=%libdevice" | metaop-translate --print-resources %toolkits | FileCheck %s --check-prefix=MATH
// RUN: metaop-opt %S/mathematics.mlir -metaop-pipeline="from=gpu target=cuda chip=sm_90a libdevice=%libdevice" | metaop-translate --print-resources %toolkits | FileCheck %s --check-prefix=MATH

// What is written is also assembled, for each kind of chip. Nothing is spilled,
// and nothing lies in local memory.
// CHECK:      vectors: registers {{[0-9]+}}, local 0, spilled 0 + 0, shared 0, barriers 0
// CHECK-NEXT: halves: registers {{[0-9]+}}, local 0, spilled 0 + 0, shared 0, barriers 0
// CHECK-NEXT: tile: registers {{[0-9]+}}, local 0, spilled 0 + 0, shared 0, barriers 0; 32 threads
// CHECK-NEXT: unaligned: registers {{[0-9]+}}, local 0, spilled 0 + 0, shared 0, barriers 0
// CHECK-NEXT: reduce: registers {{[0-9]+}}, local 0, spilled 0 + 0, shared {{[1-9][0-9]*}}, barriers 1
// CHECK-NEXT: separate: registers {{[0-9]+}}, local 0, spilled 0 + 0, shared 0, barriers 0
// CHECK-NEXT: atomics: registers {{[0-9]+}}, local 0, spilled 0 + 0, shared 128, barriers 0
// CHECK-NEXT: large: registers {{[0-9]+}}, local 0, spilled 0 + 0, shared 0, barriers 1

// MATH:      singles: registers {{[0-9]+}}, local 0, spilled 0 + 0
// MATH-NEXT: doubles: registers {{[0-9]+}}, local 0, spilled 0 + 0
// MATH-NEXT: conversions: registers {{[0-9]+}}, local 0, spilled 0 + 0

// Code is an ELF file, of one kernel.
// RUN: metaop-opt %s -metaop-pipeline="from=gpu target=cuda" | metaop-translate --write-cubin %toolkits -o %t.cubin
// RUN: %python -c "import sys; sys.exit(open(sys.argv[1], 'rb').read(4) != b'\x7fELF')" %t.cubin
// RUN: metaop-opt %S/accesses.mlir -metaop-pipeline="from=gpu target=cuda" | not metaop-translate --write-cubin %toolkits 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: expects one kernel, given 9
gpu.module @one {
  gpu.func @one(%x: memref<?xf32, 1>, %n: index) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    %f = arith.constant 1.0 : f32
    memref.store %f, %x[%n] : memref<?xf32, 1>
    gpu.return
  }
}
