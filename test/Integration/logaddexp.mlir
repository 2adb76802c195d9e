// RUN: metaop-run %s --compare --seed=1
// RUN: metaop-run %s --compare --seed=2 --target=cuda --emulate
// RUN: metaop-run %s --compare --seed=3 --target=cuda --emulate --chip=sm_80

// A combiner that MLIR has no name for: lanes are combined by shuffles, and
// threads that write to one place compare and swap.

func.func @last(%x: tensor<5x37xf32>, %y: tensor<5x300xf64>, %z: tensor<3x70xf16>)
    -> (tensor<5xf32>, tensor<5xf64>, tensor<3xf16>) {
  %a = metaop.reduce logaddexp %x dims = [1] : tensor<5x37xf32> -> tensor<5xf32>
  %b = metaop.reduce logaddexp %y dims = [1] : tensor<5x300xf64> -> tensor<5xf64>
  %c = metaop.reduce logaddexp %z dims = [1] : tensor<3x70xf16> -> tensor<3xf16>
  return %a, %b, %c : tensor<5xf32>, tensor<5xf64>, tensor<3xf16>
}

func.func @first(%x: tensor<37x19xf32>, %y: tensor<9x5xbf16>) -> (tensor<19xf32>, tensor<5xbf16>) {
  %a = metaop.reduce logaddexp %x dims = [0] : tensor<37x19xf32> -> tensor<19xf32>
  %b = metaop.reduce logaddexp %y dims = [0] : tensor<9x5xbf16> -> tensor<5xbf16>
  return %a, %b : tensor<19xf32>, tensor<5xbf16>
}

func.func @all(%x: tensor<70000xf32>) -> tensor<f32> {
  %a = metaop.reduce logaddexp %x dims = [0] : tensor<70000xf32> -> tensor<f32>
  return %a : tensor<f32>
}

// Some elements of the result are reached by nothing, and some of the source
// take no part.
func.func @general(%x: tensor<5x10xf32>, %y: tensor<4x9xf16>) -> (tensor<7x3xf32>, tensor<3xf16>) {
  %a = metaop.reindex_reduce logaddexp %x map affine_map<(n, h) -> (n, h floordiv 4)>
      : tensor<5x10xf32> -> tensor<7x3xf32>
  %b = metaop.reindex_reduce logaddexp %y map affine_map<(n, h) -> (n + h)>
      : tensor<4x9xf16> -> tensor<3xf16>
  return %a, %b : tensor<7x3xf32>, tensor<3xf16>
}

func.func @scatter(%x: tensor<90x3xf32>, %y: tensor<40xf64>, %i: tensor<90x3xi64>, %j: tensor<40xi64>)
    -> (tensor<4x3xf32>, tensor<5xf64>) {
  %a = metaop.scatter logaddexp %x[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<90x3xf32>, tensor<90x3xi64>) -> tensor<4x3xf32>
  %b = metaop.scatter logaddexp %y[%j] map affine_map<(d0)[s0] -> (s0 mod 5)>
      : (tensor<40xf64>, tensor<40xi64>) -> tensor<5xf64>
  return %a, %b : tensor<4x3xf32>, tensor<5xf64>
}
