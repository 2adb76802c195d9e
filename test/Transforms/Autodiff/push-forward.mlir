// Tangents of arguments become arguments, those of results results.
// RUN: metaop-opt %s --metaop-push-forward --metaop-verify-closure | FileCheck %s
// RUN: metaop-opt %s --metaop-push-forward="wrt=0" | FileCheck %s --check-prefix=FIRST

// CHECK-LABEL: @product(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>, %[[TX:.*]]: tensor<4xf32>, %[[TY:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[X]], %[[Y]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[TX]], %[[Y]]
// CHECK-NEXT: %[[MUL3:.*]] = metaop.mul %[[TY]], %[[X]]
// CHECK-NEXT: %[[ADD:.*]] = metaop.add %[[MUL2]], %[[MUL3]]
// CHECK-NEXT: return %[[MUL]], %[[ADD]] :
// FIRST-LABEL: @product(
// FIRST-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>, %[[TX:.*]]: tensor<4xf32>)
// FIRST-NEXT: %[[MUL:.*]] = metaop.mul %[[X]], %[[Y]]
// FIRST-NEXT: %[[MUL2:.*]] = metaop.mul %[[TX]], %[[Y]]
// FIRST-NEXT: return %[[MUL]], %[[MUL2]] :
func.func @product(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.mul %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// A fill is a constant: its tangent is 0.
// CHECK-LABEL: @pad(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[TX:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[PAD:.*]] = metaop.pad %[[X]] low = [1] high = [1] fill 3.000000e+00
// CHECK-NEXT: %[[PAD2:.*]] = metaop.pad %[[TX]] low = [1] high = [1] fill 0.000000e+00
// CHECK-NEXT: return %[[PAD]], %[[PAD2]] :
func.func @pad(%x: tensor<4xf32>) -> tensor<6xf32> {
  %r = metaop.pad %x low = [1] high = [1] fill 3.0 : f32 : tensor<4xf32> -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// Ties share evenly, as in reverse mode.
// CHECK-LABEL: @maximum(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[TX:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[REDUCE:.*]] = metaop.reduce max %[[X]] dims = [1]
// CHECK-NEXT: %[[REINDEX:.*]] = metaop.reindex %[[REDUCE]] map #map fill 0x7FC00000
// CHECK-NEXT: %[[M:.*]] = metaop.cmp eq %[[X]], %[[REINDEX]]
// CHECK-NEXT: %[[CAST:.*]] = metaop.cast %[[M]]
// CHECK-NEXT: %[[REINDEX_REDUCE:.*]] = metaop.reindex_reduce add %[[CAST]] map #map
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[MAX:.*]] = metaop.max %[[REINDEX_REDUCE]], %[[C]]
// CHECK-NEXT: %[[M2:.*]] = metaop.cmp ne %[[X]], %[[REINDEX]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[S:.*]] = metaop.select %[[M2]], %[[C2]], %[[TX]]
// CHECK-NEXT: %[[REINDEX_REDUCE2:.*]] = metaop.reindex_reduce add %[[S]] map #map
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[REINDEX_REDUCE2]], %[[MAX]]
// CHECK-NEXT: return %[[REDUCE]], %[[DIV]] :
func.func @maximum(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %r = metaop.reduce max %x dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Integers do not move, and what does not depend on an argument has zeros.
// CHECK-LABEL: @others(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi64>, %[[TX:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[NEG:.*]] = metaop.neg %[[I]]
// CHECK-NEXT: %[[CAST:.*]] = metaop.cast %[[I]]
// CHECK-NEXT: %[[ADD:.*]] = metaop.add %[[X]], %[[CAST]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[NEG]], %[[CAST]], %[[ADD]], %[[C]], %[[TX]] :
func.func @others(%x: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xf32>, tensor<4xf32>) {
  %j = metaop.neg %i : tensor<4xi64>
  %c = metaop.cast %i : tensor<4xi64> -> tensor<4xf32>
  %r = metaop.add %x, %c : tensor<4xf32>
  return %j, %c, %r : tensor<4xi64>, tensor<4xf32>, tensor<4xf32>
}

// What is not needed is not left behind.
// CHECK-LABEL: @unused(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[TX:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[EXP:.*]] = metaop.exp %[[X]]
// CHECK-NEXT: %[[STOP_GRAD:.*]] = metaop.stop_grad %[[EXP]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[X]], %[[STOP_GRAD]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[TX]], %[[STOP_GRAD]]
// CHECK-NEXT: return %[[MUL]], %[[MUL2]] :
func.func @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.exp %x : tensor<4xf32>
  %1 = metaop.stop_grad %0 : tensor<4xf32>
  %2 = metaop.mul %x, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
