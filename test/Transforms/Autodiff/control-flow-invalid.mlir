// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-autodiff
// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-push-forward

func.func @branch(%x: tensor<f32>, %c: i1) -> tensor<f32> {
  // expected-error @+1 {{'scf.if' op cannot be differentiated: expected a function without branches and loops}}
  %r = scf.if %c -> (tensor<f32>) {
    %0 = metaop.exp %x : tensor<f32>
    scf.yield %0 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

func.func @loop(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %0 = metaop.exp %x : tensor<f32>
  // expected-error @+1 {{'scf.for' op cannot be differentiated: expected a function without branches and loops}}
  %r = scf.for %i = %n to %n step %n iter_args(%v = %0) -> tensor<f32> {
    %1 = metaop.exp %v : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}
