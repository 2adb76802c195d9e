// RUN: metaop-run %s --compare --seed=1
// RUN: metaop-run %s --compare --seed=2

// Element-wise operators, leaves, and tensors without elements.

func.func @elementwise(%x: tensor<13x37xf32>, %y: tensor<37xf32>)
    -> (tensor<13x37xf32>, tensor<13x37xi1>, tensor<13xf32>, tensor<37xf32>) {
  %b = metaop.broadcast %y dims = [1] : tensor<37xf32> -> tensor<13x37xf32>
  %z = metaop.mul %x, %b : tensor<13x37xf32>
  %t = metaop.tanh %z : tensor<13x37xf32>
  %c = metaop.cmp lt %t, %x : tensor<13x37xf32> -> tensor<13x37xi1>
  %s = metaop.select %c, %t, %z : tensor<13x37xi1>, tensor<13x37xf32>
  %r = metaop.reduce add %s dims = [1] : tensor<13x37xf32> -> tensor<13xf32>
  %q = metaop.reduce max %s dims = [0] : tensor<13x37xf32> -> tensor<37xf32>
  return %s, %c, %r, %q : tensor<13x37xf32>, tensor<13x37xi1>, tensor<13xf32>, tensor<37xf32>
}

func.func @unary_f32(%x: tensor<131xf32>)
    -> (tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>,
        tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>,
        tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>) {
  %abs = metaop.abs %x : tensor<131xf32>
  %neg = metaop.neg %x : tensor<131xf32>
  %exp = metaop.exp %x : tensor<131xf32>
  %sqrt = metaop.sqrt %abs : tensor<131xf32>
  %sin = metaop.sin %x : tensor<131xf32>
  %cos = metaop.cos %x : tensor<131xf32>
  %tanh = metaop.tanh %x : tensor<131xf32>
  %erf = metaop.erf %x : tensor<131xf32>
  %floor = metaop.floor %x : tensor<131xf32>
  %ceil = metaop.ceil %x : tensor<131xf32>
  %round = metaop.round %x : tensor<131xf32>
  %sign = metaop.sign %x : tensor<131xf32>
  return %neg, %abs, %exp, %sqrt, %sin, %cos, %tanh, %erf, %floor, %ceil, %round, %sign
      : tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>,
        tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>, tensor<131xf32>
}

func.func @unary_f64(%x: tensor<131xf64>)
    -> (tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>,
        tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>,
        tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>) {
  %abs = metaop.abs %x : tensor<131xf64>
  %neg = metaop.neg %x : tensor<131xf64>
  %exp = metaop.exp %x : tensor<131xf64>
  %sqrt = metaop.sqrt %abs : tensor<131xf64>
  %sin = metaop.sin %x : tensor<131xf64>
  %cos = metaop.cos %x : tensor<131xf64>
  %tanh = metaop.tanh %x : tensor<131xf64>
  %erf = metaop.erf %x : tensor<131xf64>
  %floor = metaop.floor %x : tensor<131xf64>
  %ceil = metaop.ceil %x : tensor<131xf64>
  %round = metaop.round %x : tensor<131xf64>
  %sign = metaop.sign %x : tensor<131xf64>
  return %neg, %abs, %exp, %sqrt, %sin, %cos, %tanh, %erf, %floor, %ceil, %round, %sign
      : tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>,
        tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>, tensor<131xf64>
}

func.func @unary_f16(%x: tensor<131xf16>)
    -> (tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>,
        tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>,
        tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>) {
  %abs = metaop.abs %x : tensor<131xf16>
  %neg = metaop.neg %x : tensor<131xf16>
  %exp = metaop.exp %x : tensor<131xf16>
  %sqrt = metaop.sqrt %abs : tensor<131xf16>
  %sin = metaop.sin %x : tensor<131xf16>
  %cos = metaop.cos %x : tensor<131xf16>
  %tanh = metaop.tanh %x : tensor<131xf16>
  %erf = metaop.erf %x : tensor<131xf16>
  %floor = metaop.floor %x : tensor<131xf16>
  %ceil = metaop.ceil %x : tensor<131xf16>
  %round = metaop.round %x : tensor<131xf16>
  %sign = metaop.sign %x : tensor<131xf16>
  return %neg, %abs, %exp, %sqrt, %sin, %cos, %tanh, %erf, %floor, %ceil, %round, %sign
      : tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>,
        tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>, tensor<131xf16>
}

