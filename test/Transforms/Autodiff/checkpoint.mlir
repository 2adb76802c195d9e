// RUN: metaop-opt %s --metaop-autodiff --canonicalize | FileCheck %s
// RUN: metaop-opt %s --metaop-autodiff --metaop-simplify | FileCheck %s --check-prefix=SIMPLE
// RUN: metaop-opt %s --metaop-push-forward --metaop-simplify | FileCheck %s --check-prefix=FORWARD
// RUN: metaop-opt %s --metaop-simplify | FileCheck %s --check-prefix=VALUE
// RUN: metaop-opt %s --metaop-autodiff=order=2 --metaop-pipeline="to=kernels" | FileCheck %s --check-prefix=KERNELS

// The gradient has the block's operations again, of results of a barrier by what
// these read and by the cotangent. The forward part is read by nobody else.

// CHECK-LABEL: func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>)
// CHECK: %[[H:.*]] = scf.execute_region -> tensor<4xf32> no_inline {
// CHECK: } {metaop.checkpoint}
// CHECK: %[[C:.*]] = metaop.add %[[H]], %[[H]]
// CHECK: %[[B:.*]]:3 = metaop.barrier %[[X]], %[[W]], %[[C]]
// CHECK-NOT: %[[X]]
// CHECK: %[[M:.*]] = metaop.mul %[[B]]#0, %[[B]]#1
// CHECK: metaop.sin %[[M]]
// CHECK: metaop.mul %[[B]]#2
// CHECK: return

// SIMPLE-LABEL: func @main(
// SIMPLE-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>)
// SIMPLE: metaop.mul %[[X]], %[[W]]
// SIMPLE: metaop.sin
// SIMPLE-NOT: scf
// SIMPLE: %[[B:.*]]:3 = metaop.barrier
// SIMPLE: metaop.mul %[[B]]#0, %[[B]]#1
// SIMPLE: metaop.cos

// Forward mode keeps nothing, and shares what is computed already.

// FORWARD-LABEL: func @main(
// FORWARD-NOT: barrier
// FORWARD: metaop.sin
// FORWARD-NOT: metaop.sin
// FORWARD: return

// Without a gradient there is nothing but the operations.

// VALUE-LABEL: func @main(
// VALUE-NOT: scf
// VALUE-NOT: barrier
// VALUE: return

// Nothing is left of barriers when steps are in order.

// KERNELS-LABEL: func @main(
// KERNELS-NOT: barrier
// KERNELS: return
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.execute_region -> tensor<4xf32> no_inline {
    %2 = metaop.mul %x, %w : tensor<4xf32>
    %3 = metaop.sin %2 : tensor<4xf32>
    %4 = metaop.exp %3 : tensor<4xf32>
    scf.yield %4 : tensor<4xf32>
  } {metaop.checkpoint}
  %1 = metaop.mul %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A gradient that reads nothing of what is given waits for nothing.

// CHECK-LABEL: func @linear(
// CHECK-NOT: barrier
// CHECK: return
func.func @linear(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.execute_region -> tensor<4xf32> no_inline {
    %2 = metaop.neg %x : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } {metaop.checkpoint}
  return %0 : tensor<4xf32>
}

// A constant cotangent is no reason to wait, and stays a constant.

