// RUN: metaop-opt %s --split-input-file --verify-diagnostics

func.func @neither() {
  // expected-error@+1 {{expects `trips`, a `count` or both}}
  "metaop.scan"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> ({
    "metaop.scan_yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @negative() {
  // expected-error@+1 {{expects `trips` of at least 0, given -1}}
  metaop.scan -1 {
    metaop.scan_yield
  }
  return
}

// -----

func.func @extent(%xs: tensor<4x2xf32>) {
  // expected-error@+1 {{expects number 0 of its rows to be 3 of them, given 'tensor<4x2xf32>'}}
  metaop.scan 3 rows(%x = %xs : tensor<4x2xf32>) {
    metaop.scan_yield
  }
  return
}

// -----

func.func @scalar(%x: tensor<f32>) {
  // expected-error@+1 {{expects a tensor of rows, given 'tensor<f32>'}}
  metaop.scan 3 rows(%r = %x : tensor<f32>) {
    metaop.scan_yield
  }
  return
}

// -----

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects number 0 of its arguments to have type 'tensor<f32>' as follows from its operands, given 'tensor<4xf32>'}}
  "metaop.scan"(%x) <{operandSegmentSizes = array<i32: 0, 1, 0>, trips = 4 : i64}> ({
  ^bb0(%r: tensor<4xf32>):
    "metaop.scan_yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @few_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects 1 arguments, given 0}}
  "metaop.scan"(%x) <{operandSegmentSizes = array<i32: 0, 1, 0>, trips = 4 : i64}> ({
    "metaop.scan_yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @few_carries(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{region branch point has 0 operands, but region successor needs 1 inputs}}
  %r = metaop.scan 2 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-note@+1 {{region branch point}}
    metaop.scan_yield
  }
  return %r : tensor<4xf32>
}

// -----

func.func @carries(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{successor operand type #0 'tensor<f32>' should match successor input type #0 'tensor<4xf32>'}}
  %r = metaop.scan 2 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-note@+1 {{region branch point}}
    metaop.scan_yield %y : tensor<f32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @results(%x: tensor<4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{expects number 0 of its results to have type 'tensor<2x4xf32>' as follows from its yielded values, given 'tensor<3x4xf32>'}}
  %r = metaop.scan 2 -> tensor<3x4xf32> {
    metaop.scan_yield %x : tensor<4xf32>
  }
  return %r : tensor<3x4xf32>
}

// -----

func.func @counted_rows(%n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error@+1 {{expects no rows without `trips`, given 1}}
  metaop.scan %n rows(%r = %x : tensor<4xf32>) {
    metaop.scan_yield
  }
  return
}

// -----

func.func @counted_results(%n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error@+1 {{yields no rows without `trips`, given 1}}
  metaop.scan %n {
    metaop.scan_yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @bounded_rows(%n: tensor<i64>, %xs: tensor<4x2xf32>) {
  // expected-error@+1 {{expects number 0 of its rows to be 3 of them, given 'tensor<4x2xf32>'}}
  metaop.scan %n most 3 rows(%x = %xs : tensor<4x2xf32>) {
    metaop.scan_yield
  }
  return
}

// -----

func.func @negative_bound(%n: tensor<i64>) {
  // expected-error@+1 {{expects `trips` of at least 0, given -3}}
  metaop.scan %n most -3 {
    metaop.scan_yield
  }
  return
}

// -----

func.func @parent() {
  // expected-error@+1 {{expects parent op 'metaop.scan'}}
  metaop.scan_yield
}

// -----

func.func @unroll() {
  // expected-error@+1 {{expects `unroll` of at least 1, given 0}}
  metaop.scan 3 unroll 0 {
    metaop.scan_yield
  }
  return
}

// -----

func.func @unroll_count(%n: tensor<i64>) {
  // expected-error@+1 {{expects no `unroll` beside a `count`, given 2}}
  metaop.scan %n unroll 2 {
    metaop.scan_yield
  }
  return
}
