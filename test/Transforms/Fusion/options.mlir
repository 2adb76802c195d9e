// RUN: metaop-opt %s -metaop-fuse="max-group-ops=2" | FileCheck %s
// RUN: not metaop-opt %s -metaop-fuse="rules=other" 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: other

// CHECK-LABEL: func @chain
// CHECK-COUNT-2: metaop.fused
// CHECK:         return
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.exp %x : tensor<8xf32>
  %1 = metaop.neg %0 : tensor<8xf32>
  %2 = metaop.exp %1 : tensor<8xf32>
  %3 = metaop.neg %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
