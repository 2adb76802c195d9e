// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-widen-addends,metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-gather-scatters,metaop-pack-operands))' -mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-widen-addends,metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-gather-scatters,metaop-pack-operands{processor=scalar}))' | FileCheck %s --check-prefix=SCALAR
// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-widen-addends,metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-gather-scatters,metaop-pack-operands{report=true}))' 2>&1 | FileCheck %s --check-prefix=REPORT

// Without vectors nothing is packed.
// SCALAR-COUNT-15: metaop.kernel(
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

// -----

// Of three phases of a stride, two have a tap. Panels hold nine of four taps, of
// which the conditions leave four, and iterations without one are left out.
// REPORT: remark: packs the vectors and each phase of the result
// TWICE-LABEL: func @phases_without_taps
// CHECK-LABEL: func @phases_without_taps
// CHECK: metaop.reindex_reduce add %{{.*}} where affine_set<{{.*}}+ 1 >= 0, {{.*}}+ 1 >= 0)> : tensor<2x32x3x3x1x3x3x32xf32> -> tensor<3x3x2x32x3x3xf32>
func.func @phases_without_taps(%y: tensor<2x32x3x3xf32>, %w: tensor<32x32x2x2xf32>) -> tensor<2x32x8x8xf32> {
  %0 = metaop.broadcast %y dims = [0, 1, 2, 3] : tensor<2x32x3x3xf32> -> tensor<2x32x3x3x32x2x2xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<32x32x2x2xf32> -> tensor<2x32x3x3x32x2x2xf32>
  %2 = metaop.mul %0, %1 : tensor<2x32x3x3x32x2x2xf32>
  %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 3 + d5, d3 * 3 + d6)> : tensor<2x32x3x3x32x2x2xf32> -> tensor<2x32x8x8xf32>
  return %3 : tensor<2x32x8x8xf32>
}

// -----

// Seven taps at each border of seven pixels would be multiplied by zeros. The
// tile is of pixels of a row; rows outside of the image are left out by
// conditions.
// REPORT: remark: packs the vectors and the broadcast factor
// CHECK-LABEL: func @borders
// CHECK: metaop.reindex_reduce add %{{.*}} where affine_set<{{.*}} : (d2 - d5 >= 0, -d2 + d5 + 6 >= 0)>
func.func @borders(%y: tensor<2x32x7x7xf32>, %w: tensor<32x32x7x7xf32>) -> tensor<2x32x13x13xf32> {
  %0 = metaop.broadcast %y dims = [0, 1, 2, 3] : tensor<2x32x7x7xf32> -> tensor<2x32x7x7x32x7x7xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<32x32x7x7xf32> -> tensor<2x32x7x7x32x7x7xf32>
  %2 = metaop.mul %0, %1 : tensor<2x32x7x7x32x7x7xf32>
  %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)> : tensor<2x32x7x7x32x7x7xf32> -> tensor<2x32x13x13xf32>
  return %3 : tensor<2x32x13x13xf32>
}

// -----

// Of 16 images nothing is multiplied by zeros: the tile is of images, which are
// innermost in the box, as they are in what the contraction writes.
// REPORT: remark: packs the vectors and the broadcast factor and rows inside of what is tested
// CHECK-LABEL: func @borders_of_many_images
// CHECK:       metaop.kernel({{.*}} = %arg0 : tensor<16x32x7x7xf32>) -> tensor<19x19x32x16xf32>
// CHECK:         metaop.reindex %{{.*}} map affine_map<(d0, d1, d2, d3) -> (d3, d2, d0 - 6, d1 - 6)>
// CHECK:       metaop.kernel({{.*}} -> tensor<13x13x16x32xf32>
// CHECK:         metaop.reindex_reduce add %{{.*}} map affine_map<({{.*}}) -> (d2, d3, d0, d4 * 32 + d7)> where affine_set<{{.*}} : (d2 - d5 >= 0, -d2 + d5 + 6 >= 0, d3 - d6 >= 0, -d3 + d6 + 6 >= 0)>
// CHECK:       metaop.kernel({{.*}}tensor<13x13x16x32xf32>) -> tensor<16x32x13x13xf32>
// CHECK:         metaop.reindex %{{.*}} map affine_map<(d0, d1, d2, d3) -> (d2, d3, d0, d1)>
func.func @borders_of_many_images(%y: tensor<16x32x7x7xf32>, %w: tensor<32x32x7x7xf32>) -> tensor<16x32x13x13xf32> {
  %0 = metaop.broadcast %y dims = [0, 1, 2, 3] : tensor<16x32x7x7xf32> -> tensor<16x32x7x7x32x7x7xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<32x32x7x7xf32> -> tensor<16x32x7x7x32x7x7xf32>
  %2 = metaop.mul %0, %1 : tensor<16x32x7x7x32x7x7xf32>
  %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)> : tensor<16x32x7x7x32x7x7xf32> -> tensor<16x32x13x13xf32>
  return %3 : tensor<16x32x13x13xf32>
}

// -----

// Images without borders stay as they are: no condition is tested.
// CHECK-LABEL: func @no_borders
// CHECK:       metaop.kernel({{.*}} -> tensor<16x32x9x9xf32>
// CHECK-NOT:   metaop.kernel(
func.func @no_borders(%x: tensor<16x32x13x13xf32>, %w: tensor<32x32x5x5xf32>) -> tensor<16x32x9x9xf32> {
  %0 = metaop.reindex %x map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)> fill 0.000000e+00 : f32 : tensor<16x32x13x13xf32> -> tensor<16x32x9x9x32x5x5xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<32x32x5x5xf32> -> tensor<16x32x9x9x32x5x5xf32>
  %2 = metaop.mul %0, %1 : tensor<16x32x9x9x32x5x5xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<16x32x9x9x32x5x5xf32> -> tensor<16x32x9x9xf32>
  return %3 : tensor<16x32x9x9xf32>
}

