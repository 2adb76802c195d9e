// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-separate-reductions))' -mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(metaop-simplify,metaop-clone-producers,metaop-fuse,metaop-separate-reductions{report=true}))' 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=scheduled" | FileCheck %s --check-prefix=SCHEDULED

// The gradient of a layer's sums, and that of its bias: the first follows the
// blocks of the product, and only then the second is computed.
// REPORT: remark: keeps apart 1 of its reductions, to follow a contraction
// CHECK-LABEL: func @main
// CHECK:       %[[SUMS:.*]] = metaop.kernel(
// CHECK:       %[[D:.*]] = metaop.kernel({{.*}}%[[SUMS]]{{.*}} -> tensor<512x336xf32>
// CHECK:         metaop.mul
// CHECK-NOT:     metaop.reduce
// CHECK:       %[[B:.*]] = metaop.kernel({{.*}}%[[D]] : tensor<512x336xf32>) -> tensor<336xf32>
// CHECK:         metaop.reindex_reduce add
// CHECK:       return %[[D]], %[[B]]
// SCHEDULED-LABEL: func @main
// SCHEDULED:       metaop.kernel(
// SCHEDULED:         metaop.fused
// SCHEDULED:         metaop.fused{{.*}} shared = 2
// SCHEDULED:       metaop.kernel(
func.func @main(%a: tensor<512x200xf32>, %b: tensor<200x336xf32>, %z: tensor<512x336xf32>) -> (tensor<512x336xf32>, tensor<336xf32>) {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x200xf32> -> tensor<512x336x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x336xf32> -> tensor<512x336x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x336x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x336x200xf32> -> tensor<512x336xf32>
  %4 = metaop.mul %3, %z : tensor<512x336xf32>
  %5 = metaop.reduce add %4 dims = [0] : tensor<512x336xf32> -> tensor<336xf32>
  return %4, %5 : tensor<512x336xf32>, tensor<336xf32>
}

// -----

// What is reduced is not kept: the sums are read once, by all.
// REPORT-NOT: remark
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.kernel(
// CHECK-NOT:   metaop.kernel(
func.func @main(%a: tensor<512x200xf32>, %b: tensor<200x336xf32>, %z: tensor<512x336xf32>) -> (tensor<512x336xf32>, tensor<336xf32>) {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x200xf32> -> tensor<512x336x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x336xf32> -> tensor<512x336x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x336x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x336x200xf32> -> tensor<512x336xf32>
  %4 = metaop.mul %3, %z : tensor<512x336xf32>
  %5 = metaop.neg %3 : tensor<512x336xf32>
  %6 = metaop.reduce add %5 dims = [0] : tensor<512x336xf32> -> tensor<336xf32>
  return %4, %6 : tensor<512x336xf32>, tensor<336xf32>
}

// -----

// Nothing here is a contraction's.
// REPORT-NOT: remark
// CHECK-LABEL: func @main
// CHECK-COUNT-1: metaop.kernel(
// CHECK-NOT:   metaop.kernel(
func.func @main(%x: tensor<512x336xf32>, %z: tensor<512x336xf32>) -> (tensor<512x336xf32>, tensor<336xf32>) {
  %0 = metaop.mul %x, %z : tensor<512x336xf32>
  %1 = metaop.reduce add %0 dims = [0] : tensor<512x336xf32> -> tensor<336xf32>
  return %0, %1 : tensor<512x336xf32>, tensor<336xf32>
}
