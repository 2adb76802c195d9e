// RUN: metaop-run %s --compare --seed=1
// RUN: metaop-run %s --compare --seed=2

// Reductions into places that are not whole dimensions.

// The gradients of a convolution and of a strided one by the input.
func.func @difference(%g: tensor<2x4x9x9x3x3x3xf32>) -> tensor<2x3x9x9xf32> {
  %y = metaop.reindex_reduce add %g map affine_map<(n, o, h, w, i, kh, kw) -> (n, i, h - kh, w - kw)>
      : tensor<2x4x9x9x3x3x3xf32> -> tensor<2x3x9x9xf32>
  return %y : tensor<2x3x9x9xf32>
}

func.func @stride(%g: tensor<2x4x5x3x3xf32>) -> tensor<2x11x11xf32> {
  %y = metaop.reindex_reduce add %g map affine_map<(n,h,w,kh,kw) -> (n, h*2 + kh, w*2+kw)> : tensor<2x4x5x3x3xf32> -> tensor<2x11x11xf32>
  return %y : tensor<2x11x11xf32>
}

func.func @stride_one_tap(%g: tensor<3x7xf32>) -> tensor<3x21xf32> {
  %0 = metaop.reindex_reduce add %g map affine_map<(n, i) -> (n, i * 3 + 1)> : tensor<3x7xf32> -> tensor<3x21xf32>
  return %0 : tensor<3x21xf32>
}

func.func @quotient(%g: tensor<2x9x10xf32>) -> tensor<2x4x3xf32> {
  %y = metaop.reindex_reduce max %g map affine_map<(n,h,w) -> (n, h floordiv 2, w floordiv 3)> : tensor<2x9x10xf32> -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}

// Not all elements are reached, and some iterations reach none.
func.func @cover(%g: tensor<5x10xf32>) -> (tensor<7x3xf32>, tensor<12xf32>) {
  %y = metaop.reindex_reduce add %g map affine_map<(n,h) -> (n, 1)> : tensor<5x10xf32> -> tensor<7x3xf32>
  %z = metaop.reindex_reduce max %g map affine_map<(n,h) -> (h)> : tensor<5x10xf32> -> tensor<12xf32>
  return %y, %z : tensor<7x3xf32>, tensor<12xf32>
}

func.func @wide_quotient(%g: tensor<8x20000xf32>) -> tensor<4x20000xf32> {
  %0 = metaop.reindex_reduce max %g map affine_map<(h, w) -> (h floordiv 2, w)> : tensor<8x20000xf32> -> tensor<4x20000xf32>
  return %0 : tensor<4x20000xf32>
}

// One index in two dimensions.
func.func @diagonal(%g: tensor<17xf32>, %h: tensor<8xi32>) -> (tensor<3x16x17xf32>, tensor<8x8xi32>) {
  %0 = metaop.reindex_reduce add %g map affine_map<(i) -> (0, i, i)> : tensor<17xf32> -> tensor<3x16x17xf32>
  %1 = metaop.reindex_reduce max %h map affine_map<(i) -> (i, i)> : tensor<8xi32> -> tensor<8x8xi32>
  return %0, %1 : tensor<3x16x17xf32>, tensor<8x8xi32>
}

// Where to begin is known at run time; conditions choose.
func.func @symbols(%g: tensor<9x33xf32>, %s: tensor<i64>) -> (tensor<40xf32>, tensor<9xf32>) {
  %0 = metaop.reindex_reduce add %g symbols(%s) map affine_map<(a, b)[s] -> (b + s)> : tensor<9x33xf32> -> tensor<40xf32>
  %1 = metaop.reindex_reduce min %g symbols(%s) map affine_map<(a, b)[s] -> (a)>
      where affine_set<(a, b)[s] : (b - a + s >= 0, a + b - 3 >= 0)> : tensor<9x33xf32> -> tensor<9xf32>
  return %0, %1 : tensor<40xf32>, tensor<9xf32>
}

func.func @integers(%g: tensor<100xui8>, %b: tensor<100xi1>) -> (tensor<10xui8>, tensor<7xi1>) {
  %0 = metaop.reindex_reduce mul %g map affine_map<(i) -> (i floordiv 10)> : tensor<100xui8> -> tensor<10xui8>
  %1 = metaop.reindex_reduce xor %b map affine_map<(i) -> (i mod 7)> : tensor<100xi1> -> tensor<7xi1>
  return %0, %1 : tensor<10xui8>, tensor<7xi1>
}
