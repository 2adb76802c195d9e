// RUN: metaop-run %s --entry=f32 --compare=0,0
// RUN: metaop-run %s --entry=f16 --compare=0,0
// RUN: metaop-run %s --entry=bf16 --compare=0,0
// RUN: metaop-run %s --entry=chain --compare=0,0

// Each operation rounds to its own type, also where code could keep more.

func.func @f32(%x: tensor<64xf64>) -> tensor<64xf64> {
  %0 = metaop.cast %x : tensor<64xf64> -> tensor<64xf32>
  %1 = metaop.cast %0 : tensor<64xf32> -> tensor<64xf64>
  return %1 : tensor<64xf64>
}

func.func @f16(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.cast %x : tensor<64xf32> -> tensor<64xf16>
  %1 = metaop.cast %0 : tensor<64xf16> -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

func.func @bf16(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.cast %x : tensor<64xf32> -> tensor<64xbf16>
  %1 = metaop.cast %0 : tensor<64xbf16> -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

func.func @chain(%x: tensor<64xf16>) -> tensor<64xf16> {
  %c = metaop.constant dense<2048.0> : tensor<64xf16>
  %0 = metaop.add %x, %c : tensor<64xf16>
  %1 = metaop.sub %0, %c : tensor<64xf16>
  return %1 : tensor<64xf16>
}
