// RUN: metaop-opt %s --metaop-autodiff --split-input-file --verify-diagnostics

func.func @no_rule(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has no derivatives here: expected a rule for reverse mode}}
  %0 = metaop.custom_derivative "F" values(%x : tensor<4xf32>)
      arguments(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @capture(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %c = metaop.exp %w : tensor<4xf32>
  // expected-error @below {{and no capture that depends on what is differentiated by}}
  %0 = metaop.custom_derivative "F" values(%x : tensor<4xf32>)
      arguments(%x : tensor<4xf32>) captures(%c : tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%d: tensor<4xf32>):
      metaop.custom_yield %d : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @in_a_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %last = metaop.scan 100 carries(%c = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @below {{has no derivatives here}}
    %0 = metaop.custom_derivative "F" values(%c : tensor<4xf32>)
        arguments(%c : tensor<4xf32>) -> tensor<4xf32>
    metaop.scan_yield %0 : tensor<4xf32>
  }
  return %last : tensor<4xf32>
}
