// RUN: metaop-opt %s -split-input-file -verify-diagnostics

func.func @misplaced(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{`metaop.blocks`}}
  %0 = metaop.sin %x {metaop.blocks} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @number(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{`metaop.blocks`}}
  %0 = metaop.scan 4 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> attributes {metaop.blocks = 3 : i64} {
    metaop.scan_yield %c : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{`metaop.first_trip`}}
  %0 = metaop.scan 4 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> attributes {metaop.first_trip = -1 : i64} {
    metaop.scan_yield %c : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
