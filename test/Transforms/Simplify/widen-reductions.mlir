// RUN: metaop-opt %s -metaop-widen-reductions --mlir-print-local-scope | FileCheck %s
// RUN: metaop-run %s --entry=many --compare=0,0
// RUN: metaop-run %s --entry=product --compare=0,0

// Sums that meet an element many times are in f32.

// CHECK-LABEL: @many
// CHECK: %[[WIDE:.*]] = metaop.cast %{{.*}} : tensor<4096xbf16> -> tensor<4096xf32>
// CHECK: %[[SUM:.*]] = metaop.reindex_reduce add %[[WIDE]] map affine_map<(d0) -> (d0 mod 4)> : tensor<4096xf32> -> tensor<4xf32>
// CHECK: metaop.cast %[[SUM]] : tensor<4xf32> -> tensor<4xbf16>
func.func @many() -> tensor<4xbf16> {
  %x = metaop.constant dense<1.0> : tensor<4096xbf16>
  %y = metaop.reindex_reduce add %x map affine_map<(i) -> (i mod 4)>
      : tensor<4096xbf16> -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// CHECK-LABEL: @product
// CHECK: metaop.reindex_reduce mul %{{.*}} : tensor<64xf32> -> tensor<2xf32>
func.func @product() -> tensor<2xf16> {
  %x = metaop.constant dense<1.125> : tensor<64xf16>
  %y = metaop.reindex_reduce mul %x map affine_map<(i) -> (i mod 2)>
      : tensor<64xf16> -> tensor<2xf16>
  return %y : tensor<2xf16>
}

// A projection has its accumulators in registers, a largest value is exact.

// CHECK-LABEL: @unchanged
// CHECK-NOT: metaop.cast
func.func @unchanged(%x: tensor<8x4xf16>) -> (tensor<8xf16>, tensor<2xf16>) {
  %0 = metaop.reduce add %x dims = [1] : tensor<8x4xf16> -> tensor<8xf16>
  %1 = metaop.reindex_reduce max %x map affine_map<(i, j) -> (i mod 2)>
      : tensor<8x4xf16> -> tensor<2xf16>
  return %0, %1 : tensor<8xf16>, tensor<2xf16>
}

// What reaches a part of a result combines with what the rest is set to.

// CHECK-LABEL: @part
// CHECK: metaop.reindex_reduce add %{{.*}} : tensor<2x4xf32> -> tensor<3xf32>
func.func @part(%x: tensor<2x4xf16>) -> tensor<3xf16> {
  %y = metaop.reindex_reduce add %x map affine_map<(i, j) -> (i)>
      : tensor<2x4xf16> -> tensor<3xf16>
  return %y : tensor<3xf16>
}
