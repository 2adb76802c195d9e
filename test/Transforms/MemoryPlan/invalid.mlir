// RUN: metaop-opt %s -metaop-plan-memory -split-input-file -verify-diagnostics

// expected-error @below {{expects a function @main}}
module {
  func.func private @main(%x: tensor<2xf32>) -> tensor<2xf32>
}

// -----

func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = arith.constant 3 : index
  // expected-error @below {{'metaop.reshape' op memory is planned for static shapes, given 'tensor<?x1xf32>'}}
  %0 = metaop.reshape %x extents(%c) : tensor<?xf32> -> tensor<?x1xf32>
  return %x : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'metaop.exp' op is neither a call, a view, a placement nor the end of a program}}
  %0 = metaop.exp %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'func.call' op does not call a kernel}}
  %0 = call @other(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func private @large() -> tensor<4611686018427387904x8xf32>
func.func @main() {
  // expected-error @below {{'func.call' op needs more memory than can be addressed for 'tensor<4611686018427387904x8xf32>'}}
  %0 = call @large() : () -> tensor<4611686018427387904x8xf32>
  return
}

// -----

// expected-error @below {{'func.func' op expects one block, given 2}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
^unreachable:
  return %x : tensor<2xf32>
}
