// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s
// RUN: metaop-opt %s --metaop-push-forward --metaop-verify-closure \
// RUN:   | FileCheck %s --check-prefix=FORWARD

// Nothing of f64 and nothing that is summed: elements times the reciprocal of
// the norm, which is scaled so that it is a number.
// CHECK-LABEL: @norm(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>)
// CHECK:         %[[Y:.*]] = metaop.norm %[[X]]
// CHECK-NOT:     f64
// CHECK:         %[[SMALL:.*]] = metaop.cmp lt %[[Y]]
// CHECK:         %[[FACTOR:.*]] = metaop.select %[[SMALL]]
// CHECK:         %[[IS_ZERO:.*]] = metaop.cmp eq %[[Y]]
// CHECK:         %[[SCALED:.*]] = metaop.mul %[[Y]], %[[FACTOR]]
// CHECK:         %[[NOT_ZERO:.*]] = metaop.select %[[IS_ZERO]], %{{.*}}, %[[SCALED]]
// CHECK:         %[[INVERSE:.*]] = metaop.div %{{.*}}, %[[NOT_ZERO]]
// CHECK:         %[[READ:.*]] = metaop.reindex %[[INVERSE]]
// CHECK:         %[[SMALL_UNITS:.*]] = metaop.mul %[[X]], %[[READ]]
// CHECK:         %[[FACTORS:.*]] = metaop.reindex %[[FACTOR]]
// CHECK:         %[[UNITS:.*]] = metaop.mul %[[SMALL_UNITS]], %[[FACTORS]]
// CHECK:         %[[SPREAD:.*]] = metaop.reindex
// CHECK:         %[[DX:.*]] = metaop.mul %[[UNITS]], %[[SPREAD]]
// CHECK-NOT:     f64
// CHECK:         return %[[Y]], %[[DX]]
// FORWARD-LABEL: @norm(
// FORWARD-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[TX:.*]]: tensor<4x8xf32>)
// FORWARD-NOT:     f64
// FORWARD:         %[[SMALL_UNITS:.*]] = metaop.mul %[[X]]
// FORWARD:         %[[UNITS:.*]] = metaop.mul %[[SMALL_UNITS]]
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
