// Modules that no compiler can make a program of end in a message.

// RUN: split-file %s %t

//--- no-main.mlir
// RUN: not metaop-opt %t/no-main.mlir -metaop-pipeline 2>&1 | FileCheck %t/no-main.mlir
// CHECK: error: expects a function @main
module {}

//--- declaration.mlir
// RUN: not metaop-opt %t/declaration.mlir -metaop-pipeline 2>&1 | FileCheck %t/declaration.mlir
// CHECK: error: expects a function @main
func.func private @main(%x: tensor<f32>) -> tensor<f32>

//--- blocks.mlir
// RUN: not metaop-opt %t/blocks.mlir -metaop-pipeline 2>&1 | FileCheck %t/blocks.mlir
// CHECK: 'cf.br' op is not legal in phase 'graph'
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  cf.br ^next
^next:
  return %x : tensor<f32>
}

//--- no-results.mlir
// RUN: metaop-opt %t/no-results.mlir -metaop-pipeline=to=kernels | FileCheck %t/no-results.mlir
// CHECK: func @main(%{{.*}}: tensor<f32>) attributes {metaop.arena_bytes = 0 : i64, metaop.results = []}
func.func @main(%x: tensor<f32>) {
  return
}

//--- large.mlir
// RUN: not metaop-opt %t/large.mlir -metaop-pipeline 2>&1 | FileCheck %t/large.mlir
// CHECK: more elements than can be numbered
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = metaop.broadcast %x dims = [] : tensor<f32> -> tensor<4611686018427387904x8xf32>
  %1 = metaop.reduce add %0 dims = [0, 1] : tensor<4611686018427387904x8xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

//--- tensor-constant.mlir
// RUN: not metaop-opt %t/tensor-constant.mlir -metaop-pipeline 2>&1 | FileCheck %t/tensor-constant.mlir
// CHECK: 'arith.constant' op is neither a call, a view, a placement, a routine, a check of numbers nor the end of a program
func.func @main() -> tensor<2xf32> {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- resource.mlir
// RUN: not metaop-opt %t/resource.mlir -metaop-pipeline 2>&1 | FileCheck %t/resource.mlir
// CHECK: 'metaop.constant' op expects its value as dense<...>
func.func @main() -> tensor<2xf32> {
  %0 = metaop.constant dense_resource<blob> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
{-#
  dialect_resources: {builtin: {blob: "0x040000000000803F00000040"}}
#-}

//--- index-tensor.mlir
// RUN: metaop-opt %t/index-tensor.mlir -metaop-pipeline=to=kernels | FileCheck %t/index-tensor.mlir
// CHECK: return %{{.*}} : tensor<2xindex>
func.func @main(%x: tensor<2xindex>) -> tensor<2xindex> {
  return %x : tensor<2xindex>
}

//--- leaf.mlir
// RUN: not metaop-opt %t/leaf.mlir -metaop-pipeline 2>&1 | FileCheck %t/leaf.mlir
// CHECK: 'metaop.buffer' op is not legal in phase 'fused'
func.func @main() -> tensor<2xf32> {
  %0 = metaop.buffer : tensor<2xf32>
  return %0 : tensor<2xf32>
}
