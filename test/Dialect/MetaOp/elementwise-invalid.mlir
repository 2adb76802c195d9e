// RUN: metaop-opt %s --split-input-file --verify-diagnostics

func.func @exp_of_integers(%x: tensor<4xi32>) {
  // expected-error @below {{operand #0 must be tensor of floats}}
  %0 = metaop.exp %x : tensor<4xi32>
  return
}

// -----

func.func @add_of_booleans(%x: tensor<4xi1>) {
  // expected-error @below {{operand #0 must be tensor of numbers}}
  %0 = metaop.add %x, %x : tensor<4xi1>
  return
}

// -----

func.func @and_of_floats(%x: tensor<4xf32>) {
  // expected-error @below {{operand #0 must be tensor of integers or booleans}}
  %0 = metaop.and %x, %x : tensor<4xf32>
  return
}

// -----

func.func @add_of_unknown_rank(%x: tensor<*xf32>) {
  // expected-error @below {{expected builtin.tensor, but found 'tensor<*xf32>'}}
  %0 = metaop.add %x, %x : tensor<*xf32>
  return
}

// -----

func.func @add_of_index(%x: tensor<4xindex>) {
  // expected-error @below {{must be tensor of numbers}}
  %0 = metaop.add %x, %x : tensor<4xindex>
  return
}

// -----

func.func @mul_of_two_shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = "metaop.mul"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @cmp_to_other_type(%x: tensor<4xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = metaop.cmp eq %x, %x : tensor<4xf32> -> tensor<5xi1>
  return
}

// -----

func.func @cmp_by_unknown_predicate(%x: tensor<4xf32>) {
  // expected-error @below {{to be one of: eq, ne, lt, le, gt, ge}}
  // expected-error @below {{failed to parse MetaOp_ComparePredicateAttr}}
  %0 = metaop.cmp near %x, %x : tensor<4xf32> -> tensor<4xi1>
  return
}

// -----

func.func @select_by_numbers(%c: tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error @below {{operand #0 must be tensor of booleans}}
  %0 = metaop.select %c, %x, %x : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @select_by_other_shape(%c: tensor<2xi1>, %x: tensor<4xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = metaop.select %c, %x, %x : tensor<2xi1>, tensor<4xf32>
  return
}

// -----

func.func @cast_to_other_shape(%x: tensor<4xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = metaop.cast %x : tensor<4xf32> -> tensor<2x2xi32>
  return
}

// -----

func.func @add_of_two_element_types(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %0 = "metaop.add"(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @bitcast_c1_widths(%x: tensor<4xf32>) -> tensor<4xi64> {
  // expected-error @below {{expects numbers of one width, given 'f32' and 'i64'}}
  %0 = metaop.bitcast %x : tensor<4xf32> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @shift_of_floats(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{operand #0 must be tensor of integers}}
  %0 = metaop.shl %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
