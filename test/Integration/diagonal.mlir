// RUN: env MALLOC_PERTURB_=165 metaop-run %s --entry=square --compare
// RUN: env MALLOC_PERTURB_=165 metaop-run %s --entry=largest --compare
// RUN: env MALLOC_PERTURB_=165 metaop-run %s --entry=spread --compare
// RUN: env MALLOC_PERTURB_=165 metaop-run %s --entry=column --compare

// One loop that moves along two dimensions of the result: the elements beside
// the diagonal keep the identity.

func.func @square(%x: tensor<512xf32>) -> tensor<512x512xf32> {
  %y = metaop.reindex_reduce mul %x map affine_map<(i) -> (i, i)>
      : tensor<512xf32> -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

func.func @largest(%x: tensor<8x5xf32>) -> tensor<8x8xf32> {
  %y = metaop.reindex_reduce max %x map affine_map<(i, j) -> (i, i)>
      : tensor<8x5xf32> -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

func.func @spread(%x: tensor<8xf32>) -> tensor<8x24x8xf32> {
  %y = metaop.reindex_reduce min %x map affine_map<(i) -> (i, i * 3, i)>
      : tensor<8xf32> -> tensor<8x24x8xf32>
  return %y : tensor<8x24x8xf32>
}

func.func @column(%x: tensor<100xf32>) -> tensor<100x1xf32> {
  %y = metaop.reindex_reduce max %x map affine_map<(i) -> (i, i)>
      : tensor<100xf32> -> tensor<100x1xf32>
  return %y : tensor<100x1xf32>
}
