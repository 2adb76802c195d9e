// What the pipeline says of options and modules that it cannot use.

// RUN: not metaop-opt %s -metaop-pipeline=to=assembly 2>&1 | FileCheck %s --check-prefix=TO
// TO: metaop-pipeline: there is no phase 'assembly' on the way to the target; expected one of graph, fused, scheduled, kernels, loops, llvm

// RUN: not metaop-opt %s -metaop-pipeline=from=assembly 2>&1 | FileCheck %s --check-prefix=FROM
// FROM: metaop-pipeline: there is no phase 'assembly'

// RUN: not metaop-opt %s -metaop-pipeline="from=loops to=llvm" 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: metaop-pipeline: a pipeline starts from graph, fused, scheduled, kernels

// RUN: not metaop-opt %s -metaop-pipeline="from=kernels to=fused" 2>&1 | FileCheck %s --check-prefix=BACK
// BACK: metaop-pipeline: a pipeline starts from its last phase or an earlier one

// RUN: not metaop-opt %s -metaop-pipeline=target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: metaop-pipeline: there is no target 'abacus'; expected cpu or cuda

// RUN: not metaop-opt %s -metaop-pipeline="target=cuda to=loops" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: metaop-pipeline: there is no phase 'loops' on the way to the target; expected one of graph, fused, scheduled, kernels, gpu, nvvm, ptx
// RUN: not metaop-opt %s -metaop-pipeline="to=ptx" 2>&1 | FileCheck %s --check-prefix=PTX
// PTX: metaop-pipeline: there is no phase 'ptx' on the way to the target; expected one of graph, fused, scheduled, kernels, loops, llvm
// RUN: not metaop-opt %s -metaop-pipeline="target=cuda from=ptx" 2>&1 | FileCheck %s --check-prefix=LATEST
// LATEST: metaop-pipeline: a pipeline starts from graph, fused, scheduled, kernels, gpu, nvvm

// RUN: not metaop-opt %s -metaop-pipeline="target=cuda chip=sm_70" 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: the chip 'sm_70' is too old; code is made for sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a
// RUN: not metaop-opt %s -metaop-pipeline="target=cuda chip=h100" 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: there is no chip 'h100'; expected one of sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a

// Options of a target stand behind its name, or by themselves.
// RUN: metaop-opt %s -metaop-pipeline="target={cuda chip=sm_80} to=gpu" | FileCheck %s --check-prefix=BRACES
// RUN: metaop-opt %s -metaop-pipeline="target=cuda chip=sm_80 to=gpu" | FileCheck %s --check-prefix=BRACES
// BRACES: gpu.func @kernel_0
// RUN: not metaop-opt %s -metaop-pipeline="chip=sm_80" 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: metaop-pipeline: target 'cpu' has no option 'chip'; it has processor
// RUN: not metaop-opt %s -metaop-pipeline="target={cuda chip=sm_80 processor={avx2 l2=5}}" 2>&1 | FileCheck %s --check-prefix=CUDA
// CUDA: metaop-pipeline: target 'cuda' has no option 'processor'; it has chip, libdevice, float-atomics
// RUN: not metaop-opt %s -metaop-pipeline="target={cuda float-atomics=perhaps}" 2>&1 | FileCheck %s --check-prefix=BOOL
// BOOL: metaop-pipeline: target 'cuda': options could not be parsed: 'float-atomics=perhaps'

// RUN: not metaop-opt %s -metaop-pipeline=rules=other 2>&1 | FileCheck %s --check-prefix=RULES
// RULES: metaop-pipeline: there are no fusion rules 'other'; expected extended, paper or none

// RUN: not metaop-opt %s -metaop-pipeline=absent=1 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option absent

// RUN: not metaop-opt %s -metaop-pipeline="processor={vector-bits=100}" 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: vector-bits is 0 or a power of two up to 2048, given 100

// Where the module is in another phase than `from` says:
// RUN: not metaop-opt %s -metaop-pipeline=from=fused 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: 'metaop.exp' op is not legal in phase 'fused' here: expected it inside of a metaop.fused

// RUN: metaop-opt %s -metaop-pipeline=to=fused -o %t
// RUN: not metaop-opt %t -metaop-pipeline 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: 'metaop.kernel' op is not legal in phase 'graph' here: expected meta-operators, views, placements, routines, checks, tensor.dim, constants, branches and loops
// RUN: not metaop-opt %t -metaop-pipeline=from=scheduled 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: 'metaop.fused' op is not legal in phase 'scheduled' here: expected a schedule

func.func @main(%x: tensor<10xf32>) -> tensor<10xf32> {
  %0 = metaop.exp %x : tensor<10xf32>
  return %0 : tensor<10xf32>
}
