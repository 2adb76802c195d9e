// RUN: metaop-opt %s --canonicalize --mlir-print-local-scope -split-input-file | FileCheck %s

// Reads and writes of each element at its own place fold to the source, here in
// all forms.
// CHECK-LABEL: @identities
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
func.func @identities(%x: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>,
        tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = metaop.constant dense<0> : tensor<i64>
  %0 = metaop.reindex %x map affine_map<(d0, d1) -> (d0, d1)> fill 1.0 : f32
      : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = metaop.broadcast %x dims = [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = metaop.transpose %x perm = [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = metaop.slice %x[%zero, %zero] strides = [1, 1]
      : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = metaop.pad %x low = [0, 0] high = [0, 0] fill 1.0 : f32
      : tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = metaop.reshape %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = metaop.reindex_reduce max %x map affine_map<(d0, d1) -> (d0, d1)>
      : tensor<4x8xf32> -> tensor<4x8xf32>
  %7 = metaop.reduce add %x dims = [] : tensor<4x8xf32> -> tensor<4x8xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7
      : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>,
        tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Along a dimension of extent 1, index 0 is the element's own place.
// CHECK-LABEL: @unit_identity
// CHECK-SAME: %[[X:.*]]: tensor<4x1xf32>
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @unit_identity(%x: tensor<4x1xf32>)
    -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %0 = metaop.reindex %x map affine_map<(d0, d1) -> (d0, 0)> fill 1.0 : f32
      : tensor<4x1xf32> -> tensor<4x1xf32>
  %1 = metaop.reduce min %x dims = [1] keep_dims
      : tensor<4x1xf32> -> tensor<4x1xf32>
  return %0, %1 : tensor<4x1xf32>, tensor<4x1xf32>
}

// -----

// CHECK-LABEL: @no_identities
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x4xf32>
func.func @no_identities(%x: tensor<4x4xf32>, %z: tensor<?xf32>, %n: index)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<?xf32>) {
  // CHECK: %[[G:.*]] = metaop.reindex %[[X]] map affine_map<(d0, d1) -> (d0, d1)> where affine_set<(d0, d1) : (-d0 + d1 >= 0)>
  %0 = metaop.reindex %x map affine_map<(d0, d1) -> (d0, d1)>
      where affine_set<(d0, d1) : (d1 - d0 >= 0)> fill 1.0 : f32
      : tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK: %[[T:.*]] = metaop.reindex %[[X]] map affine_map<(d0, d1) -> (d1, d0)>
  %1 = metaop.transpose %x perm = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  // The result may be longer than the source.
  // CHECK: %[[D:.*]] = metaop.reindex %{{.*}} extents(%{{.*}}) map affine_map<(d0) -> (d0)>
  %2 = metaop.reindex %z extents(%n) map affine_map<(d0) -> (d0)>
      fill 1.0 : f32 : tensor<?xf32> -> tensor<?xf32>
  // CHECK: return %[[G]], %[[T]], %[[D]]
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<?xf32>
}

// -----

// A dynamic extent that is the source's own.
// CHECK-LABEL: @dynamic_identity
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @dynamic_identity(%x: tensor<?x3xf32>)
    -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %0 = metaop.reindex %x extents(%n) map affine_map<(d0, d1) -> (d0, d1)>
      fill 1.0 : f32 : tensor<?x3xf32> -> tensor<?x3xf32>
  %1 = metaop.reindex_reduce add %0 extents(%n)
      map affine_map<(d0, d1) -> (d0, d1)> : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}

// -----

// CHECK-LABEL: @splat
func.func @splat() -> (tensor<4x2xf32>, tensor<5xf32>, tensor<5xf32>,
                       tensor<2x2xf32>) {
  %x = metaop.constant dense<2.0> : tensor<4xf32>
  // Every read is in range.
  %0 = metaop.broadcast %x dims = [0] : tensor<4xf32> -> tensor<4x2xf32>
  // The fill is the splat's value.
  %1 = metaop.pad %x low = [1] high = [0] fill 2.0 : f32
      : tensor<4xf32> -> tensor<5xf32>
  // Another fill.
  %2 = metaop.pad %x low = [1] high = [0] fill 0.0 : f32
      : tensor<4xf32> -> tensor<5xf32>
  %3 = metaop.reshape %x : tensor<4xf32> -> tensor<2x2xf32>
  // CHECK-DAG: %[[B:.*]] = metaop.constant dense<2.000000e+00> : tensor<4x2xf32>
  // CHECK-DAG: %[[E:.*]] = metaop.constant dense<2.000000e+00> : tensor<5xf32>
  // CHECK-DAG: %[[S:.*]] = metaop.constant dense<2.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[H:.*]] = metaop.constant dense<2.000000e+00> : tensor<2x2xf32>
  // CHECK-DAG: %[[P:.*]] = metaop.reindex %[[S]] map affine_map<(d0) -> (d0 - 1)>
  // CHECK: return %[[B]], %[[E]], %[[P]], %[[H]]
  return %0, %1, %2, %3 : tensor<4x2xf32>, tensor<5xf32>, tensor<5xf32>,
                          tensor<2x2xf32>
}

