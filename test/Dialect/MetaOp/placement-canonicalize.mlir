// RUN: metaop-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @one_part
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[A]]
func.func @one_part(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.concat %a dim = 0 : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @empty_parts
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[E:.*]]: tensor<0xf32>, %[[B:.*]]: tensor<5xf32>)
// CHECK-NEXT: %[[C:.*]] = metaop.concat %[[A]], %[[B]] dim = 0
// CHECK-NEXT: return %[[C]], %[[E]]
func.func @empty_parts(%a: tensor<4xf32>, %e: tensor<0xf32>, %b: tensor<5xf32>) -> (tensor<9xf32>, tensor<0xf32>) {
  %0 = metaop.concat %e, %a, %e, %b dim = 0 : (tensor<0xf32>, tensor<4xf32>, tensor<0xf32>, tensor<5xf32>) -> tensor<9xf32>
  %1 = metaop.concat %e, %e dim = 0 : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  return %0, %1 : tensor<9xf32>, tensor<0xf32>
}

// Only what nothing else reads is taken apart, and only along the same dimension.
// CHECK-LABEL: @nested
// CHECK-SAME: (%[[A:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4x4xf32>)
// CHECK-NEXT: %[[FLAT:.*]] = metaop.concat %[[A]], %[[B]], %[[A]] dim = 0
// CHECK-NEXT: %[[KEPT:.*]] = metaop.concat %[[A]], %[[B]] dim = 0
// CHECK-NEXT: %[[READ:.*]] = metaop.concat %[[KEPT]], %[[A]] dim = 0
// CHECK-NEXT: %[[SIDE:.*]] = metaop.concat %[[A]], %[[B]] dim = 1
// CHECK-NEXT: %[[BELOW:.*]] = metaop.concat %[[SIDE]], %[[SIDE]] dim = 0
// CHECK-NEXT: return %[[FLAT]], %[[KEPT]], %[[READ]], %[[BELOW]]
func.func @nested(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<12x4xf32>, tensor<8x4xf32>, tensor<12x4xf32>, tensor<8x8xf32>) {
  %0 = metaop.concat %a, %b dim = 0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = metaop.concat %0, %a dim = 0 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
  %2 = metaop.concat %a, %b dim = 0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %3 = metaop.concat %2, %a dim = 0 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
  %4 = metaop.concat %a, %b dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %5 = metaop.concat %4, %4 dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %1, %2, %3, %5 : tensor<12x4xf32>, tensor<8x4xf32>, tensor<12x4xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @splats
// CHECK-NEXT: %[[ONES:.*]] = metaop.constant dense<1.000000e+00> : tensor<7xf32>
// CHECK-NEXT: return %[[ONES]]
func.func @splats() -> tensor<7xf32> {
  %a = metaop.constant dense<1.0> : tensor<3xf32>
  %b = metaop.constant dense<1.0> : tensor<4xf32>
  %0 = metaop.concat %a, %b dim = 0 : (tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// An insert that combines is a slice, an element-wise op and an insert.
// CHECK-LABEL: @insert_max
// CHECK-SAME: (%[[P:.*]]: tensor<2xf32>, %[[X:.*]]: tensor<5xf32>, %[[I:.*]]: tensor<i64>)
// CHECK-NEXT: %[[OLD:.*]] = metaop.reindex %[[X]] symbols(%[[I]]) map {{.*}} : tensor<5xf32> -> tensor<2xf32>
// CHECK-NEXT: %[[NEW:.*]] = metaop.max %[[OLD]], %[[P]]
// CHECK-NEXT: %[[Y:.*]] = metaop.insert none %[[NEW]] into %[[X]][%[[I]]]
// CHECK-NEXT: return %[[Y]]
func.func @insert_max(%p: tensor<2xf32>, %x: tensor<5xf32>, %i: tensor<i64>) -> tensor<5xf32> {
  %0 = metaop.insert max %p into %x[%i] : tensor<2xf32> into tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: @insert_nothing
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<5xf32>, %{{.*}}: tensor<i64>)
// CHECK-NEXT: return %[[X]]
func.func @insert_nothing(%p: tensor<0xf32>, %x: tensor<5xf32>, %i: tensor<i64>) -> tensor<5xf32> {
  %0 = metaop.insert add %p into %x[%i] : tensor<0xf32> into tensor<5xf32>
  return %0 : tensor<5xf32>
}
