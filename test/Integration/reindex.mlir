// RUN: metaop-run %s --compare --seed=1
// RUN: metaop-run %s --compare --seed=2

// Reindexes: transpositions, windows, borders, conditions, broadcasts.

func.func @transpose(%x: tensor<5x7x3xf32>) -> tensor<3x5x7xf32> {
  %y = metaop.transpose %x perm = [2,0,1] : tensor<5x7x3xf32> -> tensor<3x5x7xf32>
  %z = metaop.exp %y : tensor<3x5x7xf32>
  return %z : tensor<3x5x7xf32>
}

func.func @transpose_matrix(%x: tensor<65x33xf64>) -> tensor<33x65xf64> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<65x33xf64> -> tensor<33x65xf64>
  return %0 : tensor<33x65xf64>
}

func.func @transpose_bytes(%x: tensor<65x33xi8>) -> tensor<33x65xi8> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<65x33xi8> -> tensor<33x65xi8>
  return %0 : tensor<33x65xi8>
}

// The starts are in [-4, 8), so some elements are outside.
func.func @slice(%x: tensor<9x21xf32>, %s: tensor<i64>, %t: tensor<i64>) -> tensor<3x7xf32> {
  %y = metaop.slice %x[%s, %t] strides = [2,-2] : tensor<9x21xf32> -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

func.func @slice_rows(%x: tensor<20x40xf16>, %s: tensor<i64>, %t: tensor<i64>) -> tensor<9x40xf16> {
  %0 = metaop.slice %x[%s, %t] strides = [1, 1] : tensor<20x40xf16> -> tensor<9x40xf16>
  return %0 : tensor<9x40xf16>
}

func.func @pad(%x: tensor<5x17xf32>, %b: tensor<5x17xi1>) -> (tensor<6x22xf32>, tensor<3x19xi1>) {
  %0 = metaop.pad %x low = [2, 3] high = [-1, 2] fill -1.5 : f32 : tensor<5x17xf32> -> tensor<6x22xf32>
  %1 = metaop.pad %b low = [-1, 1] high = [-1, 1] fill true : tensor<5x17xi1> -> tensor<3x19xi1>
  return %0, %1 : tensor<6x22xf32>, tensor<3x19xi1>
}

func.func @where_both(%x: tensor<9x21xf32>) -> tensor<9x33xf32> {
  %y = metaop.reindex %x map affine_map<(a,b) -> (a, b mod 21)> where affine_set<(a,b) : (b - a >= 0, 30 - b - a >= 0)> fill 2.5 : f32 : tensor<9x21xf32> -> tensor<9x33xf32>
  return %y : tensor<9x33xf32>
}

func.func @where_lane(%x: tensor<9xf32>) -> tensor<9x33xf32> {
  %y = metaop.reindex %x map affine_map<(a,b) -> (a)> where affine_set<(a,b) : (b - a*2 >= 0)> fill 2.5 : f32 : tensor<9xf32> -> tensor<9x33xf32>
  return %y : tensor<9x33xf32>
}

func.func @where_equal(%x: tensor<9x21xf32>) -> tensor<9x21xf32> {
  %0 = metaop.reindex %x map affine_map<(a, b) -> (a, b)> where affine_set<(a, b) : (b - a * 2 == 0)>
      fill 1.0 : f32 : tensor<9x21xf32> -> tensor<9x21xf32>
  return %0 : tensor<9x21xf32>
}

func.func @division(%x: tensor<9x21xf32>) -> (tensor<18x42xf32>, tensor<9x40xf32>) {
  %0 = metaop.reindex %x map affine_map<(a, b) -> (a floordiv 2, b floordiv 2)> fill 0.0 : f32
      : tensor<9x21xf32> -> tensor<18x42xf32>
  %1 = metaop.reindex %x map affine_map<(a, b) -> (a, (b * 3 - 5) mod 7)> fill 0.0 : f32
      : tensor<9x21xf32> -> tensor<9x40xf32>
  return %0, %1 : tensor<18x42xf32>, tensor<9x40xf32>
}

// The windows of a convolution, and the convolution itself.
func.func @windows(%x: tensor<2x3x9x9xf32>) -> tensor<2x9x9x3x3x3xf32> {
  %0 = metaop.reindex %x map affine_map<(n, h, w, c, i, j) -> (n, c, h + i - 1, w + j - 1)> fill 0.0 : f32
      : tensor<2x3x9x9xf32> -> tensor<2x9x9x3x3x3xf32>
  return %0 : tensor<2x9x9x3x3x3xf32>
}

func.func @convolution(%x: tensor<2x3x9x17xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x9x17xf32> {
  %0 = metaop.reindex %x map affine_map<(n, o, h, w, c, i, j) -> (n, c, h + i - 1, w + j - 1)> fill 0.0 : f32
      : tensor<2x3x9x17xf32> -> tensor<2x4x9x17x3x3x3xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<4x3x3x3xf32> -> tensor<2x4x9x17x3x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<2x4x9x17x3x3x3xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<2x4x9x17x3x3x3xf32> -> tensor<2x4x9x17xf32>
  return %3 : tensor<2x4x9x17xf32>
}

func.func @matmul(%x: tensor<33x17xf32>, %p: tensor<17x29xf32>) -> tensor<33x29xf32> {
  %a = metaop.broadcast %x dims = [0,1] : tensor<33x17xf32> -> tensor<33x17x29xf32>
  %b = metaop.broadcast %p dims = [1,2] : tensor<17x29xf32> -> tensor<33x17x29xf32>
  %c = metaop.mul %a, %b : tensor<33x17x29xf32>
  %d = metaop.reduce add %c dims = [1] : tensor<33x17x29xf32> -> tensor<33x29xf32>
  return %d : tensor<33x29xf32>
}

// Through a view, one buffer in two shapes.
func.func @views(%x: tensor<6x4xf32>) -> (tensor<4x6xf32>, tensor<24xf32>) {
  %0 = metaop.reshape %x : tensor<6x4xf32> -> tensor<4x6xf32>
  %1 = metaop.transpose %0 perm = [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %2 = metaop.add %1, %x : tensor<6x4xf32>
  %3 = metaop.reshape %2 : tensor<6x4xf32> -> tensor<24xf32>
  return %0, %3 : tensor<4x6xf32>, tensor<24xf32>
}
