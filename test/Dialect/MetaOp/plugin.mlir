// REQUIRES: plugin
// RUN: mlir-opt-22 %s --load-dialect-plugin=%metaops_plugin --canonicalize | FileCheck %s
// RUN: mlir-opt-22 %s --load-dialect-plugin=%metaops_plugin \
// RUN:   --load-pass-plugin=%metaops_plugin \
// RUN:   --pass-pipeline='builtin.module(func.func(metaop-simplify))' | FileCheck %s

// CHECK-LABEL: @plugin
// CHECK: metaop.reindex
func.func @plugin(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
