// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-autodiff

func.func @loop(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %0 = metaop.exp %x : tensor<f32>
  // expected-error @+1 {{'scf.for' op has no derivatives in reverse mode: expected loops of a known number of trips, such as `metaop.scan`}}
  %r = scf.for %i = %n to %n step %n iter_args(%v = %0) -> tensor<f32> {
    %1 = metaop.exp %v : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

func.func @counted(%x: tensor<f32>, %n: tensor<i64>, %c: i1) -> tensor<f32> {
  %r = scf.if %c -> (tensor<f32>) {
    // expected-error @+1 {{'metaop.scan' op has no derivatives in reverse mode}}
    %s = metaop.scan %n carries(%v = %x : tensor<f32>) -> tensor<f32> {
      %1 = metaop.exp %v : tensor<f32>
      metaop.scan_yield %1 : tensor<f32>
    }
    scf.yield %s : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %r : tensor<f32>
}
