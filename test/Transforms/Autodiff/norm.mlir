// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s
// RUN: metaop-opt %s --metaop-push-forward --metaop-verify-closure \
// RUN:   | FileCheck %s --check-prefix=FORWARD

// Nothing of f64 and nothing that is summed: elements times the reciprocal of
// the norm, both times a power of two that is made of the norm's bits.
// CHECK-LABEL: @norm(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>)
// CHECK:         %[[Y:.*]] = metaop.norm %[[X]]
// CHECK-NOT:     f64
// CHECK:         metaop.bitcast %[[Y]]
// CHECK:         %[[FACTOR:.*]] = metaop.bitcast
// CHECK:         %[[IS_ZERO:.*]] = metaop.cmp eq %[[Y]]
// CHECK:         %[[SCALED:.*]] = metaop.mul %[[Y]], %[[FACTOR]]
// CHECK:         %[[NOT_ZERO:.*]] = metaop.select %[[IS_ZERO]], %{{.*}}, %[[SCALED]]
// CHECK:         %[[INVERSE:.*]] = metaop.div %{{.*}}, %[[NOT_ZERO]]
// CHECK:         %[[FACTORS:.*]] = metaop.reindex %[[FACTOR]]
// CHECK:         %[[SCALED_X:.*]] = metaop.mul %[[X]], %[[FACTORS]]
// CHECK:         %[[READ:.*]] = metaop.reindex %[[INVERSE]]
// CHECK:         %[[UNITS:.*]] = metaop.mul %[[SCALED_X]], %[[READ]]
// CHECK:         %[[SPREAD:.*]] = metaop.reindex
// CHECK:         %[[DX:.*]] = metaop.mul %[[UNITS]], %[[SPREAD]]
// CHECK-NOT:     f64
// CHECK:         return %[[Y]], %[[DX]]
// FORWARD-LABEL: @norm(
// FORWARD-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[TX:.*]]: tensor<4x8xf32>)
// FORWARD-NOT:     f64
// FORWARD:         %[[SCALED_X:.*]] = metaop.mul %[[X]]
// FORWARD:         %[[UNITS:.*]] = metaop.mul %[[SCALED_X]]
// FORWARD:         %[[PART:.*]] = metaop.mul %[[UNITS]], %[[TX]]
// FORWARD:         %[[SUM:.*]] = metaop.reindex_reduce add %[[PART]]
// FORWARD:         return %{{.*}}, %[[SUM]]
func.func @norm(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = metaop.norm %x dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @root_mean_square(
// CHECK:         %[[EIGHT:.*]] = metaop.constant dense<8.000000e+00> : tensor<4x1xf32>
// CHECK:         metaop.div %{{.*}}, %[[EIGHT]]
func.func @root_mean_square(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %y = metaop.norm %x dims = [1] keep_dims divisor = 8.0 : tensor<4x8xf32> -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// The slope is a power of the quotient, with its sign. A root of 0, which is
// steep, is never taken.
// CHECK-LABEL: @order(
// CHECK:         %[[UNITS:.*]] = metaop.mul
// CHECK-NOT:     f64
// CHECK:         %[[SIZE:.*]] = metaop.abs
// CHECK:         %[[IS_ZERO:.*]] = metaop.cmp eq
// CHECK:         %[[NOT_ZERO:.*]] = metaop.select %[[IS_ZERO]], %{{.*}}, %[[SIZE]]
// CHECK:         metaop.sqrt %[[NOT_ZERO]]
// CHECK:         metaop.cmp lt
// CHECK:         metaop.select %[[IS_ZERO]]
// CHECK:         return
func.func @order(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = metaop.norm %x dims = [1] order = 1.5 : tensor<4x8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
