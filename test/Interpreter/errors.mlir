// What cannot be computed is an error at the op that asks for it.

// RUN: split-file %s %t

//--- elementwise.mlir
// RUN: not metaop-run %t/elementwise.mlir --interpret --shape=0:2 --shape=1:3 2>&1 | FileCheck %t/elementwise.mlir
// CHECK: elementwise.mlir:[[# @LINE + 2]]:8: 'metaop.add' op takes operands of one shape, given 2 and 3
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = metaop.add %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}

//--- reshape.mlir
// RUN: not metaop-run %t/reshape.mlir --interpret 2>&1 | FileCheck %t/reshape.mlir
// CHECK: reshape.mlir:[[# @LINE + 3]]:8: 'metaop.reshape' op a tensor of shape 2x3 cannot be reshaped to 5: it has 6 elements, not 5
func.func @main(%x: tensor<2x3xf32>) -> tensor<?xf32> {
  %c5 = arith.constant 5 : index
  %0 = metaop.reshape %x extents(%c5) : tensor<2x3xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

//--- negative.mlir
// RUN: not metaop-run %t/negative.mlir --interpret 2>&1 | FileCheck %t/negative.mlir
// CHECK: negative.mlir:[[# @LINE + 3]]:8: 'metaop.iota' op a tensor cannot have the shape 3x-1: an extent is negative
func.func @main() -> tensor<3x?xf32> {
  %n = arith.constant -1 : index
  %0 = metaop.iota dim = 0 extents(%n) : tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}

//--- huge.mlir
// RUN: not metaop-run %t/huge.mlir --interpret 2>&1 | FileCheck %t/huge.mlir
// CHECK: huge.mlir:[[# @LINE + 3]]:8: 'metaop.iota' op a tensor of shape 4611686018427387904x8 and type f32 is larger than the limit of 8589934592 bytes
func.func @main() -> tensor<?x8xf32> {
  %n = arith.constant 4611686018427387904 : index
  %0 = metaop.iota dim = 0 extents(%n) : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

//--- static.mlir
// RUN: not metaop-run %t/static.mlir --interpret 2>&1 | FileCheck %t/static.mlir
// CHECK: static.mlir:[[# @LINE + 2]]:8: 'metaop.constant' op a tensor of shape 100000x100000 and type f64 is larger than the limit of 8589934592 bytes
func.func @main() -> tensor<100000x100000xf64> {
  %0 = metaop.constant dense<0.0> : tensor<100000x100000xf64>
  return %0 : tensor<100000x100000xf64>
}

//--- broadcast.mlir
// RUN: not metaop-run %t/broadcast.mlir --interpret --shape=0:3 2>&1 | FileCheck %t/broadcast.mlir
// CHECK: broadcast.mlir:[[# @LINE + 2]]:8: 'metaop.broadcast' op cannot broadcast the shape 3 to 2x4
func.func @main(%x: tensor<?xf32>) -> tensor<2x4xf32> {
  %0 = metaop.broadcast %x dims = [1] : tensor<?xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

//--- dim.mlir
// RUN: not metaop-run %t/dim.mlir --interpret 2>&1 | FileCheck %t/dim.mlir
// CHECK: dim.mlir:[[# @LINE + 4]]:8: 'tensor.dim' op asks for dimension 2 of a tensor of shape 2x3
func.func @main(%x: tensor<2x3xf32>) -> index {
  %c1 = arith.constant 1 : index
  %n = arith.addi %c1, %c1 : index
  %0 = tensor.dim %x, %n : tensor<2x3xf32>
  return %0 : index
}

//--- extract.mlir
// RUN: not metaop-run %t/extract.mlir --interpret 2>&1 | FileCheck %t/extract.mlir
// CHECK: extract.mlir:[[# @LINE + 3]]:8: 'tensor.extract' op reads outside of a tensor of shape 3
func.func @main(%x: tensor<3xi64>) -> i64 {
  %n = arith.constant 3 : index
  %0 = tensor.extract %x[%n] : tensor<3xi64>
  return %0 : i64
}

//--- division.mlir
// RUN: not metaop-run %t/division.mlir --interpret 2>&1 | FileCheck %t/division.mlir
// CHECK: division.mlir:[[# @LINE + 3]]:8: 'arith.floordivsi' op divides by zero
func.func @main(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %0 = arith.floordivsi %n, %c0 : index
  return %0 : index
}

//--- buffer.mlir
// RUN: not metaop-run %t/buffer.mlir --interpret 2>&1 | FileCheck %t/buffer.mlir
// CHECK: buffer.mlir:[[# @LINE + 2]]:8: 'metaop.buffer' op has a value that is not in the program
func.func @main() -> tensor<2xf32> {
  %0 = metaop.buffer : tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- unknown.mlir
// RUN: not metaop-run %t/unknown.mlir --interpret 2>&1 | FileCheck %t/unknown.mlir
// CHECK: unknown.mlir:[[# @LINE + 2]]:8: 'arith.addf' op is unknown to the interpreter
func.func @main(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}

//--- extern.mlir
// RUN: not metaop-run %t/extern.mlir --interpret 2>&1 | FileCheck %t/extern.mlir
// RUN: not metaop-run %t/extern.mlir 2>&1 | FileCheck %t/extern.mlir --check-prefix=COMPILED
// CHECK: extern.mlir:[[# @LINE + 3]]:8: 'metaop.extern' op is code of a process, which the interpreter does not run
// COMPILED: 'code.1' is called, which is no code that this process has been given
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.extern "code.1" (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- endless.mlir
// RUN: not metaop-run %t/endless.mlir --interpret 2>&1 | FileCheck %t/endless.mlir
// CHECK: endless.mlir:[[# @LINE + 1]]:1: 'func.func' op is called to a depth of more than 200
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @main(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

//--- external.mlir
// RUN: not metaop-run %t/external.mlir --interpret 2>&1 | FileCheck %t/external.mlir
// CHECK: external.mlir:[[# @LINE + 1]]:1: 'func.func' op has no body to run
func.func private @f(tensor<f32>) -> tensor<f32>
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

//--- stage.mlir
// RUN: not metaop-run %t/stage.mlir --interpret --shape=0:2 --shape=1:3 2>&1 | FileCheck %t/stage.mlir
// CHECK: stage.mlir:[[# @LINE + 3]]:10: 'metaop.mul' op takes operands of one shape, given 2 and 3
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = metaop.fused(%a = %x : tensor<?xf32>, %b = %y : tensor<?xf32>) -> tensor<?xf32> {
    %0 = metaop.mul %a, %b : tensor<?xf32>
    metaop.yield %0 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
