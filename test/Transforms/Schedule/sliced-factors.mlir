// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-simplify,metaop-fuse,metaop-pack-operands{report=true}))' -mlir-print-local-scope 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t

// Rows from an operand on are copied, and the tile then reads them in place.
// REPORT: remark: copies 1 of its factors, which are slices
// CHECK-LABEL: func @rows
// CHECK:       %[[SLICE:.*]] = metaop.kernel({{.*}} = %arg0 : tensor<8x128x256xf32>, {{.*}} = %arg2 : tensor<i64>) -> tensor<8x127x256xf32>
// CHECK:         metaop.reindex %{{.*}} symbols(%{{.*}}) map affine_map<(d0, d1, d2)[s0] -> (d0, d1 + s0, d2)> fill 0.000000e+00 : f32 : tensor<8x128x256xf32> -> tensor<8x127x256xf32>
// CHECK:       metaop.kernel({{.*}} = %arg1 : tensor<256x96xf32>, {{.*}} = %[[SLICE]] : tensor<8x127x256xf32>) -> tensor<8x127x96xf32>
// CHECK-NOT:     symbols
// CHECK:         metaop.reindex_reduce add
func.func @rows(%x: tensor<8x128x256xf32>, %w: tensor<256x96xf32>, %s: tensor<i64>) -> tensor<8x127x96xf32> {
  %0 = metaop.reindex %x symbols(%s) map affine_map<(d0, d1, d2, d3)[s0] -> (d0, d1 + s0, d3)> fill 0.0 : f32 : tensor<8x128x256xf32> -> tensor<8x127x96x256xf32>
  %1 = metaop.reindex %w map affine_map<(d0, d1, d2, d3) -> (d3, d2)> fill 0.0 : f32 : tensor<256x96xf32> -> tensor<8x127x96x256xf32>
  %2 = metaop.mul %0, %1 : tensor<8x127x96x256xf32>
  %3 = metaop.reduce add %2 dims = [3] : tensor<8x127x96x256xf32> -> tensor<8x127x96xf32>
  return %3 : tensor<8x127x96xf32>
}

// -----

// Conditions of a window are those of the copy, which has all that the window
// takes. What is before the product stays behind it.
// REPORT: remark: copies 1 of its factors, which are slices
// CHECK-LABEL: func @window
// CHECK:       %[[SLICE:.*]] = metaop.kernel({{.*}} = %arg0 : tensor<8x64x97xf32>, {{.*}} = %arg2 : tensor<i64>) -> tensor<8x64x98xf32>
// CHECK:         metaop.reindex %{{.*}} symbols(%{{.*}}) map affine_map<(d0, d1, d2)[s0] -> (d0, d1, d2 + s0 - 1)> where affine_set<(d0, d1, d2)[s0] : (d2 - 1 >= 0, -d2 + 96 >= 0)>
// CHECK:       metaop.kernel({{.*}} = %[[SLICE]] : tensor<8x64x98xf32>)
// CHECK:         metaop.exp
func.func @window(%x: tensor<8x64x97xf32>, %w: tensor<128x64x3xf32>, %s: tensor<i64>) -> tensor<8x128x96xf32> {
  %0 = metaop.reindex %x symbols(%s) map affine_map<(d0, d1, d2, d3, d4)[s0] -> (d0, d3, d2 + d4 + s0 - 1)> where affine_set<(d0, d1, d2, d3, d4)[s0] : (d2 + d4 - 1 >= 0, -d2 - d4 + 96 >= 0)> fill 0.0 : f32 : tensor<8x64x97xf32> -> tensor<8x128x96x64x3xf32>
  %1 = metaop.exp %0 : tensor<8x128x96x64x3xf32>
  %2 = metaop.reindex %w map affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)> fill 0.0 : f32 : tensor<128x64x3xf32> -> tensor<8x128x96x64x3xf32>
  %3 = metaop.mul %1, %2 : tensor<8x128x96x64x3xf32>
  %4 = metaop.reduce add %3 dims = [3, 4] : tensor<8x128x96x64x3xf32> -> tensor<8x128x96xf32>
  return %4 : tensor<8x128x96xf32>
}

// -----

// Both factors are slices of one tensor, each with a start of its own.
// REPORT: remark: copies 2 of its factors, which are slices
// CHECK-LABEL: func @both
// CHECK-DAG:   metaop.kernel({{.*}} = %arg0 : tensor<512x192xf32>, {{.*}} = %arg1 : tensor<i64>) -> tensor<512x64xf32>
// CHECK-DAG:   metaop.kernel({{.*}} = %arg0 : tensor<512x192xf32>, {{.*}} = %arg2 : tensor<i64>) -> tensor<512x64xf32>
func.func @both(%x: tensor<512x192xf32>, %s: tensor<i64>, %t: tensor<i64>) -> tensor<512x512xf32> {
  %0 = metaop.reindex %x symbols(%s) map affine_map<(d0, d1, d2)[s0] -> (d0, d2 + s0)> fill 0.0 : f32 : tensor<512x192xf32> -> tensor<512x512x64xf32>
  %1 = metaop.reindex %x symbols(%t) map affine_map<(d0, d1, d2)[s0] -> (d1, d2 + s0)> fill 0.0 : f32 : tensor<512x192xf32> -> tensor<512x512x64xf32>
  %2 = metaop.mul %0, %1 : tensor<512x512x64xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x512x64xf32> -> tensor<512x512xf32>
  return %3 : tensor<512x512xf32>
}

