// RUN: metaop-opt %s --split-input-file --verify-diagnostics

func.func @check_c1_extent(%i: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error @below {{expects an extent of 0 or more, given -1}}
  %0 = metaop.check %i extent = -1 : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @check_c2_dim(%i: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error @below {{expects a dimension of 0 or more, given -2}}
  %0 = metaop.check %i extent = 3 dim = -2 : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @check_c3_trips(%i: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error @below {{expects no `dim` beside `trips`}}
  %0 = metaop.check %i extent = 3 dim = 0 trips : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @check_floats(%i: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{operand #0 must be tensor of integers}}
  %0 = metaop.check %i extent = 3 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @check_other_type(%i: tensor<4xi64>) -> tensor<4xi32> {
  // expected-error @below {{requires the same type for all operands and results}}
  %0 = "metaop.check"(%i) <{extent = 3 : i64}> : (tensor<4xi64>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @check_without_extent(%i: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error @below {{requires attribute 'extent'}}
  %0 = "metaop.check"(%i) : (tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @check_range_c1_extent(%n: tensor<i64>) {
  // expected-error @below {{expects an extent of 0 or more, given -3}}
  metaop.check_range %n, %n extent = -3
  return
}

// -----

func.func @check_range_c2_dim(%n: tensor<i64>) {
  // expected-error @below {{expects a dimension of 0 or more, given -1}}
  metaop.check_range %n, %n extent = 3 dim = -1
  return
}

// -----

func.func @check_range_of_tensors(%n: tensor<4xi64>) {
  // expected-error @below {{operand #0 must be 0-d tensor of 64-bit integers}}
  "metaop.check_range"(%n, %n) <{extent = 3 : i64}> : (tensor<4xi64>, tensor<4xi64>) -> ()
  return
}
