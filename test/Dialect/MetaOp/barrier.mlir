// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func @several(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<?xi64>)
// FOLD-LABEL: func @several(
// FOLD: %[[B:.*]]:2 = metaop.barrier
// FOLD: return %[[B]]#0, %[[B]]#1
func.func @several(%x: tensor<4xf32>, %n: tensor<?xi64>) -> (tensor<4xf32>, tensor<?xi64>) {
  // CHECK: %{{.*}}:2 = metaop.barrier %[[X]], %[[N]] : tensor<4xf32>, tensor<?xi64> -> tensor<4xf32>, tensor<?xi64>
  %0:2 = metaop.barrier %x, %n : tensor<4xf32>, tensor<?xi64> -> tensor<4xf32>, tensor<?xi64>
  return %0#0, %0#1 : tensor<4xf32>, tensor<?xi64>
}

// One value is another one, too: that is what keeps two computations apart.

// FOLD-LABEL: func @one(
// FOLD-SAME: %[[X:.*]]: tensor<4xf32>)
// FOLD-DAG: %[[E:.*]] = metaop.exp %[[X]]
// FOLD-DAG: %[[Y:.*]] = metaop.barrier %[[X]]
// FOLD: %[[F:.*]] = metaop.exp %[[Y]]
// FOLD: metaop.sub %[[E]], %[[F]]
func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: metaop.barrier %{{.*}} : tensor<4xf32> -> tensor<4xf32>
  %y = metaop.barrier %x : tensor<4xf32> -> tensor<4xf32>
  %0 = metaop.exp %x : tensor<4xf32>
  %1 = metaop.exp %y : tensor<4xf32>
  %2 = metaop.sub %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Constants are there at all times, and a value waits once.

// FOLD-LABEL: func @constants_and_repeated(
// FOLD-SAME: %[[X:.*]]: tensor<4xf32>)
// FOLD-DAG: %[[C:.*]] = metaop.constant
// FOLD-DAG: %[[Y:.*]] = metaop.barrier %[[X]] : tensor<4xf32> -> tensor<4xf32>
// FOLD: return %[[C]], %[[Y]], %[[Y]]
func.func @constants_and_repeated(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c = metaop.constant dense<2.0> : tensor<4xf32>
  %0:3 = metaop.barrier %c, %x, %x
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// FOLD-LABEL: func @constants_alone(
// FOLD-NEXT: %[[C:.*]] = metaop.constant
// FOLD-NEXT: return %[[C]]
func.func @constants_alone() -> tensor<4xf32> {
  %c = metaop.constant dense<2.0> : tensor<4xf32>
  %0 = metaop.barrier %c : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// FOLD-LABEL: func @unread(
// FOLD-NEXT: return
func.func @unread(%x: tensor<4xf32>) {
  %0 = metaop.barrier %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// Values from outside of a loop are there in all trips.

// FOLD-LABEL: func @in_loop(
// FOLD-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>)
// FOLD: metaop.scan 3 carries(%[[C:.*]] = %[[X]]
// FOLD-NEXT: %[[B:.*]] = metaop.barrier %[[C]] : tensor<4xf32> -> tensor<4xf32>
// FOLD-NEXT: metaop.mul %[[B]], %[[W]]
func.func @in_loop(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.scan 3 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1:2 = metaop.barrier %c, %w : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>, tensor<4xf32>
    %2 = metaop.mul %1#0, %1#1 : tensor<4xf32>
    metaop.scan_yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
