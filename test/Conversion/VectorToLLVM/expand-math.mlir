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

// f64 stays for the C library.
// CHECK-LABEL: func @f64
// CHECK:         math.exp
// CHECK:         math.tanh
// CHECK-NOT:     math.sin
// CHECK-NOT:     math.cos
// CHECK:         return
func.func @f64(%x: vector<8xf64>, %y: f64, %z: f32) -> (vector<8xf64>, f64, f32, f32) {
  %0 = math.exp %x : vector<8xf64>
  %1 = math.tanh %y : f64
  %2 = math.sin %z : f32
  %3 = math.cos %z : f32
  return %0, %1, %2, %3 : vector<8xf64>, f64, f32, f32
}

// But powers that all readers round to f32.
// CHECK-LABEL: func @rounded_power
// CHECK-NOT:     math.powf
// CHECK:         return
func.func @rounded_power(%x: vector<8xf64>, %y: vector<8xf64>) -> vector<8xf32> {
  %0 = math.powf %x, %y : vector<8xf64>
  %1 = arith.truncf %0 : vector<8xf64> to vector<8xf32>
  return %1 : vector<8xf32>
}

// CHECK-LABEL: func @power
// CHECK:         math.powf
// CHECK:         return
func.func @power(%x: f64, %y: f64) -> (f32, f64) {
  %0 = math.powf %x, %y : f64
  %1 = arith.truncf %0 : f64 to f32
  return %1, %0 : f32, f64
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

// bf16 is the upper half of f32. Rounding what may be any f32 looks for NaN;
// NaNs that halves have given have nothing in their lower halves that could
// carry; and the larger of two numbers of bf16 needs no rounding.

// CHECK-LABEL: func @round_any
// CHECK-SAME:    (%[[X:.*]]: vector<16xf32>)
// CHECK-DAG:     %[[BITS:.*]] = arith.bitcast %[[X]] : vector<16xf32> to vector<16xi32>
// CHECK-DAG:     %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
// CHECK:         arith.select %[[NAN]]
// CHECK:         arith.trunci %{{.*}} : vector<16xi32> to vector<16xi16>
func.func @round_any(%x: vector<16xf32>) -> vector<16xbf16> {
  %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %0 : vector<16xbf16>
}

// CHECK-LABEL: func @round_of_halves
// CHECK-DAG:     arith.constant dense<32767>
// CHECK-NOT:     arith.cmpf uno
// CHECK:         return
func.func @round_of_halves(%x: vector<16xbf16>, %y: vector<16xbf16>) -> vector<16xbf16> {
  %0 = arith.extf %x : vector<16xbf16> to vector<16xf32>
  %1 = arith.extf %y : vector<16xbf16> to vector<16xf32>
  %2 = arith.subf %0, %1 : vector<16xf32>
  %3 = math.exp %2 : vector<16xf32>
  %4 = arith.truncf %3 : vector<16xf32> to vector<16xbf16>
  return %4 : vector<16xbf16>
}

// CHECK-LABEL: func @exact
// CHECK-NOT:     32767
// CHECK:         %[[MOST:.*]] = arith.maximumf
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[MOST]] : f32 to i32
// CHECK-NEXT:    %[[UPPER:.*]] = arith.shrui %[[BITS]]
// CHECK-NEXT:    arith.trunci %[[UPPER]] : i32 to i16
func.func @exact(%x: bf16) -> bf16 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.extf %x : bf16 to f32
  %1 = arith.negf %0 : f32
  %2 = arith.maximumf %1, %zero : f32
  %3 = arith.truncf %2 : f32 to bf16
  return %3 : bf16
}
