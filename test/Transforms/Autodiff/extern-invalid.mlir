// RUN: metaop-opt %s --metaop-autodiff --split-input-file --verify-diagnostics
// RUN: metaop-opt %s --metaop-push-forward --split-input-file --verify-diagnostics

func.func @on_the_way(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.exp %x : tensor<4xf32>
  // expected-error @below {{'metaop.extern' op has no derivatives}}
  %1 = metaop.extern "code" (%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @in_a_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %last = metaop.scan 100 carries(%c = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @below {{'metaop.extern' op has no derivatives}}
    %0 = metaop.extern "code" (%c) : (tensor<4xf32>) -> tensor<4xf32>
    metaop.scan_yield %0 : tensor<4xf32>
  }
  return %last : tensor<4xf32>
}
