// RUN: metaop-opt %s -metaop-schedule-contractions -metaop-schedule | FileCheck %s
// RUN: metaop-opt %s -metaop-schedule-contractions=processor=avx2 -metaop-schedule=processor=avx2 | FileCheck %s --check-prefix=V256

// 14 rows, or 13 where those waste less, of two vectors, which leave registers
// for a row of vectors and a broadcast element; with 16 registers, 6 rows.
// CHECK-LABEL: func @product
// CHECK: <[parallel(0, 26), step(0, 13), step(2, 32), step(1)], tile = [0: 13, 2: 32], lanes = 2: 16
// V256-LABEL: func @product
// V256: tile = [0: {{[56]}}, 2: 16], lanes = 2: 8
func.func @product(%x: tensor<64x128xf32>, %y: tensor<128x128xf32>) -> tensor<64x128xf32> {
  %0 = metaop.fused(%a = %x : tensor<64x128xf32>, %b = %y : tensor<128x128xf32>) -> tensor<64x128xf32> {
    %1 = metaop.broadcast %a dims = [0, 1] : tensor<64x128xf32> -> tensor<64x128x128xf32>
    %2 = metaop.broadcast %b dims = [1, 2] : tensor<128x128xf32> -> tensor<64x128x128xf32>
    %3 = metaop.mul %1, %2 : tensor<64x128x128xf32>
    %4 = metaop.reduce add %3 dims = [1] : tensor<64x128x128xf32> -> tensor<64x128xf32>
    metaop.yield %4 : tensor<64x128xf32>
  }
  return %0 : tensor<64x128xf32>
}

// A long sum goes in equal blocks; batches are parallel.
// CHECK-LABEL: func @batched
// CHECK: <[parallel(0), {{.*}}step(2, 250), {{.*}}step(2)], tile = [1: 14, 3: 32], lanes = 3: 16
func.func @batched(%x: tensor<4x56x1000xf32>, %y: tensor<4x1000x64xf32>) -> tensor<4x56x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<4x56x1000xf32>, %b = %y : tensor<4x1000x64xf32>) -> tensor<4x56x64xf32> {
    %1 = metaop.broadcast %a dims = [0, 1, 2] : tensor<4x56x1000xf32> -> tensor<4x56x1000x64xf32>
    %2 = metaop.broadcast %b dims = [0, 2, 3] : tensor<4x1000x64xf32> -> tensor<4x56x1000x64xf32>
    %3 = metaop.mul %1, %2 : tensor<4x56x1000x64xf32>
    %4 = metaop.reduce add %3 dims = [2] : tensor<4x56x1000x64xf32> -> tensor<4x56x64xf32>
    metaop.yield %4 : tensor<4x56x64xf32>
  }
  return %0 : tensor<4x56x64xf32>
}

// Products of halves are rounded one by one: vectors of them, but no tile.
// CHECK-LABEL: func @halves
// CHECK: tile = [0: {{[48]}}, 2: {{16|32}}], lanes = 2: {{16|32}}, pairwise = 32>
func.func @halves(%x: tensor<64x1024xbf16>, %y: tensor<1024x128xbf16>) -> tensor<64x128xbf16> {
  %0 = metaop.fused(%a = %x : tensor<64x1024xbf16>, %b = %y : tensor<1024x128xbf16>) -> tensor<64x128xbf16> {
    %1 = metaop.broadcast %a dims = [0, 1] : tensor<64x1024xbf16> -> tensor<64x1024x128xbf16>
    %2 = metaop.broadcast %b dims = [1, 2] : tensor<1024x128xbf16> -> tensor<64x1024x128xbf16>
    %3 = metaop.mul %1, %2 : tensor<64x1024x128xbf16>
    %4 = metaop.reduce add %3 dims = [1] : tensor<64x1024x128xbf16> -> tensor<64x128xbf16>
    metaop.yield %4 : tensor<64x128xbf16>
  }
  return %0 : tensor<64x128xbf16>
}