// -----

// Eight filters of a group fill half of a vector: they have a dimension of the
// result, so that the other half is not of the next group.
// CHECK-LABEL: func @groups_of_few_filters
// CHECK:       metaop.kernel({{.*}} -> tensor<32x8x8x3x3xf32>
// CHECK:         metaop.reindex_reduce add %{{.*}} map affine_map<({{.*}}) -> (d1, d2 * 16 + d8, d5, d6, d7)>
// CHECK:       metaop.reshape %{{.*}} : tensor<32x8x8x3x3xf32> -> tensor<256x8x3x3xf32>
func.func @groups_of_few_filters(%y: tensor<8x32x8x28x28xf32>, %x: tensor<8x256x30x30xf32>) -> tensor<256x8x3x3xf32> {
  %0 = metaop.broadcast %y dims = [0, 1, 2, 3, 4] : tensor<8x32x8x28x28xf32> -> tensor<8x32x8x28x28x8x3x3xf32>
  %1 = metaop.reindex %x map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 8 + d5, d3 + d6, d4 + d7)> fill 0.000000e+00 : f32 : tensor<8x256x30x30xf32> -> tensor<8x32x8x28x28x8x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<8x32x8x28x28x8x3x3xf32>
  %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 * 8 + d2, d5, d6, d7)> : tensor<8x32x8x28x28x8x3x3xf32> -> tensor<256x8x3x3xf32>
  return %3 : tensor<256x8x3x3xf32>
}

// -----

// Pixels of an image are one loop, and so are channels and taps, which are two
// rows apart where a channel has six: all of them are one dimension.
// CHECK-LABEL: func @taps_and_channels
// CHECK:       metaop.reshape %{{.*}} : tensor<32x8x6x5xf32> -> tensor<32x240xf32>
// CHECK:       metaop.reindex %{{.*}} map affine_map<(d0, d1, d2, d3, d4) -> (d2, d0 * 120 + d1 * 160 + d3 + d4 * 10)>
func.func @taps_and_channels(%y: tensor<32x2x16x2x5xf32>, %x: tensor<32x8x6x5xf32>) -> tensor<32x4x3x1xf32> {
  %0 = metaop.reindex %y map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)> fill 0.000000e+00 : f32 : tensor<32x2x16x2x5xf32> -> tensor<32x2x16x2x5x4x3x1xf32>
  %1 = metaop.reindex %x map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 4 + d5, d3 + d6 * 2, d4)> fill 0.000000e+00 : f32 : tensor<32x8x6x5xf32> -> tensor<32x2x16x2x5x4x3x1xf32>
  %2 = metaop.mul %0, %1 : tensor<32x2x16x2x5x4x3x1xf32>
  %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 * 16 + d2, d5, d6, d7)> : tensor<32x2x16x2x5x4x3x1xf32> -> tensor<32x4x3x1xf32>
  return %3 : tensor<32x4x3x1xf32>
}

// -----

// Steps and phases of a row are one dimension with the groups of channels, which
// is none of phases any more.
// CHECK-LABEL: func @phases_and_groups
// CHECK-COUNT-1: metaop.kernel(
// CHECK-NOT:   metaop.kernel(
func.func @phases_and_groups(%y: tensor<256x2x16x2x1xf32>, %w: tensor<2x16x4x3x1xf32>) -> tensor<256x8x6x1xf32> {
  %0 = metaop.reindex %y map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d4)> fill 0.000000e+00 : f32 : tensor<256x2x16x2x1xf32> -> tensor<256x2x16x2x1x4x3xf32>
  %1 = metaop.reindex %w map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d2, d5, d6, 0)> fill 0.000000e+00 : f32 : tensor<2x16x4x3x1xf32> -> tensor<256x2x16x2x1x4x3xf32>
  %2 = metaop.mul %0, %1 : tensor<256x2x16x2x1x4x3xf32>
  %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 4 + d5, d3 + d6 * 2, 0)> : tensor<256x2x16x2x1x4x3xf32> -> tensor<256x8x6x1xf32>
  return %3 : tensor<256x8x6x1xf32>
}

// -----

// Without groups, the dimension of channels and rows consists of phases.
// CHECK-LABEL: func @phases_of_channels
// CHECK:       metaop.reindex_reduce add %{{.*}} -> (d2, d0, d3, 0)> : tensor<256x16x2x24xf32> -> tensor<2x256x24x1xf32>
// CHECK:       metaop.reindex_reduce add %{{.*}} -> (d1, d2 * 2 + d0, d3)> : tensor<2x256x24x1xf32> -> tensor<256x48x1xf32>
// CHECK:       metaop.reshape %{{.*}} : tensor<256x48x1xf32> -> tensor<256x8x6x1xf32>
func.func @phases_of_channels(%y: tensor<256x16x2x1xf32>, %w: tensor<16x8x3x1xf32>) -> tensor<256x8x6x1xf32> {
  %0 = metaop.reindex %y map affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)> fill 0.000000e+00 : f32 : tensor<256x16x2x1xf32> -> tensor<256x16x2x1x8x3xf32>
  %1 = metaop.reindex %w map affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5, 0)> fill 0.000000e+00 : f32 : tensor<16x8x3x1xf32> -> tensor<256x16x2x1x8x3xf32>
  %2 = metaop.mul %0, %1 : tensor<256x16x2x1x8x3xf32>
  %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d2 + d5 * 2, 0)> : tensor<256x16x2x1x8x3xf32> -> tensor<256x8x6x1xf32>
  return %3 : tensor<256x8x6x1xf32>
}
