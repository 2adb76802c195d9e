// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-widen-addends,metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-gather-scatters,metaop-pack-operands))' -mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-widen-addends,metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-gather-scatters,metaop-pack-operands{processor=scalar}))' | FileCheck %s --check-prefix=SCALAR
// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-widen-addends,metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-gather-scatters,metaop-pack-operands{report=true}))' 2>&1 | FileCheck %s --check-prefix=REPORT

// Without vectors nothing is packed.
// SCALAR-COUNT-7: metaop.kernel(
// SCALAR-NOT:     metaop.kernel(

// The second factor's rows are columns of the result: its panels are transposed
// on the way, and the lanes' loop becomes two.
// REPORT: remark: packs the vectors, lanes along loop 1
// CHECK-LABEL: func @transposed
// CHECK:       %[[PANELS:.*]] = metaop.kernel({{.*}} = %arg1 : tensor<128x512xf32>) -> tensor<4x512x32xf32>
// CHECK:         metaop.reindex %{{.*}} map affine_map<(d0, d1, d2) -> (d0 * 32 + d2, d1)> {{.*}} -> tensor<4x512x32xf32>
// CHECK:       metaop.kernel({{.*}} = %arg0 : tensor<256x512xf32>, {{.*}} = %[[PANELS]] : tensor<4x512x32xf32>) -> tensor<256x128xf32>
// CHECK:         metaop.reindex %{{.*}} map affine_map<(d0, d1, d2, d3) -> (d0, d2)> {{.*}} -> tensor<256x4x512x32xf32>
// CHECK:         metaop.reindex %{{.*}} map affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)> {{.*}} -> tensor<256x4x512x32xf32>
// CHECK:         metaop.mul
// CHECK:         metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1, d2, d3) -> (d0, d1 * 32 + d3)>
func.func @transposed(%a: tensor<256x512xf32>, %b: tensor<128x512xf32>) -> tensor<256x128xf32> {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<256x512xf32> -> tensor<256x128x512xf32>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<128x512xf32> -> tensor<256x128x512xf32>
  %2 = metaop.mul %0, %1 : tensor<256x128x512xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<256x128x512xf32> -> tensor<256x128xf32>
  return %3 : tensor<256x128xf32>
}

// -----

// The image is copied with its halo.
// REPORT: remark: packs the vectors and the broadcast factor
// CHECK-LABEL: func @convolution
// CHECK-DAG:   metaop.kernel({{.*}} = %arg0 : tensor<2x64x28x28xf32>) -> tensor<2x64x30x30xf32>
// CHECK-DAG:     metaop.reindex %{{.*}} map affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 - 1, d3 - 1)>
// CHECK-DAG:   metaop.kernel({{.*}} = %arg1 : tensor<64x64x3x3xf32>) -> tensor<2x64x3x3x32xf32>
// CHECK:       metaop.kernel({{.*}}tensor<2x64x30x30xf32>, {{.*}}tensor<2x64x3x3x32xf32>) -> tensor<2x64x28x28xf32>
// CHECK:         metaop.reindex %{{.*}} map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d4, d2 + d5, d3 + d6)>
func.func @convolution(%x: tensor<2x64x28x28xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<2x64x28x28xf32> {
  %0 = metaop.reindex %x map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)> fill 0.000000e+00 : f32 : tensor<2x64x28x28xf32> -> tensor<2x64x28x28x64x3x3xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<64x64x3x3xf32> -> tensor<2x64x28x28x64x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<2x64x28x28x64x3x3xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<2x64x28x28x64x3x3xf32> -> tensor<2x64x28x28xf32>
  return %3 : tensor<2x64x28x28xf32>
}

// -----

