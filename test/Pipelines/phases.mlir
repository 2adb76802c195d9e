// Where --metaop-pipeline stops, and where it may start.

// RUN: metaop-opt %s -metaop-pipeline=to=graph | FileCheck %s --check-prefix=GRAPH
// RUN: metaop-opt %s -metaop-pipeline=to=fused | FileCheck %s --check-prefix=FUSED
// RUN: metaop-opt %s -metaop-pipeline=to=scheduled | FileCheck %s --check-prefix=SCHEDULED
// RUN: metaop-opt %s -metaop-pipeline=to=kernels | FileCheck %s --check-prefix=KERNELS
// RUN: metaop-opt %s -metaop-pipeline=to=loops | FileCheck %s --check-prefix=LOOPS
// RUN: metaop-opt %s -metaop-pipeline=to=llvm | FileCheck %s --check-prefix=LLVM
// RUN: metaop-opt %s -metaop-pipeline | FileCheck %s --check-prefix=LLVM

// From the outcome of any phase up to kernels the rest gives the same.
// RUN: metaop-opt %s -metaop-pipeline=to=llvm -o %t.llvm
// RUN: metaop-opt %s -metaop-pipeline=to=fused | metaop-opt -metaop-pipeline=from=fused | diff - %t.llvm
// RUN: metaop-opt %s -metaop-pipeline=to=scheduled | metaop-opt -metaop-pipeline=from=scheduled | diff - %t.llvm
// RUN: metaop-opt %s -metaop-pipeline=to=scheduled | metaop-opt -metaop-pipeline=from=fused | diff - %t.llvm
// RUN: metaop-opt %s -metaop-pipeline=to=kernels | metaop-opt -metaop-pipeline=from=kernels | diff - %t.llvm

// GRAPH-LABEL: func @main
// GRAPH-NEXT:    metaop.exp
// GRAPH-NEXT:    metaop.reduce add
// GRAPH-NEXT:    metaop.exp
// GRAPH-NEXT:    metaop.reduce add
// GRAPH-NEXT:    return

// FUSED-LABEL: func @main
// FUSED-NEXT:    metaop.kernel
// FUSED-NEXT:      metaop.fused
// FUSED-NOT:       schedule
// FUSED:           metaop.exp
// FUSED-NEXT:      metaop.reindex_reduce add
// FUSED:         metaop.kernel
// FUSED:           metaop.exp

// SCHEDULED-LABEL: func @main
// SCHEDULED:     metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0), step(1, 64)], tile = [1: 64], lanes = 1: 16>)
// SCHEDULED:     metaop.fused{{.*}} schedule(#metaop.schedule<

// KERNELS-LABEL: func @main
// KERNELS-SAME:    metaop.arena_bytes = {{[0-9]+}} : i64
// KERNELS-SAME:    metaop.results = [#metaop.slot<result, 0>]
// KERNELS-NEXT:    call @kernel_0{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// KERNELS-NEXT:    call @kernel_1{{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
// KERNELS:       func private @kernel_0
// KERNELS-NEXT:    metaop.kernel

// LOOPS-NOT:     @main
// LOOPS:         func @kernel_0(%{{.*}}: memref<1280xf32>, %{{.*}}: memref<10xf32>, %{{.*}}: index, %{{.*}}: index)
// LOOPS:           vector.load
// LOOPS-NOT:       metaop.{{[a-z]+}} %

// LLVM:          llvm.func @kernel_0_entry

func.func @main(%x: tensor<10x128xf32>) -> tensor<f32> {
  %0 = metaop.exp %x : tensor<10x128xf32>
  %1 = metaop.reduce add %0 dims = [1] : tensor<10x128xf32> -> tensor<10xf32>
  %2 = metaop.exp %1 : tensor<10xf32>
  %3 = metaop.reduce add %2 dims = [0] : tensor<10xf32> -> tensor<f32>
  return %3 : tensor<f32>
}
