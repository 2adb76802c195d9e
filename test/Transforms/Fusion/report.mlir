// RUN: metaop-opt %s -metaop-fuse="report=true" -o /dev/null 2>&1 | FileCheck %s

// Before: exp reads x (32), reduce reads exp (32), neg reads the sum (4), and neg
// is returned (4): 72. After: x, the sum, the result.
// CHECK: report.mlir:[[#@LINE+3]]:1: remark: fusion: 3 operators in 2 groups; cost 72 -> 40 elements (288 -> 160 bytes)
// CHECK: report.mlir:[[#@LINE+3]]:8: remark: fusion: group 0: metaop.exp, metaop.reduce{{$}}
// CHECK: report.mlir:[[#@LINE+6]]:8: remark: fusion: group 1: metaop.neg{{$}}
func.func @main(%x: tensor<4x8xf32>) -> tensor<2x2xf32> {
  %0 = metaop.exp %x : tensor<4x8xf32>
  %1 = metaop.reduce add %0 dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  // A view weighs nothing.
  %2 = metaop.reshape %1 : tensor<4xf32> -> tensor<2x2xf32>
  %3 = metaop.neg %2 : tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}
