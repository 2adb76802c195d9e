// RUN: metaop-opt %s -metaop-expand-math | FileCheck %s

// f32 becomes arithmetic, in vectors and alone.
// CHECK-LABEL: func @f32
// CHECK-NOT:     math.exp
// CHECK-NOT:     math.log
// CHECK-NOT:     math.tanh
// CHECK-NOT:     math.erf
// CHECK:         return
func.func @f32(%x: vector<16xf32>, %y: f32) -> (vector<16xf32>, f32, f32, f32) {
  %0 = math.exp %x : vector<16xf32>
  %1 = math.log %y : f32
  %2 = math.tanh %y : f32
  %3 = math.erf %y : f32
  return %0, %1, %2, %3 : vector<16xf32>, f32, f32, f32
}

// f64 stays for the C library, and so do sine and cosine.
// CHECK-LABEL: func @f64
// CHECK:         math.exp
// CHECK:         math.tanh
// CHECK:         math.sin
// CHECK:         math.cos
func.func @f64(%x: vector<8xf64>, %y: f64, %z: f32) -> (vector<8xf64>, f64, f32, f32) {
  %0 = math.exp %x : vector<8xf64>
  %1 = math.tanh %y : f64
  %2 = math.sin %z : f32
  %3 = math.cos %z : f32
  return %0, %1, %2, %3 : vector<8xf64>, f64, f32, f32
}

// CHECK-LABEL: func @bf16
// CHECK-NOT:     arith.extf
// CHECK-NOT:     arith.truncf
// CHECK:         arith.shli
// CHECK:         return
func.func @bf16(%x: bf16) -> bf16 {
  %0 = arith.extf %x : bf16 to f32
  %1 = arith.addf %0, %0 : f32
  %2 = arith.truncf %1 : f32 to bf16
  return %2 : bf16
}

// CHECK-LABEL: func @division
// CHECK-NOT:     arith.floordivsi
// CHECK-NOT:     arith.ceildivsi
// CHECK:         return
func.func @division(%x: index, %y: index) -> (index, index) {
  %0 = arith.floordivsi %x, %y : index
  %1 = arith.ceildivsi %x, %y : index
  return %0, %1 : index, index
}
