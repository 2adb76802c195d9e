// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-plan-memory

func.func @main(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  // expected-error @+1 {{'scf.if' op is decided by a number that is not out of a tensor}}
  %r = scf.if %c -> (tensor<8xf32>) {
    scf.yield %x : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %true = arith.constant true
  // expected-error @+1 {{'scf.while' op is decided by a number that is not out of a tensor}}
  %r = scf.while (%v = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    scf.condition(%true) %v : tensor<8xf32>
  } do {
  ^bb0(%v: tensor<8xf32>):
    scf.yield %v : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  // expected-error @+1 {{'scf.for' op is not decided by tensors: programs have scf.if, metaop.scan, scf.while, and scf.for from and to numbers out of tensors, by a constant step of 1 or more}}
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%v = %x) -> tensor<8xf32> : i64 {
    scf.yield %v : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<?xf32>, %b: tensor<i1>) -> tensor<?xf32> {
  %c = tensor.extract %b[] : tensor<i1>
  // expected-error @+1 {{'scf.if' op memory is planned for static shapes, given 'tensor<?xf32>'}}
  %r = scf.if %c -> (tensor<?xf32>) {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