// The gradient of a convolution of stride 2 by its image consists of four
// phases, of which each is contiguous until they are interleaved.
// REPORT: remark: packs the vectors and the broadcast factor and each phase of the result
// CHECK-LABEL: func @by_image_with_stride
// CHECK:       metaop.kernel({{.*}}-> tensor<2x2x4x128x14x14xf32>
// CHECK:         metaop.reindex_reduce add %{{.*}} map affine_map<({{.*}}) -> (d7, d8, d0, d4 * 32 + d9, d2, d3)>
// CHECK:       metaop.kernel({{.*}}tensor<2x2x4x128x14x14xf32>) -> tensor<4x128x28x28xf32>
// CHECK:         metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d3, d4 * 2 + d0, d5 * 2 + d1)>
func.func @by_image_with_stride(%y: tensor<4x128x14x14xf32>, %w: tensor<128x128x3x3xf32>) -> tensor<4x128x28x28xf32> {
  %0 = metaop.broadcast %y dims = [0, 1, 2, 3] : tensor<4x128x14x14xf32> -> tensor<4x128x14x14x128x3x3xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<128x128x3x3xf32> -> tensor<4x128x14x14x128x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<4x128x14x14x128x3x3xf32>
  %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5 - 1, d3 * 2 + d6 - 1)> : tensor<4x128x14x14x128x3x3xf32> -> tensor<4x128x28x28xf32>
  return %3 : tensor<4x128x28x28xf32>
}

// -----

// Small factors are read where they lie.
// REPORT-NOT: remark
// CHECK-LABEL: func @in_place
// CHECK-COUNT-1: metaop.kernel(
// CHECK-NOT:     metaop.kernel(
func.func @in_place(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = metaop.broadcast %a dims = [0, 1] : tensor<64x64xf32> -> tensor<64x64x64xf32>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<64x64xf32> -> tensor<64x64x64xf32>
  %2 = metaop.mul %0, %1 : tensor<64x64x64xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<64x64x64xf32> -> tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// -----

// Halves are packed as f32, in which they are multiplied.
// REPORT: remark: packs the vectors and the broadcast factor
// CHECK-LABEL: func @halves
// CHECK:       metaop.kernel({{.*}} = %arg0 : tensor<256x256xbf16>) -> tensor<256x256xf32>
// CHECK:         metaop.cast %{{.*}} : tensor<256x256xbf16> -> tensor<256x256xf32>
// CHECK:       metaop.kernel({{.*}} = %arg1 : tensor<256x256xbf16>) -> tensor<8x256x32xf32>
// CHECK:         metaop.cast %{{.*}} : tensor<8x256x32xbf16> -> tensor<8x256x32xf32>
// CHECK:       metaop.kernel({{.*}}tensor<256x256xf32>, {{.*}}tensor<8x256x32xf32>) -> tensor<256x256xf32>
// CHECK-NOT:     metaop.cast
// CHECK:         metaop.mul %{{.*}} : tensor<256x256x8x32xf32>
// CHECK:         metaop.cast %{{.*}} : tensor<256x256xf32> -> tensor<256x256xbf16>
func.func @halves(%a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  %0 = metaop.broadcast %a dims = [0, 1] : tensor<256x256xbf16> -> tensor<256x256x256xbf16>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<256x256xbf16> -> tensor<256x256x256xbf16>
  %2 = metaop.mul %0, %1 : tensor<256x256x256xbf16>
  %3 = metaop.reduce add %2 dims = [1] : tensor<256x256x256xbf16> -> tensor<256x256xbf16>
  return %3 : tensor<256x256xbf16>
}

// -----

// What is in panels stays in them: the pass runs twice here.
// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-widen-addends,metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-gather-scatters,metaop-pack-operands,metaop-pack-operands))' -mlir-print-local-scope | FileCheck %s --check-prefix=TWICE
// CHECK-LABEL:   func @small_images
// REPORT: remark
// TWICE-LABEL:   func @small_images
// TWICE-COUNT-3: metaop.kernel(
// TWICE-NOT:     metaop.kernel(
func.func @small_images(%x: tensor<8x512x4x4xf32>, %w: tensor<512x512x3x3xf32>) -> tensor<8x512x4x4xf32> {
  %0 = metaop.reindex %x map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)> fill 0.000000e+00 : f32 : tensor<8x512x4x4xf32> -> tensor<8x512x4x4x512x3x3xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<512x512x3x3xf32> -> tensor<8x512x4x4x512x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<8x512x4x4x512x3x3xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<8x512x4x4x512x3x3xf32> -> tensor<8x512x4x4xf32>
  return %3 : tensor<8x512x4x4xf32>
}
