// RUN: metaop-opt %s -metaop-fuse="max-group-code=41" | FileCheck %s --check-prefix=CODE
// RUN: metaop-opt %s -metaop-fuse="max-group-reads=3" | FileCheck %s --check-prefix=READS
// RUN: metaop-opt %s -metaop-fuse | FileCheck %s

// An exponential counts as 20 instructions, so two of them are a group.
// CODE-LABEL: func @functions
// CODE-COUNT-3: metaop.fused
// CODE-NOT: metaop.fused
// CODE: return
// CHECK-LABEL: func @functions
// CHECK-COUNT-1: metaop.fused
// CHECK-NOT: metaop.fused
// CHECK: return
func.func @functions(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.exp %x : tensor<8xf32>
  %1 = metaop.exp %0 : tensor<8xf32>
  %2 = metaop.exp %1 : tensor<8xf32>
  %3 = metaop.exp %2 : tensor<8xf32>
  %4 = metaop.exp %3 : tensor<8xf32>
  %5 = metaop.exp %4 : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// A group reads what it sums and what another has summed.
// READS-LABEL: func @sum
// READS: metaop.kernel({{[^,]*, [^,]*, [^,]*}}) ->
// READS: metaop.kernel({{[^,]*, [^,]*, [^,]*}}) ->
// READS: metaop.kernel({{[^,]*, [^,]*, [^,]*}}) ->
// READS: metaop.kernel({{[^,]*, [^,]*}}) ->
// READS-NOT: metaop.kernel
// READS: return
// CHECK-LABEL: func @sum
// CHECK-COUNT-1: metaop.fused
// CHECK-NOT: metaop.fused
// CHECK: return
func.func @sum(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<8xf32>, %a6: tensor<8xf32>, %a7: tensor<8xf32>) -> tensor<8xf32> {
  %1 = metaop.add %a0, %a1 : tensor<8xf32>
  %2 = metaop.add %1, %a2 : tensor<8xf32>
  %3 = metaop.add %2, %a3 : tensor<8xf32>
  %4 = metaop.add %3, %a4 : tensor<8xf32>
  %5 = metaop.add %4, %a5 : tensor<8xf32>
  %6 = metaop.add %5, %a6 : tensor<8xf32>
  %7 = metaop.add %6, %a7 : tensor<8xf32>
  return %7 : tensor<8xf32>
}
