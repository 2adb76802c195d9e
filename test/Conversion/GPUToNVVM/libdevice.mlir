// RUN: metaop-opt %s -metaop-expand-math=gpu=true -metaop-call-libdevice | FileCheck %s

// Functions of f64 are calls; each is declared once. Those of f32 are the same
// arithmetic as on the CPU, and so is the logarithm of f64.
// CHECK-LABEL: gpu.module @doubles
// CHECK-DAG:     llvm.func @__nv_exp(f64) -> f64
// CHECK-DAG:     llvm.func @__nv_pow(f64, f64) -> f64
// CHECK-DAG:     llvm.func @__nv_log1p(f64) -> f64
// CHECK-DAG:     llvm.func @__nv_expm1(f64) -> f64
// CHECK-NOT:     @__nv_log(
// CHECK:         gpu.func @doubles(%[[X:.*]]: f64, %[[V:.*]]: vector<2xf64>
// CHECK:         llvm.call @__nv_exp(%[[X]]) : (f64) -> f64
// CHECK:         %[[LANES:.*]]:2 = vector.to_elements %[[V]] : vector<2xf64>
// CHECK:         %[[E0:.*]] = llvm.call @__nv_exp(%[[LANES]]#0)
// CHECK:         %[[E1:.*]] = llvm.call @__nv_exp(%[[LANES]]#1)
// CHECK:         vector.from_elements %[[E0]], %[[E1]] : vector<2xf64>
// CHECK:         llvm.call @__nv_pow(%[[X]], %[[X]]) : (f64, f64) -> f64
// CHECK:         llvm.call @__nv_log1p
// CHECK:         llvm.call @__nv_expm1
// CHECK:         math.sqrt %[[X]] : f64
// CHECK-NOT:     math.log
gpu.module @doubles {
  gpu.func @doubles(%x: f64, %v: vector<2xf64>, %y: memref<?xf64, 1>, %z: memref<?xf64, 1>) {
    %c0 = arith.constant 0 : index
    %0 = math.exp %x : f64
    %1 = math.exp %v : vector<2xf64>
    %2 = math.powf %x, %x : f64
    %3 = math.log1p %2 : f64
    %4 = math.expm1 %3 : f64
    %5 = math.sqrt %x : f64
    %6 = math.log %5 : f64
    %7 = arith.addf %0, %4 : f64
    %8 = arith.addf %7, %6 : f64
    memref.store %8, %y[%c0] : memref<?xf64, 1>
    vector.store %1, %z[%c0] : memref<?xf64, 1>, vector<2xf64>
    gpu.return
  }
}

// Remainders are exact.
// CHECK-LABEL: gpu.module @singles
// CHECK:         llvm.func @__nv_fmodf(f32, f32) -> f32
// CHECK:         gpu.func @singles
// CHECK:         llvm.call @__nv_fmodf(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK-NOT:     llvm.call @
// CHECK-NOT:     math.{{sin|tanh|exp}}
// CHECK:         gpu.return
gpu.module @singles {
  gpu.func @singles(%x: f32, %y: memref<?xf32, 1>) {
    %c0 = arith.constant 0 : index
    %0 = arith.remf %x, %x : f32
    %1 = math.sin %0 : f32
    %2 = math.tanh %1 : f32
    %3 = math.exp %2 : f32
    memref.store %3, %y[%c0] : memref<?xf32, 1>
    gpu.return
  }
}

// Conversions of bf16 are instructions.
// CHECK-LABEL: gpu.module @halves
// CHECK:         arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
// CHECK:         arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
gpu.module @halves {
  gpu.func @halves(%x: vector<4xbf16>, %y: memref<?xbf16, 1>) {
    %c0 = arith.constant 0 : index
    %0 = arith.extf %x : vector<4xbf16> to vector<4xf32>
    %1 = math.sqrt %0 : vector<4xf32>
    %2 = arith.truncf %1 : vector<4xf32> to vector<4xbf16>
    vector.store %2, %y[%c0] : memref<?xbf16, 1>, vector<4xbf16>
    gpu.return
  }
}

// Functions outside of kernels for GPUs have no libdevice.
// CHECK-LABEL: func.func @host
// CHECK:         math.exp %{{.*}} : f64
func.func @host(%x: f64) -> f64 {
  %0 = math.exp %x : f64
  return %0 : f64
}
