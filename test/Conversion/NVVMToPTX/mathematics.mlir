// REQUIRES: libdevice
// RUN: metaop-opt %s -metaop-pipeline="from=gpu target=cuda chip=sm_80 libdevice=%libdevice" | metaop-translate --print-ptx | FileCheck %s
// RUN: not metaop-opt %s -metaop-pipeline="from=gpu target=cuda" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not metaop-opt %s -metaop-pipeline="from=gpu target=cuda libdevice=%t.absent" 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not metaop-opt %s -metaop-pipeline="from=gpu target=cuda libdevice=%s" 2>&1 | FileCheck %s --check-prefix=WRONG

// NONE: error: the kernel calls __nv_fmodf, a function of libdevice, and there is no libdevice; its file is named by the option libdevice
// ABSENT: error: libdevice could not be read from '{{.*}}.absent': No such file or directory
// WRONG: error: libdevice could not be read from '{{.*}}mathematics.mlir'

// Functions of f32 are the CPU's arithmetic: no approximation of the hardware's,
// and only the sine, which turns in f64, has operations of f64. Remainders are
// libdevice's, in which numbers below the normal ones count.
// CHECK-LABEL: .entry singles(
// CHECK-NOT:     {{ex2|lg2|sin|cos|tanh}}.approx
// CHECK-NOT:     call
// CHECK:         ret;
gpu.module @singles {
  gpu.func @singles(%x: memref<?xf32, 1>, %y: memref<?xf32, 1>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 128>} {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf32, 1>
    %w = memref.load %y[%t] : memref<?xf32, 1>
    %0 = math.exp %v : f32
    %1 = math.log %0 : f32
    %2 = math.tanh %1 : f32
    %3 = math.erf %2 : f32
    %4 = math.sin %3 : f32
    %5 = math.cos %4 : f32
    %6 = math.powf %5, %w : f32
    %7 = arith.remf %6, %w : f32
    memref.store %7, %y[%t] : memref<?xf32, 1>
    gpu.return
  }
}

// Of libdevice, what is called is a part of the kernel, and nothing else is there.
// CHECK-LABEL: .entry doubles(
// CHECK:         fma.rn.f64
// CHECK-NOT:     .func
// CHECK:         ret;
gpu.module @doubles {
  gpu.func @doubles(%x: memref<?xf64, 1>, %y: memref<?xf64, 1>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 128>} {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf64, 1>
    %0 = math.exp %v : f64
    %1 = math.log1p %0 : f64
    %2 = math.tanh %1 : f64
    memref.store %2, %y[%t] : memref<?xf64, 1>
    gpu.return
  }
}

// f64 rounds once to f16 and bf16.
// CHECK-LABEL: .entry conversions(
// CHECK:         cvt.rn.f16.f64
// CHECK:         ret;
gpu.module @conversions {
  gpu.func @conversions(%x: memref<?xf64, 1>, %y: memref<?xf16, 1>, %z: memref<?xbf16, 1>, %w: memref<?xf32, 1>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 4>, metaop.launch = #metaop.launch<threads = 128>} {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf64, 1>
    %h = arith.truncf %v : f64 to f16
    %b = arith.truncf %v : f64 to bf16
    memref.store %h, %y[%t] : memref<?xf16, 1>
    memref.store %b, %z[%t] : memref<?xbf16, 1>
    %f = arith.extf %b : bf16 to f32
    memref.store %f, %w[%t] : memref<?xf32, 1>
    gpu.return
  }
}