// CHECK-LABEL: func @constant_cotangent(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK: metaop.barrier %[[X]] : tensor<4xf32> -> tensor<4xf32>
// SIMPLE-LABEL: func @constant_cotangent(
// SIMPLE-SAME: %[[X:.*]]: tensor<4xf32>)
// SIMPLE: %[[S:.*]] = metaop.sin %[[X]]
// SIMPLE: %[[B:.*]] = metaop.barrier %[[X]] : tensor<4xf32> -> tensor<4xf32>
// SIMPLE: %[[C:.*]] = metaop.cos %[[B]]
// SIMPLE: return %{{.*}}, %[[C]]
func.func @constant_cotangent(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = scf.execute_region -> tensor<4xf32> no_inline {
    %2 = metaop.sin %x : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } {metaop.checkpoint}
  %1 = metaop.reduce add %0 dims = [0] : tensor<4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// Indices that were given are checked once.

// SIMPLE-LABEL: func @indices(
// SIMPLE-SAME: %[[T:.*]]: tensor<9xf32>, %[[I:.*]]: tensor<4xi64>)
// SIMPLE: %[[J:.*]] = metaop.check %[[I]]
// SIMPLE: metaop.gather %[[T]][%[[J]]]
// SIMPLE: %[[B:.*]]:2 = metaop.barrier %[[T]], %{{.*}} : tensor<9xf32>, tensor<4xf32>
// SIMPLE-NOT: metaop.check
// SIMPLE: metaop.gather %[[B]]#0[%[[J]]]
func.func @indices(%t: tensor<9xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %0 = scf.execute_region -> tensor<4xf32> no_inline {
    %2 = metaop.check %i extent = 9 dim = 0 : tensor<4xi64>
    %3 = metaop.gather %t[%2] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
        : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
    %4 = metaop.sin %3 : tensor<4xf32>
    scf.yield %4 : tensor<4xf32>
  } {metaop.checkpoint}
  %1 = metaop.mul %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Checkpoints in a checkpoint are checkpoints again.

// CHECK-LABEL: func @nested(
// CHECK: scf.execute_region
// CHECK: scf.execute_region
// CHECK: } {metaop.checkpoint}
// CHECK: } {metaop.checkpoint}
// CHECK: metaop.barrier
// CHECK: scf.execute_region -> tensor<4xf32> no_inline {
// CHECK: } {metaop.checkpoint}
// CHECK: metaop.exp
// CHECK: metaop.barrier
// CHECK: metaop.cos
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.execute_region -> tensor<4xf32> no_inline {
    %2 = scf.execute_region -> tensor<4xf32> no_inline {
      %4 = metaop.sin %x : tensor<4xf32>
      scf.yield %4 : tensor<4xf32>
    } {metaop.checkpoint}
    %3 = metaop.exp %2 : tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  } {metaop.checkpoint}
  %1 = metaop.mul %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Gradients flow through barriers as they are.

// CHECK-LABEL: func @of_barriers(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xi64>)
// CHECK: %[[B:.*]]:2 = metaop.barrier
// CHECK: %[[C:.*]] = metaop.cos %[[B]]#0
// CHECK: return %{{.*}}, %[[C]]
// FORWARD-LABEL: func @of_barriers(
// FORWARD-SAME: %[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xi64>, %[[TX:.*]]: tensor<4xf32>)
// FORWARD: %[[B:.*]]:2 = metaop.barrier
// FORWARD: %[[C:.*]] = metaop.cos %[[B]]#0
// FORWARD: metaop.mul %[[TX]], %[[C]]
func.func @of_barriers(%x: tensor<4xf32>, %n: tensor<4xi64>) -> tensor<4xf32> {
  %0:2 = metaop.barrier %x, %n : tensor<4xf32>, tensor<4xi64> -> tensor<4xf32>, tensor<4xi64>
  %1 = metaop.sin %0#0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The last results are read, as many as the attribute says, and what only they
// are made of is not computed again.

// SIMPLE-LABEL: func @kept(
// SIMPLE: %[[K:.*]] = metaop.sin
// SIMPLE: metaop.barrier %{{.*}}, %[[K]]
// SIMPLE-NOT: metaop.sin
// SIMPLE: metaop.exp
// SIMPLE: return
func.func @kept(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = scf.execute_region -> (tensor<4xf32>, tensor<4xf32>) no_inline {
    %2 = metaop.sin %x : tensor<4xf32>
    %3 = metaop.exp %2 : tensor<4xf32>
    scf.yield %3, %2 : tensor<4xf32>, tensor<4xf32>
  } {metaop.checkpoint = 1 : i64}
  %1 = metaop.mul %0#0, %0#0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