// A matrix and a vector share nothing that a tile would keep.
// CHECK-LABEL: func @matrix_vector
// CHECK-NOT: prefetch
// CHECK: <[parallel(0{{(, [0-9]+)?}}), step(1, {{[0-9]+}})]
func.func @matrix_vector(%x: tensor<512x512xf32>, %y: tensor<512xf32>) -> tensor<512xf32> {
  %0 = metaop.fused(%a = %x : tensor<512x512xf32>, %b = %y : tensor<512xf32>) -> tensor<512xf32> {
    %1 = metaop.broadcast %b dims = [1] : tensor<512xf32> -> tensor<512x512xf32>
    %2 = metaop.mul %a, %1 : tensor<512x512xf32>
    %3 = metaop.reduce add %2 dims = [1] : tensor<512x512xf32> -> tensor<512xf32>
    metaop.yield %3 : tensor<512xf32>
  }
  return %0 : tensor<512xf32>
}

// Seven pixels of a row leave room for as many again: those of a second image,
// since the next row of this one would be computed twice in the last tile.
// CHECK-LABEL: func @small_images
// CHECK: tile = [0: 2, 3: 7, 7: 32], lanes = 7: 16, transpose = 3
func.func @small_images(%x: tensor<16x64x9x9xf32>, %w: tensor<8x64x3x3x32xf32>) -> tensor<16x256x7x7xf32> {
  %0 = metaop.fused(%a = %x : tensor<16x64x9x9xf32>, %b = %w : tensor<8x64x3x3x32xf32>) -> tensor<16x256x7x7xf32> {
    %1 = metaop.reindex %a map affine_map<(n, p, i, j, c, r, s, l) -> (n, c, i + r, j + s)> fill 0.0 : f32 : tensor<16x64x9x9xf32> -> tensor<16x8x7x7x64x3x3x32xf32>
    %2 = metaop.reindex %b map affine_map<(n, p, i, j, c, r, s, l) -> (p, c, r, s, l)> fill 0.0 : f32 : tensor<8x64x3x3x32xf32> -> tensor<16x8x7x7x64x3x3x32xf32>
    %3 = metaop.mul %1, %2 : tensor<16x8x7x7x64x3x3x32xf32>
    %4 = metaop.reindex_reduce add %3 map affine_map<(n, p, i, j, c, r, s, l) -> (n, p * 32 + l, i, j)> : tensor<16x8x7x7x64x3x3x32xf32> -> tensor<16x256x7x7xf32>
    metaop.yield %4 : tensor<16x256x7x7xf32>
  }
  return %0 : tensor<16x256x7x7xf32>
}

// Of images of 4 x 4, two rows each time rather than three of four and one.
// CHECK-LABEL: func @smaller_images
// CHECK: tile = [2: 2, 3: 4, 7: 32], lanes = 7: 16, transpose = 3
func.func @smaller_images(%x: tensor<8x64x6x6xf32>, %w: tensor<8x64x3x3x32xf32>) -> tensor<8x256x4x4xf32> {
  %0 = metaop.fused(%a = %x : tensor<8x64x6x6xf32>, %b = %w : tensor<8x64x3x3x32xf32>) -> tensor<8x256x4x4xf32> {
    %1 = metaop.reindex %a map affine_map<(n, p, i, j, c, r, s, l) -> (n, c, i + r, j + s)> fill 0.0 : f32 : tensor<8x64x6x6xf32> -> tensor<8x8x4x4x64x3x3x32xf32>
    %2 = metaop.reindex %b map affine_map<(n, p, i, j, c, r, s, l) -> (p, c, r, s, l)> fill 0.0 : f32 : tensor<8x64x3x3x32xf32> -> tensor<8x8x4x4x64x3x3x32xf32>
    %3 = metaop.mul %1, %2 : tensor<8x8x4x4x64x3x3x32xf32>
    %4 = metaop.reindex_reduce add %3 map affine_map<(n, p, i, j, c, r, s, l) -> (n, p * 32 + l, i, j)> : tensor<8x8x4x4x64x3x3x32xf32> -> tensor<8x256x4x4xf32>
    metaop.yield %4 : tensor<8x256x4x4xf32>
  }
  return %0 : tensor<8x256x4x4xf32>
}
