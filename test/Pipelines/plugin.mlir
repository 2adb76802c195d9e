// The dialect and its passes in another tool on the same MLIR: mlir-opt.

// REQUIRES: plugin
// RUN: mlir-opt-22 %s --load-dialect-plugin=%metaops_plugin | FileCheck %s --check-prefix=PARSED
// RUN: mlir-opt-22 %s --load-dialect-plugin=%metaops_plugin --load-pass-plugin=%metaops_plugin \
// RUN:   --pass-pipeline="builtin.module(func.func(metaop-simplify,metaop-fuse),metaop-schedule,canonicalize)" \
// RUN:   | FileCheck %s --check-prefix=PASSES
// RUN: mlir-opt-22 %s --load-dialect-plugin=%metaops_plugin --load-pass-plugin=%metaops_plugin \
// RUN:   --pass-pipeline="builtin.module(metaop-pipeline{to=loops processor=avx2})" \
// RUN:   | FileCheck %s --check-prefix=PIPELINE
// Down to LLVM IR, with MLIR's own translation behind.
// RUN: mlir-opt-22 %s --load-dialect-plugin=%metaops_plugin --load-pass-plugin=%metaops_plugin \
// RUN:   --pass-pipeline="builtin.module(metaop-pipeline{to=llvm})" | mlir-translate --mlir-to-llvmir \
// RUN:   | FileCheck %s --check-prefix=IR

// PARSED:   metaop.exp %{{.*}} : tensor<10x128xf32>
// PASSES:   metaop.fused{{.*}} schedule(#metaop.schedule<
// PIPELINE: func.func @kernel_0
// PIPELINE:   vector<8xf32>
// IR:       define void @kernel_0_entry
func.func @main(%x: tensor<10x128xf32>) -> tensor<10xf32> {
  %0 = metaop.exp %x : tensor<10x128xf32>
  %1 = metaop.reduce add %0 dims = [1] : tensor<10x128xf32> -> tensor<10xf32>
  return %1 : tensor<10xf32>
}
