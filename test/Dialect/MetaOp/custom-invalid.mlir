// RUN: metaop-opt %s --split-input-file --verify-diagnostics

func.func @values(%v: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{expects values of the types of its results, given 'tensor<4xf32>' for 'tensor<8xf32>'}}
  %0 = metaop.custom_derivative "F" values(%v : tensor<4xf32>)
      arguments(%x : tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @rules(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects two rules at most, given 3}}
  %0 = metaop.custom_derivative "F" values(%x : tensor<4xf32>)
      arguments(%x : tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      metaop.custom_yield %a : tensor<4xf32>
  }, {
    ^bb0(%a: tensor<4xf32>):
      metaop.custom_yield %a : tensor<4xf32>
  }, {
    ^bb0(%a: tensor<4xf32>):
      metaop.custom_yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @arguments_of_a_rule(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a rule of gradients with arguments of 'tensor<4xf32>', given 'tensor<8xf32>'}}
  %0 = metaop.custom_derivative "F" values(%x : tensor<4xf32>)
      arguments(%x : tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<8xf32>):
      metaop.custom_yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @results_of_a_rule(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  // expected-error @below {{expects a rule of tangents that yields 'tensor<4xf32>'}}
  %0 = metaop.custom_derivative "F" values(%x : tensor<4xf32>)
      arguments(%y : tensor<f32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      metaop.custom_yield %y : tensor<f32>
  }, {
    ^bb0(%a: tensor<f32>):
      metaop.custom_yield %y : tensor<f32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{operand #0 must be variadic of tensor of floats, but got 'tensor<4xi32>'}}
  %0 = metaop.custom_derivative "F" values(%x : tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
