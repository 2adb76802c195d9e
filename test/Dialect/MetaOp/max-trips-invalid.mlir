// RUN: metaop-opt %s --split-input-file --verify-diagnostics

func.func @negative(%x: tensor<i64>, %last: tensor<i64>, %c: i1) {
  // expected-error@+1 {{'scf.while' op expects `metaop.max_trips` to be a number of trips, of type i64, given -1 : i64}}
  %r:2 = scf.while (%a = %x, %n = %last) : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>) {
    scf.condition(%c) %a, %n : tensor<i64>, tensor<i64>
  } do {
  ^bb0(%a: tensor<i64>, %n: tensor<i64>):
    scf.yield %a, %n : tensor<i64>, tensor<i64>
  } attributes {metaop.max_trips = -1 : i64}
  return
}

// -----

func.func @other_type(%x: tensor<i64>, %last: tensor<i64>, %c: i1) {
  // expected-error@+1 {{'scf.while' op expects `metaop.max_trips` to be a number of trips, of type i64, given 3 : i32}}
  %r:2 = scf.while (%a = %x, %n = %last) : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>) {
    scf.condition(%c) %a, %n : tensor<i64>, tensor<i64>
  } do {
  ^bb0(%a: tensor<i64>, %n: tensor<i64>):
    scf.yield %a, %n : tensor<i64>, tensor<i64>
  } attributes {metaop.max_trips = 3 : i32}
  return
}

// -----

func.func @no_number(%x: tensor<i64>, %last: tensor<i64>, %c: i1) {
  // expected-error@+1 {{'scf.while' op expects `metaop.max_trips` to be a number of trips, of type i64, given "3"}}
  %r:2 = scf.while (%a = %x, %n = %last) : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>) {
    scf.condition(%c) %a, %n : tensor<i64>, tensor<i64>
  } do {
  ^bb0(%a: tensor<i64>, %n: tensor<i64>):
    scf.yield %a, %n : tensor<i64>, tensor<i64>
  } attributes {metaop.max_trips = "3"}
  return
}

// -----

func.func @no_counter(%x: tensor<i64>, %last: tensor<i32>, %c: i1) {
  // expected-error@+1 {{'scf.while' op expects `metaop.max_trips` to be on a loop whose last carry is a tensor<i64>}}
  %r:2 = scf.while (%a = %x, %n = %last) : (tensor<i64>, tensor<i32>) -> (tensor<i64>, tensor<i32>) {
    scf.condition(%c) %a, %n : tensor<i64>, tensor<i32>
  } do {
  ^bb0(%a: tensor<i64>, %n: tensor<i32>):
    scf.yield %a, %n : tensor<i64>, tensor<i32>
  } attributes {metaop.max_trips = 3 : i64}
  return
}

// -----

func.func @other_values(%x: tensor<i64>, %last: tensor<i64>, %c: i1) {
  // expected-error@+1 {{'scf.while' op expects `metaop.max_trips` to be on a loop whose condition hands on what it is given}}
  %r:2 = scf.while (%a = %x, %n = %last) : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>) {
    scf.condition(%c) %n, %a : tensor<i64>, tensor<i64>
  } do {
  ^bb0(%a: tensor<i64>, %n: tensor<i64>):
    scf.yield %a, %n : tensor<i64>, tensor<i64>
  } attributes {metaop.max_trips = 3 : i64}
  return
}

// -----

func.func @place(%n: tensor<i64>) {
  // expected-error@+1 {{'metaop.scan' op expects `metaop.max_trips` to be on an scf.while}}
  metaop.scan %n attributes {metaop.max_trips = 3 : i64} {
    metaop.scan_yield
  }
  return
}
