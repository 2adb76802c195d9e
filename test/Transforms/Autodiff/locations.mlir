// Each op of a derivative has the place of the op that it belongs to.
// RUN: metaop-opt %s --metaop-autodiff --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: metaop.mul {{.*}} loc("exp.py":3:4)
// CHECK: metaop.cos {{.*}} loc("sin.py":1:2)
// CHECK: metaop.mul {{.*}} loc("sin.py":1:2)
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.sin %x : tensor<4xf32> loc("sin.py":1:2)
  %1 = metaop.exp %0 : tensor<4xf32> loc("exp.py":3:4)
  return %1 : tensor<4xf32>
}
