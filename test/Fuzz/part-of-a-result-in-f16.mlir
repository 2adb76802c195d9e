// A sum that reaches a part of its result is no projection, and was not widened: GPUs
// have no atomic additions of halves.
// RUN: metaop-run %s --compare --target=cuda --emulate --chip=sm_80 | FileCheck %s
// RUN: metaop-run %s --compare | FileCheck %s
// CHECK: results agree

func.func @main(%x: tensor<2x2x2xf16>, %y: tensor<f16>) -> tensor<3xf16> {
  %0 = metaop.broadcast %y dims = [] : tensor<f16> -> tensor<2x2x2xf16>
  %1 = metaop.div %x, %0 : tensor<2x2x2xf16>
  %2 = metaop.reindex_reduce add %1 map affine_map<(d0, d1, d2) -> (d0)> : tensor<2x2x2xf16> -> tensor<3xf16>
  return %2 : tensor<3xf16>
}
