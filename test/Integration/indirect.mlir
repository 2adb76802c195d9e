// RUN: metaop-run %s --compare --seed=1
// RUN: metaop-run %s --compare --seed=2

// Gathers and scatters, whose indices are made of an iota: duplicates, negative
// ones and ones beyond the end among them.

func.func @rows(%x: tensor<9x33xf32>, %c: tensor<17x33xf32>) -> tensor<17x33xf32> {
  %k = metaop.iota dim = 0 : tensor<17x33xi64>
  %seven = metaop.constant dense<7> : tensor<17x33xi64>
  %twelve = metaop.constant dense<12> : tensor<17x33xi64>
  %0 = metaop.mul %k, %seven : tensor<17x33xi64>
  %i = metaop.mod %0, %twelve : tensor<17x33xi64>
  %1 = metaop.gather %x[%i] map affine_map<(d0, d1)[s0] -> (s0 - 1, d1)> fill 2.0 : f32
      : (tensor<9x33xf32>, tensor<17x33xi64>) -> tensor<17x33xf32>
  %2 = metaop.mul %1, %c : tensor<17x33xf32>
  return %2 : tensor<17x33xf32>
}

// Along the vector loop, and by two tensors.
func.func @elements(%x: tensor<9x33xf32>) -> (tensor<9x21xf32>, tensor<9x21xf32>) {
  %r = metaop.iota dim = 0 : tensor<9x21xi64>
  %k = metaop.iota dim = 1 : tensor<9x21xi64>
  %p = metaop.mul %r, %k : tensor<9x21xi64>
  %n = metaop.constant dense<35> : tensor<9x21xi64>
  %i = metaop.mod %p, %n : tensor<9x21xi64>
  %0 = metaop.gather %x[%i] map affine_map<(d0, d1)[s0] -> (d0, s0)> fill -1.0 : f32
      : (tensor<9x33xf32>, tensor<9x21xi64>) -> tensor<9x21xf32>
  %1 = metaop.gather %x[%r, %i] map affine_map<(d0, d1)[s0, s1] -> (8 - s0, s1 + d1)> fill -1.0 : f32
      : (tensor<9x33xf32>, tensor<9x21xi64>, tensor<9x21xi64>) -> tensor<9x21xf32>
  return %0, %1 : tensor<9x21xf32>, tensor<9x21xf32>
}

func.func @scatter_rows(%g: tensor<17x33xf32>) -> (tensor<9x33xf32>, tensor<9x33xf32>, tensor<9x33xf32>) {
  %k = metaop.iota dim = 0 : tensor<17x33xi64>
  %seven = metaop.constant dense<7> : tensor<17x33xi64>
  %ten = metaop.constant dense<10> : tensor<17x33xi64>
  %0 = metaop.mul %k, %seven : tensor<17x33xi64>
  %i = metaop.mod %0, %ten : tensor<17x33xi64>
  %1 = metaop.scatter add %g[%i] map affine_map<(d0, d1)[s0] -> (s0 - 1, d1)>
      : (tensor<17x33xf32>, tensor<17x33xi64>) -> tensor<9x33xf32>
  %2 = metaop.scatter max %g[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<17x33xf32>, tensor<17x33xi64>) -> tensor<9x33xf32>
  %3 = metaop.scatter min %g[%i] map affine_map<(d0, d1)[s0] -> (d0, s0 + d1)>
      : (tensor<17x33xf32>, tensor<17x33xi64>) -> tensor<9x33xf32>
  return %1, %2, %3 : tensor<9x33xf32>, tensor<9x33xf32>, tensor<9x33xf32>
}

// One element for many.
func.func @histogram(%g: tensor<1000xf64>, %h: tensor<40x50xf16>) -> (tensor<7xf64>, tensor<7xf16>) {
  %k = metaop.iota dim = 0 : tensor<1000xi64>
  %eight = metaop.constant dense<8> : tensor<1000xi64>
  %square = metaop.mul %k, %k : tensor<1000xi64>
  %i = metaop.mod %square, %eight : tensor<1000xi64>
  %0 = metaop.scatter add %g[%i] map affine_map<(d0)[s0] -> (s0)>
      : (tensor<1000xf64>, tensor<1000xi64>) -> tensor<7xf64>
  %r = metaop.iota dim = 0 : tensor<40x50xi64>
  %six = metaop.constant dense<6> : tensor<40x50xi64>
  %j = metaop.mod %r, %six : tensor<40x50xi64>
  %1 = metaop.scatter add %h[%j] map affine_map<(d0, d1)[s0] -> (s0)>
      : (tensor<40x50xf16>, tensor<40x50xi64>) -> tensor<7xf16>
  return %0, %1 : tensor<7xf64>, tensor<7xf16>
}

// Both in one program: the scatter's source is computed in its stage.
func.func @round_trip(%x: tensor<30x20xf32>) -> (tensor<11x20xf32>, tensor<30x20xf32>) {
  %k = metaop.iota dim = 0 : tensor<11x20xi64>
  %five = metaop.constant dense<5> : tensor<11x20xi64>
  %i = metaop.mul %k, %five : tensor<11x20xi64>
  %0 = metaop.gather %x[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)> fill 0.0 : f32
      : (tensor<30x20xf32>, tensor<11x20xi64>) -> tensor<11x20xf32>
  %1 = metaop.exp %0 : tensor<11x20xf32>
  %2 = metaop.scatter add %1[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<11x20xf32>, tensor<11x20xi64>) -> tensor<30x20xf32>
  return %1, %2 : tensor<11x20xf32>, tensor<30x20xf32>
}