func.func @unary_bf16(%x: tensor<131xbf16>)
    -> (tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>,
        tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>,
        tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>) {
  %abs = metaop.abs %x : tensor<131xbf16>
  %neg = metaop.neg %x : tensor<131xbf16>
  %exp = metaop.exp %x : tensor<131xbf16>
  %sqrt = metaop.sqrt %abs : tensor<131xbf16>
  %sin = metaop.sin %x : tensor<131xbf16>
  %cos = metaop.cos %x : tensor<131xbf16>
  %tanh = metaop.tanh %x : tensor<131xbf16>
  %erf = metaop.erf %x : tensor<131xbf16>
  %floor = metaop.floor %x : tensor<131xbf16>
  %ceil = metaop.ceil %x : tensor<131xbf16>
  %round = metaop.round %x : tensor<131xbf16>
  %sign = metaop.sign %x : tensor<131xbf16>
  return %neg, %abs, %exp, %sqrt, %sin, %cos, %tanh, %erf, %floor, %ceil, %round, %sign
      : tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>,
        tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>, tensor<131xbf16>
}

func.func @integers(%x: tensor<50xi32>, %y: tensor<50xi32>, %u: tensor<50xui8>)
    -> (tensor<50xi32>, tensor<50xi32>, tensor<50xi32>, tensor<50xui8>, tensor<50xf32>, tensor<50xi64>) {
  %0 = metaop.mul %x, %y : tensor<50xi32>
  %1 = metaop.sub %0, %y : tensor<50xi32>
  %2 = metaop.xor %1, %x : tensor<50xi32>
  %3 = metaop.max %2, %y : tensor<50xi32>
  %4 = metaop.mul %u, %u : tensor<50xui8>
  %5 = metaop.cast %4 : tensor<50xui8> -> tensor<50xf32>
  %6 = metaop.cast %x : tensor<50xi32> -> tensor<50xi64>
  return %1, %2, %3, %4, %5, %6
      : tensor<50xi32>, tensor<50xi32>, tensor<50xi32>, tensor<50xui8>, tensor<50xf32>, tensor<50xi64>
}

func.func @iota() -> (tensor<3x70xi64>, tensor<3x70xf32>) {
  %y = metaop.iota dim = 1 : tensor<3x70xi64>
  %z = metaop.iota dim = 0 : tensor<3x70xf32>
  return %y, %z : tensor<3x70xi64>, tensor<3x70xf32>
}

func.func @random(%k: tensor<i64>, %c: tensor<i64>)
    -> (tensor<3x70xf32>, tensor<5xf64>, tensor<4x3xui32>) {
  %y = metaop.random %k, %c : tensor<3x70xf32>
  %z = metaop.random %k, %c : tensor<5xf64>
  %w = metaop.random %k, %c : tensor<4x3xui32>
  return %y, %z, %w : tensor<3x70xf32>, tensor<5xf64>, tensor<4x3xui32>
}

func.func @table(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %c = metaop.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]]> : tensor<2x5xf32>
  %y = metaop.add %x, %c : tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

func.func @tables(%x: tensor<3xi1>) -> (tensor<3xi1>, tensor<4xi64>, tensor<4xf32>) {
  %0 = metaop.constant dense<[true, false, true]> : tensor<3xi1>
  %1 = metaop.xor %x, %0 : tensor<3xi1>
  %2 = metaop.constant dense<[1, -2, 3, -4]> : tensor<4xi64>
  %3 = metaop.constant dense<0.25> : tensor<4xf32>
  return %1, %2, %3 : tensor<3xi1>, tensor<4xi64>, tensor<4xf32>
}

func.func @empty(%x: tensor<0x5xf32>) -> (tensor<0x5xf32>, tensor<5xf32>, tensor<0xf32>, tensor<f32>) {
  %e = metaop.exp %x : tensor<0x5xf32>
  %y = metaop.reduce max %x dims = [0] : tensor<0x5xf32> -> tensor<5xf32>
  %z = metaop.reduce add %x dims = [1] : tensor<0x5xf32> -> tensor<0xf32>
  %w = metaop.reduce mul %x dims = [0,1] : tensor<0x5xf32> -> tensor<f32>
  return %e, %y, %z, %w : tensor<0x5xf32>, tensor<5xf32>, tensor<0xf32>, tensor<f32>
}

func.func @scalars(%x: tensor<f32>, %y: tensor<1x1xf32>) -> (tensor<f32>, tensor<1x1xf32>, tensor<f32>) {
  %0 = metaop.exp %x : tensor<f32>
  %1 = metaop.broadcast %0 dims = [] : tensor<f32> -> tensor<1x1xf32>
  %2 = metaop.mul %1, %y : tensor<1x1xf32>
  %3 = metaop.reduce add %2 dims = [0, 1] : tensor<1x1xf32> -> tensor<f32>
  return %0, %2, %3 : tensor<f32>, tensor<1x1xf32>, tensor<f32>
}

// Results that are arguments, and one value twice.
func.func @returned(%x: tensor<3xf32>, %y: tensor<4xi32>)
    -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>, tensor<4xi32>) {
  %0 = metaop.exp %x : tensor<3xf32>
  %1 = metaop.exp %x : tensor<3xf32>
  %2 = metaop.reshape %1 : tensor<3xf32> -> tensor<3x1xf32>
  return %0, %1, %x, %2, %y : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>, tensor<4xi32>
}
