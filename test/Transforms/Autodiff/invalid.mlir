// RUN: metaop-opt %s --split-input-file --verify-diagnostics --metaop-autodiff="wrt=0"

// expected-error @below {{expected one tensor of floats as result to differentiate, but got '(tensor<4xf32>) -> tensor<4xi1>'}}
func.func @boolean_result(%x: tensor<4xf32>) -> tensor<4xi1> {
  %0 = metaop.cmp lt %x, %x : tensor<4xf32> -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// expected-error @below {{expected one tensor of floats as result to differentiate}}
func.func @two_results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{expected a body of one block to differentiate, but got 2 blocks}}
func.func @two_blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{`wrt` names argument 0 of type 'tensor<4xi32>', but only tensors of floats have gradients}}
func.func @integer_argument(%n: tensor<4xi32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{`wrt` names argument 0, but the function has 0 arguments}}
func.func @no_argument() -> tensor<4xf32> {
  %0 = metaop.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{expected a function that no other one calls, as its arguments and results change}}
func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{called here}}
  %0 = call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