// -----

// The keys of a cache are multiplied by few queries: a copy would take longer.
// REPORT-NOT: copies
// CHECK-LABEL: func @few_products
// CHECK-COUNT-1: metaop.kernel(
// CHECK-NOT:   metaop.kernel(
func.func @few_products(%q: tensor<4x64xf32>, %cache: tensor<66000x64xf32>, %s: tensor<i64>) -> tensor<4x65536xf32> {
  %0 = metaop.reindex %q map affine_map<(d0, d1, d2) -> (d0, d2)> fill 0.0 : f32 : tensor<4x64xf32> -> tensor<4x65536x64xf32>
  %1 = metaop.reindex %cache symbols(%s) map affine_map<(d0, d1, d2)[s0] -> (d1 + s0, d2)> fill 0.0 : f32 : tensor<66000x64xf32> -> tensor<4x65536x64xf32>
  %2 = metaop.mul %0, %1 : tensor<4x65536x64xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<4x65536x64xf32> -> tensor<4x65536xf32>
  return %3 : tensor<4x65536xf32>
}

// -----

// A step that is an operand says nothing of what the copy would have to hold.
// CHECK-LABEL: func @step_of_an_operand
// CHECK-COUNT-1: metaop.kernel(
// CHECK-NOT:   metaop.kernel(
func.func @step_of_an_operand(%x: tensor<512x2048xf32>, %w: tensor<2048x96xf32>, %s: tensor<i64>) -> tensor<128x96xf32> {
  %0 = metaop.reindex %x symbols(%s) map affine_map<(d0, d1, d2)[s0] -> (d0 * s0, d2)> fill 0.0 : f32 : tensor<512x2048xf32> -> tensor<128x96x2048xf32>
  %1 = metaop.reindex %w map affine_map<(d0, d1, d2) -> (d2, d1)> fill 0.0 : f32 : tensor<2048x96xf32> -> tensor<128x96x2048xf32>
  %2 = metaop.mul %0, %1 : tensor<128x96x2048xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<128x96x2048xf32> -> tensor<128x96xf32>
  return %3 : tensor<128x96xf32>
}

// -----

// Where the result begins at an operand, no tile fits, and nothing is copied.
// CHECK-LABEL: func @result_at_an_operand
// CHECK-COUNT-1: metaop.kernel(
// CHECK-NOT:   metaop.kernel(
func.func @result_at_an_operand(%x: tensor<512x2048xf32>, %w: tensor<2048x96xf32>, %s: tensor<i64>) -> tensor<512x96xf32> {
  %0 = metaop.reindex %x symbols(%s) map affine_map<(d0, d1, d2)[s0] -> (d0 + s0, d2)> fill 0.0 : f32 : tensor<512x2048xf32> -> tensor<128x96x2048xf32>
  %1 = metaop.reindex %w map affine_map<(d0, d1, d2) -> (d2, d1)> fill 0.0 : f32 : tensor<2048x96xf32> -> tensor<128x96x2048xf32>
  %2 = metaop.mul %0, %1 : tensor<128x96x2048xf32>
  %3 = metaop.reindex_reduce add %2 symbols(%s) map affine_map<(d0, d1, d2)[s0] -> (d0 + s0, d1)> : tensor<128x96x2048xf32> -> tensor<512x96xf32>
  return %3 : tensor<512x96xf32>
}
// -----

// So few products are not worth the compilation of a tile for each length.
// CHECK-LABEL: func @few
// CHECK-COUNT-1: metaop.kernel(
// CHECK-NOT:   metaop.kernel(
func.func @few(%x: tensor<64x48xf32>, %w: tensor<48x48xf32>, %s: tensor<i64>) -> tensor<41x48xf32> {
  %0 = metaop.reindex %x symbols(%s) map affine_map<(d0, d1, d2)[s0] -> (d0 + s0, d2)> fill 0.0 : f32 : tensor<64x48xf32> -> tensor<41x48x48xf32>
  %1 = metaop.reindex %w map affine_map<(d0, d1, d2) -> (d2, d1)> fill 0.0 : f32 : tensor<48x48xf32> -> tensor<41x48x48xf32>
  %2 = metaop.mul %0, %1 : tensor<41x48x48xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<41x48x48xf32> -> tensor<41x48xf32>
  return %3 : tensor<41x48xf32>
}
