// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-verify-phase="phase=fused"
// RUN: not metaop-opt %s -split-input-file -metaop-verify-phase="phase=scheduled" 2>&1 | FileCheck %s --check-prefix=SCHEDULED
// RUN: not metaop-opt %s -split-input-file -metaop-verify-phase="phase=kernels" 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: not metaop-opt %s -split-input-file -metaop-verify-phase="phase=graph" 2>&1 | FileCheck %s --check-prefix=GRAPH

// KERNELS: 'metaop.exp' op is not legal in phase 'kernels' here: expected calls, views, placements, routines, checks of numbers, tensor.dim, constants, branches and loops
// SCHEDULED: 'metaop.exp' op is not legal in phase 'scheduled'
func.func @graph(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'metaop.exp' op is not legal in phase 'fused' here: expected it inside of a metaop.fused}}
  %0 = metaop.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// SCHEDULED: 'metaop.fused' op is not legal in phase 'scheduled' here: expected a schedule
// KERNELS: 'metaop.kernel' op is not legal in phase 'kernels'
// GRAPH: 'metaop.kernel' op is not legal in phase 'graph' here: expected meta-operators, views, placements, routines, checks, tensor.dim, constants, branches and loops
func.func @fused(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.kernel(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %1 = metaop.fused(%b = %a : tensor<8xf32>) -> tensor<8xf32> {
      %2 = metaop.exp %b : tensor<8xf32>
      metaop.yield %2 : tensor<8xf32>
    }
    metaop.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// KERNELS: 'metaop.reshape' op is not legal in phase 'kernels' here: expected one kernel and a return
func.func private @not_a_kernel(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %0 = metaop.reshape %x : tensor<8xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @call(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'func.call' op is not legal in phase 'fused' here: expected kernels, views, barriers, placements, routines, checks of numbers, tensor.dim, constants, branches and loops}}
  %0 = call @other(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @other(tensor<8xf32>) -> tensor<8xf32>
