// RUN: metaop-opt %s -metaop-expand-math=vector-math-bits=512 | FileCheck %s
// RUN: metaop-opt %s -metaop-expand-math=vector-math-bits=256 | FileCheck %s --check-prefix=AVX2
// RUN: metaop-opt %s -metaop-expand-math=vector-math-bits=128 | FileCheck %s --check-prefix=SSE

// RUN: not metaop-opt %s -metaop-expand-math=vector-math-bits=32 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: expects functions of vectors of 128, 256 or 512 bits, given 32

// A register is an operand as it is.
// CHECK-LABEL: func @register(
// CHECK-SAME:    %[[X:.*]]: vector<8xf64>
// CHECK-NEXT:    %[[Y:.*]] = call @_ZGVeN8v_exp(%[[X]]) : (vector<8xf64>) -> vector<8xf64>
// CHECK-NEXT:    return %[[Y]]
func.func @register(%x: vector<8xf64>) -> vector<8xf64> {
  %0 = math.exp %x : vector<8xf64>
  return %0 : vector<8xf64>
}

// A longer vector is taken in pieces.
// AVX2-LABEL: func @long(
// AVX2-SAME:    %[[X:.*]]: vector<8xf64>
// AVX2:         %[[LOW:.*]] = vector.shuffle %[[X]], %[[X]] [0, 1, 2, 3]
// AVX2:         %[[A:.*]] = call @_ZGVdN4v_tanh(%[[LOW]])
// AVX2:         %[[HIGH:.*]] = vector.shuffle %[[X]], %[[X]] [4, 5, 6, 7]
// AVX2:         %[[B:.*]] = call @_ZGVdN4v_tanh(%[[HIGH]])
// AVX2:         %[[FIRST:.*]] = vector.insert_strided_slice %[[A]], %{{.*}} {offsets = [0], strides = [1]}
// AVX2:         vector.insert_strided_slice %[[B]], %[[FIRST]] {offsets = [4], strides = [1]}
// SSE-LABEL: func @long(
// SSE-COUNT-4: call @_ZGVbN2v_tanh
func.func @long(%x: vector<8xf64>) -> vector<8xf64> {
  %0 = math.tanh %x : vector<8xf64>
  return %0 : vector<8xf64>
}

// A shorter one, and a scalar, are parts of a register: an element has one result wherever it
// stands.
// CHECK-LABEL: func @short(
// CHECK:         %[[WIDE:.*]] = vector.shuffle %{{.*}} [0, 1, 0, 0, 0, 0, 0, 0]
// CHECK:         %[[Y:.*]] = call @_ZGVeN8v_sin(%[[WIDE]])
// CHECK:         vector.extract_strided_slice %[[Y]] {offsets = [0], sizes = [2], strides = [1]}
func.func @short(%x: vector<2xf64>) -> vector<2xf64> {
  %0 = math.sin %x : vector<2xf64>
  return %0 : vector<2xf64>
}

// CHECK-LABEL: func @scalars(
// CHECK:         %[[X:.*]] = vector.broadcast %{{.*}} : f64 to vector<8xf64>
// CHECK:         %[[Y:.*]] = vector.broadcast %{{.*}} : f64 to vector<8xf64>
// CHECK:         %[[Z:.*]] = call @_ZGVeN8vv_pow(%[[X]], %[[Y]])
// CHECK:         vector.extract %[[Z]][0] : f64 from vector<8xf64>
func.func @scalars(%x: f64, %y: f64) -> f64 {
  %0 = math.powf %x, %y : f64
  return %0 : f64
}

// Functions that the library lacks stay, logarithms are arithmetic, and so is all of f32.
// CHECK-LABEL: func @others(
// CHECK-NOT:     call
// CHECK:         math.round
// CHECK-NOT:     call
// CHECK:         return
func.func @others(%x: vector<8xf64>, %y: vector<16xf32>) -> (vector<8xf64>, vector<8xf64>, vector<16xf32>) {
  %0 = math.round %x : vector<8xf64>
  %1 = math.log %x : vector<8xf64>
  %2 = math.exp %y : vector<16xf32>
  return %0, %1, %2 : vector<8xf64>, vector<8xf64>, vector<16xf32>
}

// A function is declared once, and has no effect.
// CHECK-DAG: func.func private @_ZGVeN8v_exp(vector<8xf64>) -> vector<8xf64> attributes {llvm.readnone}
// CHECK-DAG: func.func private @_ZGVeN8v_sin(vector<8xf64>) -> vector<8xf64> attributes {llvm.readnone}
