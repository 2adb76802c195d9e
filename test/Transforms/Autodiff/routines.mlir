// Prefixes go back as prefixes in the opposite direction, sorts by their places.
// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s

// CHECK-LABEL: @sums(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[PREFIX:.*]] = metaop.prefix add %[[X]] dim = 0
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[PREFIX2:.*]] = metaop.prefix add %[[C]] dim = 0 reverse
// CHECK-NEXT: return %[[PREFIX]], %[[PREFIX2]] :
func.func @sums(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.prefix add %x dim = 0 : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @sums_before(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[PREFIX:.*]] = metaop.prefix add %[[X]] dim = 0 reverse exclusive
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[PREFIX2:.*]] = metaop.prefix add %[[C]] dim = 0 exclusive
// CHECK-NEXT: return %[[PREFIX]], %[[PREFIX2]] :
func.func @sums_before(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.prefix add %x dim = 0 reverse exclusive : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @products(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[PREFIX:.*]] = metaop.prefix mul %[[X]] dim = 0
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[PREFIX2:.*]] = metaop.prefix mul %[[X]] dim = 0 exclusive
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[X]], %[[C]]
// CHECK-NEXT: %[[PREFIX3:.*]] = metaop.prefix linear %[[MUL]] factors(%[[X]]) dim = 0 reverse exclusive
// CHECK-NEXT: %[[ADD:.*]] = metaop.add %[[C]], %[[PREFIX3]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[ADD]], %[[PREFIX2]]
// CHECK-NEXT: return %[[PREFIX]], %[[MUL2]] :
func.func @products(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.prefix mul %x dim = 0 : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @largest(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[PREFIX:.*]] = metaop.prefix max %[[X]] dim = 0
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[PREFIX2:.*]] = metaop.prefix max %[[X]] dim = 0 exclusive
// CHECK-NEXT: %[[M:.*]] = metaop.cmp gt %[[PREFIX]], %[[PREFIX2]]
// CHECK-NEXT: %[[M2:.*]] = metaop.cmp ne %[[PREFIX]], %[[PREFIX]]
// CHECK-NEXT: %[[M3:.*]] = metaop.cmp eq %[[PREFIX2]], %[[PREFIX2]]
// CHECK-NEXT: %[[AND:.*]] = metaop.and %[[M2]], %[[M3]]
// CHECK-NEXT: %[[OR:.*]] = metaop.or %[[M]], %[[AND]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[C3:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[S:.*]] = metaop.select %[[OR]], %[[C2]], %[[C3]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[S]], %[[C]]
// CHECK-NEXT: %[[PREFIX3:.*]] = metaop.prefix linear %[[MUL]] factors(%[[S]]) dim = 0 reverse exclusive
// CHECK-NEXT: %[[ADD:.*]] = metaop.add %[[C]], %[[PREFIX3]]
// CHECK-NEXT: %[[S2:.*]] = metaop.select %[[OR]], %[[ADD]], %[[C2]]
// CHECK-NEXT: return %[[PREFIX]], %[[S2]] :
func.func @largest(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.prefix max %x dim = 0 : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @logarithms(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[PREFIX:.*]] = metaop.prefix logaddexp %[[X]] dim = 0
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[PREFIX2:.*]] = metaop.prefix logaddexp %[[X]] dim = 0 exclusive
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0xFF800000>
// CHECK-NEXT: %[[M:.*]] = metaop.cmp eq %[[PREFIX]], %[[C2]]
// CHECK-NEXT: %[[C3:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[S:.*]] = metaop.select %[[M]], %[[C3]], %[[PREFIX]]
// CHECK-NEXT: %[[C4:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[SUB:.*]] = metaop.sub %[[X]], %[[S]]
// CHECK-NEXT: %[[EXP:.*]] = metaop.exp %[[SUB]]
// CHECK-NEXT: %[[S2:.*]] = metaop.select %[[M]], %[[C4]], %[[EXP]]
// CHECK-NEXT: %[[C5:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[SUB2:.*]] = metaop.sub %[[PREFIX2]], %[[S]]
// CHECK-NEXT: %[[EXP2:.*]] = metaop.exp %[[SUB2]]
// CHECK-NEXT: %[[S3:.*]] = metaop.select %[[M]], %[[C5]], %[[EXP2]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[S3]], %[[C]]
// CHECK-NEXT: %[[PREFIX3:.*]] = metaop.prefix linear %[[MUL]] factors(%[[S3]]) dim = 0 reverse exclusive
// CHECK-NEXT: %[[ADD:.*]] = metaop.add %[[C]], %[[PREFIX3]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[ADD]], %[[S2]]
// CHECK-NEXT: return %[[PREFIX]], %[[MUL2]] :
func.func @logarithms(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.prefix logaddexp %x dim = 0 : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @sorted(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[SORT:.*]] = metaop.sort %[[X]] dim = 0
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[ARGSORT:.*]] = metaop.argsort %[[X]] dim = 0
// CHECK-NEXT: %[[SCATTER:.*]] = metaop.scatter add %[[C]][%[[ARGSORT]]] map #map
// CHECK-NEXT: return %[[SORT]], %[[SCATTER]] :
func.func @sorted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.sort %x dim = 0 : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// The part of the order whose places are wanted is scattered alone.
// CHECK-LABEL: @middle(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[SORT:.*]] = metaop.sort %[[X]] dim = 0 begin = 1
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %[[ARGSORT:.*]] = metaop.argsort %[[X]] dim = 0 begin = 1 : tensor<4xf32> -> tensor<2xi64>
// CHECK-NEXT: %[[SCATTER:.*]] = metaop.scatter add %[[C]][%[[ARGSORT]]] map #map : (tensor<2xf32>, tensor<2xi64>) -> tensor<4xf32>
// CHECK-NEXT: return %[[SORT]], %[[SCATTER]] :
func.func @middle(%x: tensor<4xf32>) -> tensor<2xf32> {
  %r = metaop.sort %x dim = 0 begin = 1 : tensor<4xf32> -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @recurrence(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[A:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[PREFIX:.*]] = metaop.prefix linear %[[X]] factors(%[[A]]) dim = 0
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[A]], %[[C]]
// CHECK-NEXT: %[[PREFIX2:.*]] = metaop.prefix linear %[[MUL]] factors(%[[A]]) dim = 0 reverse exclusive
// CHECK-NEXT: %[[ADD:.*]] = metaop.add %[[C]], %[[PREFIX2]]
// CHECK-NEXT: %[[PREFIX3:.*]] = metaop.prefix linear %[[X]] factors(%[[A]]) dim = 0 exclusive
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[ADD]], %[[PREFIX3]]
// CHECK-NEXT: return %[[PREFIX]], %[[ADD]], %[[MUL2]] :
func.func @recurrence(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.prefix linear %x factors(%a) dim = 0 : tensor<4xf32>
  return %r : tensor<4xf32>
}
