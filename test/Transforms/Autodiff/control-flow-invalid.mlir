// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-autodiff

func.func @loop(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %0 = metaop.exp %x : tensor<f32>
  // expected-error @+1 {{'scf.for' op has no derivatives in reverse mode: expected loops that say how many trips they make at most, such as `metaop.scan` by `most`}}
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

// -----

// The second trip reads of %b, which depends on %x.
func.func @by_way_of_a_carry(%x: tensor<f32>, %n: tensor<i64>) -> tensor<f32> {
  %one = metaop.constant dense<1.0> : tensor<f32>
  %r:2 = metaop.scan 3 carries(%a = %x : tensor<f32>, %b = %one : tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    // expected-error @+1 {{'metaop.scan' op has no derivatives in reverse mode}}
    %s = metaop.scan %n carries(%v = %b : tensor<f32>) -> tensor<f32> {
      %1 = metaop.exp %v : tensor<f32>
      metaop.scan_yield %1 : tensor<f32>
    }
    metaop.scan_yield %s, %a : tensor<f32>, tensor<f32>
  }
  return %r#0 : tensor<f32>
}

// -----

// The body of a loop that has a bound may have one in it that has none.
func.func @in_a_bounded_loop(%x: tensor<f32>, %n: tensor<i64>) -> tensor<f32> {
  %r = metaop.scan %n most 4 carries(%a = %x : tensor<f32>) -> tensor<f32> {
    // expected-error @+1 {{'metaop.scan' op has no derivatives in reverse mode}}
    %s = metaop.scan %n carries(%v = %a : tensor<f32>) -> tensor<f32> {
      %1 = metaop.exp %v : tensor<f32>
      metaop.scan_yield %1 : tensor<f32>
    }
    metaop.scan_yield %s : tensor<f32>
  }
  return %r : tensor<f32>
}
