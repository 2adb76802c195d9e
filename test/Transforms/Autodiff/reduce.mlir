// The derivatives of the many-to-one ops.
// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s

// CHECK-DAG: #[[OUTER:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[HALF:.*]] = affine_map<(d0) -> (d0 floordiv 2)>
// CHECK-DAG: #[[FACTORS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[NOWHERE:.*]] = affine_map<(d0, d1, d2) -> ()>
// CHECK-DAG: #[[DIAGONAL:.*]] = affine_set<(d0, d1, d2) : (d1 - d2 == 0)>
// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-DAG: #[[RIGHT:.*]] = affine_map<(d0) -> (d0 * 2 + 1)>
// CHECK-DAG: #[[SIBLING:.*]] = affine_map<(d0) -> (d0 - (d0 mod 2) * 2 + 1)>

// CHECK-LABEL: @sum(
// CHECK: %[[ONE:.*]] = metaop.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[G:.*]] = metaop.reindex %[[ONE]] map #[[OUTER]] fill 0.000000e+00 : f32 : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT: return %{{.*}}, %[[G]]
func.func @sum(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = metaop.reduce add %x dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @general_sum(
// CHECK: metaop.reindex %{{.*}} map #[[HALF]] fill 0.000000e+00 : f32 : tensor<4xf32> -> tensor<8xf32>
func.func @general_sum(%x: tensor<8xf32>) -> tensor<4xf32> {
  %y = metaop.reindex_reduce add %x map affine_map<(d0) -> (d0 floordiv 2)> : tensor<8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Shared by all elements that attain the value. An empty group has no share;
// counts of f16 are f32.
// CHECK-LABEL: @max(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf16>)
// CHECK-NEXT: %[[Y:.*]] = metaop.reduce max %[[X]]
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00> : tensor<4xf16>
// CHECK-NEXT: %[[TOP:.*]] = metaop.reindex %[[Y]] map #[[OUTER]] fill 0x7E00 : f16
// CHECK-NEXT: %[[MASK:.*]] = metaop.cmp eq %[[X]], %[[TOP]]
// CHECK-NEXT: %[[HITS:.*]] = metaop.cast %[[MASK]] : tensor<4x8xi1> -> tensor<4x8xf32>
// CHECK-NEXT: %[[COUNT:.*]] = metaop.reindex_reduce add %[[HITS]] map #[[OUTER]]
// CHECK-NEXT: %[[LEAST:.*]] = metaop.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[SAFE:.*]] = metaop.max %[[COUNT]], %[[LEAST]]
// CHECK-NEXT: %[[WIDE:.*]] = metaop.cast %[[ONE]] : tensor<4xf16> -> tensor<4xf32>
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[WIDE]], %[[SAFE]]
// CHECK-NEXT: %[[SHARE:.*]] = metaop.cast %[[DIV]] : tensor<4xf32> -> tensor<4xf16>
// CHECK-NEXT: %[[BACK:.*]] = metaop.reindex %[[SHARE]] map #[[OUTER]] fill 0.000000e+00 : f16
// CHECK-NEXT: %[[OTHER:.*]] = metaop.cmp ne %[[X]], %[[TOP]]
// CHECK-NEXT: %[[ZERO:.*]] = metaop.constant dense<0.000000e+00> : tensor<4x8xf16>
// CHECK-NEXT: %[[G:.*]] = metaop.select %[[OTHER]], %[[ZERO]], %[[BACK]]
// CHECK-NEXT: return %[[Y]], %[[G]]
func.func @max(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  %y = metaop.reduce max %x dims = [1] : tensor<4x8xf16> -> tensor<4xf16>
  return %y : tensor<4xf16>
}

// The product of the others, over one more dimension.
// CHECK-LABEL: @product(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>)
// CHECK: %[[SEED:.*]] = metaop.reindex %{{.*}} map #[[OUTER]] fill 0.000000e+00 : f32
// CHECK-NEXT: %[[ALL:.*]] = metaop.reindex %[[X]] map #[[FACTORS]] fill 1.000000e+00 : f32 : tensor<4x8xf32> -> tensor<4x8x8xf32>
// CHECK-NEXT: %[[TRUE:.*]] = metaop.constant dense<true> : tensor<i1>
// CHECK-NEXT: %[[SELF:.*]] = metaop.reindex %[[TRUE]] map #[[NOWHERE]] where #[[DIAGONAL]] fill false : tensor<i1> -> tensor<4x8x8xi1>
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00> : tensor<4x8x8xf32>
// CHECK-NEXT: %[[OTHERS:.*]] = metaop.select %[[SELF]], %[[ONE]], %[[ALL]]
// CHECK-NEXT: %[[P:.*]] = metaop.reduce mul %[[OTHERS]] dims = [2]
// CHECK-NEXT: %[[G:.*]] = metaop.mul %[[SEED]], %[[P]]
// CHECK-NEXT: return %{{.*}}, %[[G]]
func.func @product(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = metaop.reduce mul %x dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A long dimension is multiplied in a tree: up in pairs, down with siblings.
// CHECK-LABEL: @long_product(
// CHECK-SAME: %[[X:.*]]: tensor<65xf32>)
// CHECK: %[[L:.*]] = metaop.reindex %[[X]] map #[[LEFT]] fill 1.000000e+00 : f32 : tensor<65xf32> -> tensor<33xf32>
// CHECK-NEXT: %[[R:.*]] = metaop.reindex %[[X]] map #[[RIGHT]] fill 1.000000e+00 : f32 : tensor<65xf32> -> tensor<33xf32>
// CHECK-NEXT: metaop.mul %[[L]], %[[R]] : tensor<33xf32>
// CHECK: metaop.reindex %{{.*}} map #[[SIBLING]] fill 1.000000e+00 : f32 : tensor<2xf32> -> tensor<2xf32>
// CHECK-COUNT-6: metaop.reindex %{{.*}} map #[[SIBLING]]
// CHECK-NOT: metaop.reindex %{{.*}} map #[[SIBLING]]
// CHECK: return
func.func @long_product(%x: tensor<65xf32>) -> tensor<f32> {
  %y = metaop.reduce mul %x dims = [0] : tensor<65xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// Over two dimensions, one after the other.
// CHECK-LABEL: @product_of_two_dims(
// CHECK: metaop.reduce mul %{{.*}} dims = [1] keep_dims : tensor<4x8xf32> -> tensor<4x1xf32>
// CHECK: metaop.broadcast %{{.*}} dims = [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
func.func @product_of_two_dims(%x: tensor<4x8xf32>) -> tensor<f32> {
  %y = metaop.reduce mul %x dims = [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// A reduction over whole dimensions is found behind a general map, and with
// dynamic extents.
// CHECK-LABEL: @product_by_map(
// CHECK: metaop.reduce mul %{{.*}} dims = [2] : tensor<4x8x8xf32> -> tensor<4x8xf32>
func.func @product_by_map(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = metaop.reindex_reduce mul %x map affine_map<(d0, d1) -> (d0)> : tensor<4x8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @product_of_dynamic_extent(
// CHECK: metaop.reduce mul %{{.*}} dims = [2] : tensor<?x?x?xf32> -> tensor<?x?xf32>
func.func @product_of_dynamic_extent(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %y = metaop.reduce mul %x dims = [1] : tensor<?x?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// In general, zeros and other elements are taken apart.
// CHECK-LABEL: @general_product(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>)
// CHECK: %[[ISZERO:.*]] = metaop.cmp eq %[[X]], %{{.*}}
// CHECK-NEXT: %[[NUMBERS:.*]] = metaop.select %[[ISZERO]], %{{.*}}, %[[X]]
// CHECK-NEXT: metaop.reindex_reduce mul %[[NUMBERS]] map #[[HALF]]
// CHECK-NEXT: %[[ZEROS:.*]] = metaop.select %[[ISZERO]], %[[X]], %{{.*}}
// CHECK-NEXT: metaop.reindex_reduce mul %[[ZEROS]] map #[[HALF]]
// CHECK: metaop.div %{{.*}}, %[[NUMBERS]]
// CHECK-NEXT: metaop.select %[[ISZERO]]
func.func @general_product(%x: tensor<8xf32>) -> tensor<4xf32> {
  %y = metaop.reindex_reduce mul %x map affine_map<(d0) -> (d0 floordiv 2)> : tensor<8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
