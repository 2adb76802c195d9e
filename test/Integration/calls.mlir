// A function that is compiled calls no other; the interpreter takes calls.
// RUN: not metaop-run %s 2>&1 | FileCheck %s
// RUN: metaop-run %s --interpret | FileCheck %s --check-prefix=INTERPRETED
// RUN: metaop-opt %s --inline | metaop-run - | FileCheck %s --check-prefix=INTERPRETED

// CHECK: calls.mlir:[[@LINE+9]]:8: error: calls @twice; a function that is compiled calls no other
// CHECK: the function cannot be compiled
// INTERPRETED: [4, 4]
func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = metaop.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main() -> tensor<2xf32> {
  %x = metaop.constant dense<2.0> : tensor<2xf32>
  %0 = call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
