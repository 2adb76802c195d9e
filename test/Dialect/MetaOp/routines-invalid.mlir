// RUN: metaop-opt %s --split-input-file --verify-diagnostics

func.func @sort_c1_dim(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a dimension below 1, given -1}}
  %0, %1 = metaop.sort %x dim = -1 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @sort_c1_dim_too_large(%x: tensor<4xf32>) -> tensor<4xi64> {
  // expected-error @below {{expects a dimension below 1, given 1}}
  %0, %1 = metaop.sort %x dim = 1 : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xi64>
}

// -----

func.func @sort_one_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{operation defines 2 results but was provided 1 to bind}}
  %0 = metaop.sort %x dim = 0 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @sort_indices_type(%x: tensor<4xf32>) -> tensor<5xi64> {
  // expected-error @below {{failed to verify that indices are i64 and of the values' shape}}
  %0, %1 = "metaop.sort"(%x) <{dim = 0 : i64}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<5xi64>)
  return %1 : tensor<5xi64>
}

// -----

func.func @sort_unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{operand #0 must be}}
  %0, %1 = "metaop.sort"(%x) <{dim = 0 : i64}> : (tensor<*xf32>) -> (tensor<*xf32>, tensor<4xi64>)
  return %0 : tensor<*xf32>
}

// -----

func.func @sort_c2_element(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @below {{expects values of the source's elements, given 'tensor<4xf64>' for 'tensor<4xf32>'}}
  %0, %1 = metaop.sort %x dim = 0 : tensor<4xf32> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @sort_c2_shape(%x: tensor<4x8xf32>) -> tensor<5x2xf32> {
  // expected-error @below {{expects values of the source's shape but along dimension 1, given 'tensor<5x2xf32>' for 'tensor<4x8xf32>'}}
  %0, %1 = metaop.sort %x dim = 1 : tensor<4x8xf32> -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// -----

func.func @sort_c2_rank(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  // expected-error @below {{expects values of the source's shape but along dimension 1, given 'tensor<4xf32>' for 'tensor<4x8xf32>'}}
  %0, %1 = metaop.sort %x dim = 1 : tensor<4x8xf32> -> tensor<4xf32>
  return %1 : tensor<4xi64>
}

// -----

func.func @sort_c3_count(%x: tensor<4xf32>) -> tensor<5xi64> {
  // expected-error @below {{expects places of 4 elements, given 'tensor<5xf32>'}}
  %0, %1 = metaop.sort %x dim = 0 : tensor<4xf32> -> tensor<5xf32>
  return %1 : tensor<5xi64>
}

// -----

func.func @routine_c1(%x: tensor<4xf32>) {
  // expected-error @below {{expects an output}}
  metaop.routine "none"(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @routine_c2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects parameters that are integers of i64, floats of f64, strings, or arrays of one of these, given "mode" = [1, "full"]}}
  %0 = metaop.routine "some"(%x) parameters = {mode = [1, "full"]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @routine_c3(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 2 roles, given 1}}
  %0 = metaop.routine "some"(%x) roles = ["x"] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @routine_c4_number(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects `over` for 1 outputs, given 2}}
  %0 = metaop.routine "some"(%x) over = [0, -1] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @routine_c4_type(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @below {{expects an output over an input of its type that no other is over, given input 0 for 'tensor<5xf32>'}}
  %0 = metaop.routine "some"(%x) over = [0] : (tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @routine_c4_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @below {{that no other is over, given input 0 for 'tensor<4xf32>'}}
  %0, %1 = metaop.routine "some"(%x) over = [0, 0] : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @fft_c1_numbers(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects one or two inputs and outputs, of one of which two, given 1 and 1}}
  %0 = metaop.fft(%x) dims = [0] scale = 1.0 : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @fft_c1_real_input(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @below {{expects no `inverse` of real inputs}}
  %0:2 = metaop.fft(%x) dims = [0] inverse scale = 1.0 : (tensor<4xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#0 : tensor<3xf32>
}

// -----

func.func @fft_c1_real_output(%x: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects `inverse` of real outputs}}
  %0 = metaop.fft(%x, %x) dims = [0] scale = 1.0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @fft_c2_element(%x: tensor<4xf32>, %y: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @below {{expects elements of one type, f32 or f64, given 'tensor<4xf64>' beside 'tensor<4xf32>'}}
  %0:2 = metaop.fft(%x, %y) dims = [0] scale = 1.0 : (tensor<4xf32>, tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}

// -----

func.func @fft_c2_half(%x: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @below {{expects elements of one type, f32 or f64, given 'tensor<4xf16>' beside 'tensor<4xf16>'}}
  %0:2 = metaop.fft(%x, %x) dims = [0] scale = 1.0 : (tensor<4xf16>, tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>)
  return %0#0 : tensor<4xf16>
}

// -----

func.func @fft_c3_none(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a dimension}}
  %0:2 = metaop.fft(%x, %x) dims = [] scale = 1.0 : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}

// -----

func.func @fft_c3_range(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects dimensions below 1, given 1}}
  %0:2 = metaop.fft(%x, %x) dims = [1] scale = 1.0 : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}

// -----

func.func @fft_c3_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects different dimensions, given 0 twice}}
  %0:2 = metaop.fft(%x, %x) dims = [0, 0] scale = 1.0 : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}

// -----

func.func @fft_c3_extent(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{expects a static extent above 0 along dimension 0, given 'tensor<?xf32>'}}
  %0:2 = metaop.fft(%x, %x) dims = [0] scale = 1.0 : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#0 : tensor<?xf32>
}

// -----

func.func @fft_c4_half(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects the shape of 'tensor<3xf32>', given 'tensor<4xf32>'}}
  %0:2 = metaop.fft(%x) dims = [0] scale = 1.0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}

// -----

func.func @fft_c4_inputs(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects the shape of 'tensor<4xf32>', given 'tensor<5xf32>'}}
  %0:2 = metaop.fft(%x, %y) dims = [0] scale = 1.0 : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}