// -----

// Unsigned and boolean splats.
// CHECK-LABEL: @splat_types
// CHECK-DAG: %[[U:.*]] = metaop.constant dense<200> : tensor<3xui8>
// CHECK-DAG: %[[B:.*]] = metaop.constant dense<true> : tensor<3xi1>
// CHECK: return %[[U]], %[[B]]
func.func @splat_types() -> (tensor<3xui8>, tensor<3xi1>) {
  %u = metaop.constant dense<200> : tensor<ui8>
  %b = metaop.constant dense<true> : tensor<i1>
  %0 = metaop.broadcast %u dims = [] : tensor<ui8> -> tensor<3xui8>
  %1 = metaop.broadcast %b dims = [] : tensor<i1> -> tensor<3xi1>
  return %0, %1 : tensor<3xui8>, tensor<3xi1>
}

// -----

// CHECK-LABEL: @always_outside
// CHECK: %[[C:.*]] = metaop.constant dense<7> : tensor<4xi32>
// CHECK: return %[[C]], %[[C]]
func.func @always_outside(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %0 = metaop.reindex %x map affine_map<(d0) -> (d0 + 4)> fill 7 : i32
      : tensor<4xi32> -> tensor<4xi32>
  %1 = metaop.reindex %x map affine_map<(d0) -> (d0)>
      where affine_set<(d0) : (d0 - 9 == 0)> fill 7 : i32
      : tensor<4xi32> -> tensor<4xi32>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
}

// -----

// CHECK-LABEL: @reshape_constant
// CHECK{LITERAL}: metaop.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
func.func @reshape_constant() -> tensor<2x2xi32> {
  %x = metaop.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = metaop.reshape %x : tensor<4xi32> -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// -----

// With two dynamic extents the same type may be another shape.
// CHECK-LABEL: @reshape_dynamic
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x2xf32>, %[[Z:[^:]*]]: tensor<?x?xf32>
// CHECK-NEXT: %[[R:.*]] = metaop.reshape %[[Z]]
// CHECK-NEXT: return %[[X]], %[[R]]
func.func @reshape_dynamic(%x: tensor<?x2xf32>, %z: tensor<?x?xf32>, %n: index)
    -> (tensor<?x2xf32>, tensor<?x?xf32>) {
  %0 = metaop.reshape %x extents(%n) : tensor<?x2xf32> -> tensor<?x2xf32>
  %1 = metaop.reshape %z extents(%n, %n) : tensor<?x?xf32> -> tensor<?x?xf32>
  return %0, %1 : tensor<?x2xf32>, tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @gather_of_fill
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT: return %[[C]]
func.func @gather_of_fill(%i: tensor<4xi64>) -> tensor<4xf32> {
  %x = metaop.constant dense<2.0> : tensor<9xf32>
  %0 = metaop.gather %x[%i] map affine_map<(d0)[s0] -> (s0)> fill 2.0 : f32
      : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Whether some index is out of range is not known.
// CHECK-LABEL: @gather_of_splat
// CHECK: metaop.gather
func.func @gather_of_splat(%i: tensor<4xi64>) -> tensor<4xf32> {
  %x = metaop.constant dense<2.0> : tensor<9xf32>
  %0 = metaop.gather %x[%i] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
      : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @empty
// CHECK-SAME: %[[X:.*]]: tensor<0x3xf32>
// CHECK-NEXT: return %[[X]]
func.func @empty(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<0x3xf32> -> tensor<3x0xf32>
  %1 = metaop.transpose %0 perm = [1, 0] : tensor<3x0xf32> -> tensor<0x3xf32>
  return %1 : tensor<0x3xf32>
}
