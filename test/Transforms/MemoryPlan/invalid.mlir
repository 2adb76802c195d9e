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
  // expected-error @below {{'metaop.exp' op is neither a call, a view, a placement, a routine, a check of numbers nor the end of a program}}
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

// -----

func.func @main() -> index {
  %c3 = arith.constant 3 : index
  // expected-error @below {{'func.return' op memory is planned for ranked tensors, but value 0 that the program returns is 'index'}}
  return %c3 : index
}

// -----

func.func @main(%x: tensor<2xf32>, %y: memref<2xf32>) -> (tensor<2xf32>, memref<2xf32>) {
  // expected-error @below {{but value 1 that the program returns is 'memref<2xf32>'}}
  return %x, %y : tensor<2xf32>, memref<2xf32>
}

// -----

func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{but value 0 that the program returns is 'tensor<*xf32>'}}
  return %x : tensor<*xf32>
}

// -----

// A kernel's function that returns something beside the kernel's results.
func.func private @more(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = metaop.kernel(%a = %x : tensor<2xf32>) -> tensor<2xf32> {
    %1 = metaop.fused(%b = %a : tensor<2xf32>) -> tensor<2xf32> {
      %2 = metaop.exp %b : tensor<2xf32>
      metaop.yield %2 : tensor<2xf32>
    }
    metaop.yield %1 : tensor<2xf32>
  }
  return %0, %x : tensor<2xf32>, tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // expected-error @below {{'func.call' op does not call a kernel}}
  %0:2 = call @more(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// expected-error @below {{'func.func' op memory is planned for numbers, given 'tensor<2xcomplex<f32>>'}}
func.func @main(%x: tensor<2xcomplex<f32>>) {
  return
}

// -----

func.func @main() -> tensor<2xindex> {
  // expected-error @below {{'arith.constant' op is neither a call, a view, a placement, a routine, a check of numbers nor the end of a program}}
  %0 = arith.constant dense<3> : tensor<2xindex>
  return %0 : tensor<2xindex>
}

// -----

func.func private @other() -> tensor<2xcomplex<f32>>
func.func @main() -> tensor<2xcomplex<f32>> {
  // expected-error @below {{'func.call' op memory is planned for numbers, given 'tensor<2xcomplex<f32>>'}}
  %0 = call @other() : () -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'func.call' op makes result 0 in rows, but it is no part that lies in them}}
  %0 = call @rows(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

func.func private @rows(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {result_rows = [#metaop.rows<4, pitch = 8>]} {
      %2 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %2 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// Rows of another pitch.
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x12xf32> {
  // expected-error @below {{'func.call' op makes result 0 in rows, but it is no part that lies in them}}
  %0 = call @rows(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = metaop.concat %0, %x, %x dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x12xf32>
  return %1 : tensor<4x12xf32>
}

func.func private @rows(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {result_rows = [#metaop.rows<4, pitch = 8>]} {
      %2 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %2 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'func.call' op reads operand 0 in other rows than those in which it is made}}
  %0 = call @read(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

func.func private @read(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {input_rows = [#metaop.rows<4, pitch = 8>]} {
      %2 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %2 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x8xf32> {
  %0 = call @rows(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error @below {{'metaop.concat' op reads operand 0, which is made in rows, but not in its place}}
  %1 = metaop.concat %0, %0 dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

func.func private @rows(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {result_rows = [#metaop.rows<4, pitch = 8>]} {
      %2 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %2 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}
