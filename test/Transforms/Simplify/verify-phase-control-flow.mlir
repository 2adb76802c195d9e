// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-verify-phase="phase=graph"
// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-pipeline="to=kernels"

func.func @main(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %r = scf.if %c -> (tensor<8xf32>) {
    // expected-error @+1 {{'arith.addf' op is not legal in phase 'graph' here: expected meta-operators, views, placements, routines, checks, tensor.dim, constants, branches and loops}}
    %0 = arith.addf %x, %x : tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>, %c: index) -> tensor<8xf32> {
  // expected-error @+1 {{'scf.index_switch' op is not legal in phase 'graph'}}
  %r = scf.index_switch %c -> tensor<8xf32>
  default {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  // expected-error @+1 {{'scf.if' op carries tensors of static shapes, given 'tensor<?xf32>'}}
  %r = scf.if %c -> (tensor<?xf32>) {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<?xf32>, %y: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  // expected-error @+1 {{'scf.while' op carries tensors of static shapes, given 'tensor<?xf32>'}}
  %r = scf.while (%v = %x) : (tensor<?xf32>) -> tensor<8xf32> {
    scf.condition(%c) %y : tensor<8xf32>
  } do {
  ^bb0(%w: tensor<8xf32>):
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%n: i64) -> tensor<i64> {
  // expected-error @+1 {{'scf.for' op carries tensors of static shapes, given 'i64'}}
  %r = scf.for %i = %n to %n step %n iter_args(%v = %n) -> i64 : i64 {
    scf.yield %v : i64
  }
  %0 = tensor.from_elements %r : tensor<i64>
  return %0 : tensor<i64>
}

// -----

func.func @main(%x: tensor<8xf32>, %n: i32) -> tensor<8xf32> {
  // expected-error @+1 {{'scf.for' op counts in index or i64, given 'i32'}}
  %r = scf.for %i = %n to %n step %n iter_args(%v = %x) -> tensor<8xf32> : i32 {
    scf.yield %v : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  // expected-error @+1 {{'scf.for' op counts in signed numbers, given `unsigned`}}
  %r = scf.for unsigned %i = %n to %n step %n iter_args(%v = %x) -> tensor<8xf32> {
    scf.yield %v : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %step = arith.constant -2 : index
  // expected-error @+1 {{'scf.for' op counts up, given a step of -2}}
  %r = scf.for %i = %n to %n step %step iter_args(%v = %x) -> tensor<8xf32> {
    scf.yield %v : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xi64>, %n: index) -> tensor<8xi64> {
  // expected-error @+1 {{'tensor.extract' op is of 0-d tensors of integers or booleans, given 'tensor<8xi64>'}}
  %0 = tensor.extract %x[%n] : tensor<8xi64>
  return %x : tensor<8xi64>
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'tensor.extract' op is of 0-d tensors of integers or booleans, given 'tensor<f32>'}}
  %0 = tensor.extract %x[] : tensor<f32>
  return %x : tensor<f32>
}

// -----

func.func @main(%n: i64) -> tensor<2xi64> {
  // expected-error @+1 {{'tensor.from_elements' op is of 0-d tensors of integers or booleans, given 'tensor<2xi64>'}}
  %0 = tensor.from_elements %n, %n : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

func.func @main(%n: tensor<2xi64>) -> tensor<2xi64> {
  // expected-error @+1 {{'arith.index_cast' op converts numbers, given 'tensor<2xindex>'}}
  %0 = arith.index_cast %n : tensor<2xi64> to tensor<2xindex>
  return %n : tensor<2xi64>
}

// -----

// The dialect of the ops verifies conditions and types.
func.func @main(%x: tensor<8xf32>, %n: i64) -> tensor<8xf32> {
  // expected-note @-1 {{prior use here}}
  // expected-error @+1 {{use of value '%n' expects different type than prior uses: 'i1' vs 'i64'}}
  %r = scf.if %n -> (tensor<8xf32>) {
    scf.yield %x : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>, %y: tensor<4xf32>, %c: i1) -> tensor<8xf32> {
  // expected-error @+1 {{'scf.while' op}}
  %r = scf.while (%v = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    scf.condition(%c) %v : tensor<8xf32>
  } do {
  ^bb0(%w: tensor<8xf32>):
    // expected-note @+1 {{}}
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<8xf32>
}
