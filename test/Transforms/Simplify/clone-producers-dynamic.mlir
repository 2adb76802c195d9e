// What does not say its extents stays: one reindex for two transposes would lack them.
// RUN: metaop-opt %s --metaop-clone-producers | FileCheck %s

// CHECK-LABEL: @twice(
// CHECK: return %{{.*}} : tensor<?x?xf32>
func.func @twice(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  %1 = metaop.transpose %0 perm = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// CHECK-LABEL: @behind_an_operator(
// CHECK: metaop.transpose
func.func @behind_an_operator(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = metaop.neg %x : tensor<?x?xf32>
  %1 = metaop.transpose %0 perm = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
