// RUN: metaop-opt %s --metaop-pipeline="to=fused" | FileCheck %s --check-prefix=FUSED
// RUN: metaop-opt %s --metaop-pipeline="to=kernels" | FileCheck %s --check-prefix=KERNELS
// RUN: metaop-opt %s --metaop-pipeline="to=llvm" | FileCheck %s --check-prefix=CODE
// RUN: metaop-opt %s --metaop-pipeline="target=cuda chip=sm_90a to=kernels" | FileCheck %s --check-prefix=KERNELS
// RUN: metaop-opt %s --metaop-pipeline="target=cuda chip=sm_90a to=nvvm" | FileCheck %s --check-prefix=CODE
// RUN: metaop-run %s --seed=1 --compare

// Values that are made of results of a barrier are none of those that are made of its operands:
// exponentials are computed twice, and are in different kernels.

// FUSED-LABEL: func @main(
// FUSED-SAME: %[[X:.*]]: tensor<512x64xf32>)
// FUSED: %[[E:.*]] = metaop.kernel(%{{.*}} = %[[X]] : tensor<512x64xf32>) -> tensor<512xf32>
// FUSED: metaop.exp
// FUSED-NOT: metaop.exp
// FUSED: %[[B:.*]]:2 = metaop.barrier %[[X]], %[[E]]
// FUSED: metaop.kernel(%{{.*}} = %[[B]]#0 : tensor<512x64xf32>
// FUSED: metaop.exp

// Nothing is left of it behind the order of steps, and nothing is copied: one
// kernel reads the argument, and so does the other one.

// KERNELS-LABEL: func @main(
// KERNELS-SAME: %[[X:[a-z0-9]+]]: tensor<512x64xf32>)
// KERNELS-NOT: barrier
// KERNELS: %[[E:.*]] = call @kernel_0(%[[X]])
// KERNELS-NEXT: call @kernel_1(%[[X]], %[[E]])
// KERNELS-NEXT: return
// CODE-NOT: metaop.barrier
func.func @main(%x: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %0 = metaop.exp %x : tensor<512x64xf32>
  %1 = metaop.reduce add %0 dims = [1] : tensor<512x64xf32> -> tensor<512xf32>
  %2:2 = metaop.barrier %x, %1 : tensor<512x64xf32>, tensor<512xf32> -> tensor<512x64xf32>, tensor<512xf32>
  %3 = metaop.exp %2#0 : tensor<512x64xf32>
  %4 = metaop.broadcast %2#1 dims = [0] : tensor<512xf32> -> tensor<512x64xf32>
  %5 = metaop.div %3, %4 : tensor<512x64xf32>
  return %5 : tensor<512x64xf32>
}
