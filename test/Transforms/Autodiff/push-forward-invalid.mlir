// RUN: metaop-opt %s --verify-diagnostics --metaop-push-forward

// The type of a function that moves would not be that of its calls.
// expected-error @below {{expected a function that no other one calls, as its arguments and results change}}
func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{called here}}
  %0 = call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
