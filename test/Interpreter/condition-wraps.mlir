// Arithmetic of conditions wraps in 64 bits, also where lanes share it.
// RUN: metaop-run %s --compare --entry=where_lane | FileCheck %s
// CHECK: results agree

func.func @where_lane(%x: tensor<7xf32>) -> tensor<7x33xf32> {
  %y = metaop.reindex %x map affine_map<(a,b) -> (a)> where affine_set<(a,b) : (b - a*4611686018427387904 >= 0)> fill 2.5 : f32 : tensor<7xf32> -> tensor<7x33xf32>
  return %y : tensor<7x33xf32>
}
