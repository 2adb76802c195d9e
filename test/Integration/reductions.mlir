// RUN: metaop-run %s --compare --seed=1
// RUN: metaop-run %s --compare --seed=2

// Reductions of all kinds, element types and dimensions: last, first, middle, both
// ends, all.

func.func @f32_last(%x: tensor<5x37x19xf32>)
    -> (tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x37xf32>) {
  %add = metaop.reduce add %x dims = [2] : tensor<5x37x19xf32> -> tensor<5x37xf32>
  %max = metaop.reduce max %x dims = [2] : tensor<5x37x19xf32> -> tensor<5x37xf32>
  %min = metaop.reduce min %x dims = [2] : tensor<5x37x19xf32> -> tensor<5x37xf32>
  %mul = metaop.reduce mul %x dims = [2] : tensor<5x37x19xf32> -> tensor<5x37xf32>
  return %add, %max, %min, %mul : tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x37xf32>
}

func.func @f32_middle(%x: tensor<5x37x19xf32>)
    -> (tensor<5x19xf32>, tensor<5x19xf32>, tensor<5x19xf32>, tensor<5x19xf32>) {
  %add = metaop.reduce add %x dims = [1] : tensor<5x37x19xf32> -> tensor<5x19xf32>
  %max = metaop.reduce max %x dims = [1] : tensor<5x37x19xf32> -> tensor<5x19xf32>
  %min = metaop.reduce min %x dims = [1] : tensor<5x37x19xf32> -> tensor<5x19xf32>
  %mul = metaop.reduce mul %x dims = [1] : tensor<5x37x19xf32> -> tensor<5x19xf32>
  return %add, %max, %min, %mul : tensor<5x19xf32>, tensor<5x19xf32>, tensor<5x19xf32>, tensor<5x19xf32>
}

func.func @f32_first(%x: tensor<5x37x19xf32>)
    -> (tensor<37x19xf32>, tensor<37x19xf32>, tensor<37x19xf32>, tensor<37x19xf32>) {
  %add = metaop.reduce add %x dims = [0] : tensor<5x37x19xf32> -> tensor<37x19xf32>
  %max = metaop.reduce max %x dims = [0] : tensor<5x37x19xf32> -> tensor<37x19xf32>
  %min = metaop.reduce min %x dims = [0] : tensor<5x37x19xf32> -> tensor<37x19xf32>
  %mul = metaop.reduce mul %x dims = [0] : tensor<5x37x19xf32> -> tensor<37x19xf32>
  return %add, %max, %min, %mul : tensor<37x19xf32>, tensor<37x19xf32>, tensor<37x19xf32>, tensor<37x19xf32>
}

func.func @f32_ends(%x: tensor<5x37x19xf32>)
    -> (tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>) {
  %add = metaop.reduce add %x dims = [0, 2] : tensor<5x37x19xf32> -> tensor<37xf32>
  %max = metaop.reduce max %x dims = [0, 2] : tensor<5x37x19xf32> -> tensor<37xf32>
  %min = metaop.reduce min %x dims = [0, 2] : tensor<5x37x19xf32> -> tensor<37xf32>
  %mul = metaop.reduce mul %x dims = [0, 2] : tensor<5x37x19xf32> -> tensor<37xf32>
  return %add, %max, %min, %mul : tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>
}

func.func @f32_all(%x: tensor<5x37x19xf32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %add = metaop.reduce add %x dims = [0, 1, 2] : tensor<5x37x19xf32> -> tensor<f32>
  %max = metaop.reduce max %x dims = [0, 1, 2] : tensor<5x37x19xf32> -> tensor<f32>
  %min = metaop.reduce min %x dims = [0, 1, 2] : tensor<5x37x19xf32> -> tensor<f32>
  %mul = metaop.reduce mul %x dims = [0, 1, 2] : tensor<5x37x19xf32> -> tensor<f32>
  return %add, %max, %min, %mul : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

func.func @f64_last(%x: tensor<5x37x19xf64>)
    -> (tensor<5x37xf64>, tensor<5x37xf64>) {
  %add = metaop.reduce add %x dims = [2] : tensor<5x37x19xf64> -> tensor<5x37xf64>
  %max = metaop.reduce max %x dims = [2] : tensor<5x37x19xf64> -> tensor<5x37xf64>
  return %add, %max : tensor<5x37xf64>, tensor<5x37xf64>
}

func.func @f64_middle(%x: tensor<5x37x19xf64>)
    -> (tensor<5x19xf64>, tensor<5x19xf64>) {
  %add = metaop.reduce add %x dims = [1] : tensor<5x37x19xf64> -> tensor<5x19xf64>
  %max = metaop.reduce max %x dims = [1] : tensor<5x37x19xf64> -> tensor<5x19xf64>
  return %add, %max : tensor<5x19xf64>, tensor<5x19xf64>
}

func.func @f64_first(%x: tensor<5x37x19xf64>)
    -> (tensor<37x19xf64>, tensor<37x19xf64>) {
  %add = metaop.reduce add %x dims = [0] : tensor<5x37x19xf64> -> tensor<37x19xf64>
  %max = metaop.reduce max %x dims = [0] : tensor<5x37x19xf64> -> tensor<37x19xf64>
  return %add, %max : tensor<37x19xf64>, tensor<37x19xf64>
}

func.func @f64_ends(%x: tensor<5x37x19xf64>)
    -> (tensor<37xf64>, tensor<37xf64>) {
  %add = metaop.reduce add %x dims = [0, 2] : tensor<5x37x19xf64> -> tensor<37xf64>
  %max = metaop.reduce max %x dims = [0, 2] : tensor<5x37x19xf64> -> tensor<37xf64>
  return %add, %max : tensor<37xf64>, tensor<37xf64>
}

func.func @f64_all(%x: tensor<5x37x19xf64>)
    -> (tensor<f64>, tensor<f64>) {
  %add = metaop.reduce add %x dims = [0, 1, 2] : tensor<5x37x19xf64> -> tensor<f64>
  %max = metaop.reduce max %x dims = [0, 1, 2] : tensor<5x37x19xf64> -> tensor<f64>
  return %add, %max : tensor<f64>, tensor<f64>
}

func.func @f16_last(%x: tensor<5x37x19xf16>)
    -> (tensor<5x37xf16>, tensor<5x37xf16>) {
  %add = metaop.reduce add %x dims = [2] : tensor<5x37x19xf16> -> tensor<5x37xf16>
  %max = metaop.reduce max %x dims = [2] : tensor<5x37x19xf16> -> tensor<5x37xf16>
  return %add, %max : tensor<5x37xf16>, tensor<5x37xf16>
}

func.func @f16_middle(%x: tensor<5x37x19xf16>)
    -> (tensor<5x19xf16>, tensor<5x19xf16>) {
  %add = metaop.reduce add %x dims = [1] : tensor<5x37x19xf16> -> tensor<5x19xf16>
  %max = metaop.reduce max %x dims = [1] : tensor<5x37x19xf16> -> tensor<5x19xf16>
  return %add, %max : tensor<5x19xf16>, tensor<5x19xf16>
}

func.func @f16_first(%x: tensor<5x37x19xf16>)
    -> (tensor<37x19xf16>, tensor<37x19xf16>) {
  %add = metaop.reduce add %x dims = [0] : tensor<5x37x19xf16> -> tensor<37x19xf16>
  %max = metaop.reduce max %x dims = [0] : tensor<5x37x19xf16> -> tensor<37x19xf16>
  return %add, %max : tensor<37x19xf16>, tensor<37x19xf16>
}

func.func @f16_ends(%x: tensor<5x37x19xf16>)
    -> (tensor<37xf16>, tensor<37xf16>) {
  %add = metaop.reduce add %x dims = [0, 2] : tensor<5x37x19xf16> -> tensor<37xf16>
  %max = metaop.reduce max %x dims = [0, 2] : tensor<5x37x19xf16> -> tensor<37xf16>
  return %add, %max : tensor<37xf16>, tensor<37xf16>
}

func.func @f16_all(%x: tensor<5x37x19xf16>)
    -> (tensor<f16>, tensor<f16>) {
  %add = metaop.reduce add %x dims = [0, 1, 2] : tensor<5x37x19xf16> -> tensor<f16>
  %max = metaop.reduce max %x dims = [0, 1, 2] : tensor<5x37x19xf16> -> tensor<f16>
  return %add, %max : tensor<f16>, tensor<f16>
}

func.func @bf16_last(%x: tensor<5x37x19xbf16>)
    -> (tensor<5x37xbf16>, tensor<5x37xbf16>) {
  %add = metaop.reduce add %x dims = [2] : tensor<5x37x19xbf16> -> tensor<5x37xbf16>
  %max = metaop.reduce max %x dims = [2] : tensor<5x37x19xbf16> -> tensor<5x37xbf16>
  return %add, %max : tensor<5x37xbf16>, tensor<5x37xbf16>
}

func.func @bf16_middle(%x: tensor<5x37x19xbf16>)
    -> (tensor<5x19xbf16>, tensor<5x19xbf16>) {
  %add = metaop.reduce add %x dims = [1] : tensor<5x37x19xbf16> -> tensor<5x19xbf16>
  %max = metaop.reduce max %x dims = [1] : tensor<5x37x19xbf16> -> tensor<5x19xbf16>
  return %add, %max : tensor<5x19xbf16>, tensor<5x19xbf16>
}

func.func @bf16_first(%x: tensor<5x37x19xbf16>)
    -> (tensor<37x19xbf16>, tensor<37x19xbf16>) {
  %add = metaop.reduce add %x dims = [0] : tensor<5x37x19xbf16> -> tensor<37x19xbf16>
  %max = metaop.reduce max %x dims = [0] : tensor<5x37x19xbf16> -> tensor<37x19xbf16>
  return %add, %max : tensor<37x19xbf16>, tensor<37x19xbf16>
}

func.func @bf16_ends(%x: tensor<5x37x19xbf16>)
    -> (tensor<37xbf16>, tensor<37xbf16>) {
  %add = metaop.reduce add %x dims = [0, 2] : tensor<5x37x19xbf16> -> tensor<37xbf16>
  %max = metaop.reduce max %x dims = [0, 2] : tensor<5x37x19xbf16> -> tensor<37xbf16>
  return %add, %max : tensor<37xbf16>, tensor<37xbf16>
}

func.func @bf16_all(%x: tensor<5x37x19xbf16>)
    -> (tensor<bf16>, tensor<bf16>) {
  %add = metaop.reduce add %x dims = [0, 1, 2] : tensor<5x37x19xbf16> -> tensor<bf16>
  %max = metaop.reduce max %x dims = [0, 1, 2] : tensor<5x37x19xbf16> -> tensor<bf16>
  return %add, %max : tensor<bf16>, tensor<bf16>
}

func.func @i8_last(%x: tensor<5x37x19xi8>)
    -> (tensor<5x37xi8>, tensor<5x37xi8>) {
  %add = metaop.reduce add %x dims = [2] : tensor<5x37x19xi8> -> tensor<5x37xi8>
  %max = metaop.reduce max %x dims = [2] : tensor<5x37x19xi8> -> tensor<5x37xi8>
  return %add, %max : tensor<5x37xi8>, tensor<5x37xi8>
}

func.func @i8_middle(%x: tensor<5x37x19xi8>)
    -> (tensor<5x19xi8>, tensor<5x19xi8>) {
  %add = metaop.reduce add %x dims = [1] : tensor<5x37x19xi8> -> tensor<5x19xi8>
  %max = metaop.reduce max %x dims = [1] : tensor<5x37x19xi8> -> tensor<5x19xi8>
  return %add, %max : tensor<5x19xi8>, tensor<5x19xi8>
}

func.func @i8_first(%x: tensor<5x37x19xi8>)
    -> (tensor<37x19xi8>, tensor<37x19xi8>) {
  %add = metaop.reduce add %x dims = [0] : tensor<5x37x19xi8> -> tensor<37x19xi8>
  %max = metaop.reduce max %x dims = [0] : tensor<5x37x19xi8> -> tensor<37x19xi8>
  return %add, %max : tensor<37x19xi8>, tensor<37x19xi8>
}

func.func @i8_ends(%x: tensor<5x37x19xi8>)
    -> (tensor<37xi8>, tensor<37xi8>) {
  %add = metaop.reduce add %x dims = [0, 2] : tensor<5x37x19xi8> -> tensor<37xi8>
  %max = metaop.reduce max %x dims = [0, 2] : tensor<5x37x19xi8> -> tensor<37xi8>
  return %add, %max : tensor<37xi8>, tensor<37xi8>
}

func.func @i8_all(%x: tensor<5x37x19xi8>)
    -> (tensor<i8>, tensor<i8>) {
  %add = metaop.reduce add %x dims = [0, 1, 2] : tensor<5x37x19xi8> -> tensor<i8>
  %max = metaop.reduce max %x dims = [0, 1, 2] : tensor<5x37x19xi8> -> tensor<i8>
  return %add, %max : tensor<i8>, tensor<i8>
}

func.func @i32_last(%x: tensor<5x37x19xi32>)
    -> (tensor<5x37xi32>, tensor<5x37xi32>, tensor<5x37xi32>, tensor<5x37xi32>, tensor<5x37xi32>, tensor<5x37xi32>, tensor<5x37xi32>) {
  %add = metaop.reduce add %x dims = [2] : tensor<5x37x19xi32> -> tensor<5x37xi32>
  %max = metaop.reduce max %x dims = [2] : tensor<5x37x19xi32> -> tensor<5x37xi32>
  %min = metaop.reduce min %x dims = [2] : tensor<5x37x19xi32> -> tensor<5x37xi32>
  %mul = metaop.reduce mul %x dims = [2] : tensor<5x37x19xi32> -> tensor<5x37xi32>
  %and = metaop.reduce and %x dims = [2] : tensor<5x37x19xi32> -> tensor<5x37xi32>
  %or = metaop.reduce or %x dims = [2] : tensor<5x37x19xi32> -> tensor<5x37xi32>
  %xor = metaop.reduce xor %x dims = [2] : tensor<5x37x19xi32> -> tensor<5x37xi32>
  return %add, %max, %min, %mul, %and, %or, %xor : tensor<5x37xi32>, tensor<5x37xi32>, tensor<5x37xi32>, tensor<5x37xi32>, tensor<5x37xi32>, tensor<5x37xi32>, tensor<5x37xi32>
}

func.func @i32_middle(%x: tensor<5x37x19xi32>)
    -> (tensor<5x19xi32>, tensor<5x19xi32>, tensor<5x19xi32>, tensor<5x19xi32>, tensor<5x19xi32>, tensor<5x19xi32>, tensor<5x19xi32>) {
  %add = metaop.reduce add %x dims = [1] : tensor<5x37x19xi32> -> tensor<5x19xi32>
  %max = metaop.reduce max %x dims = [1] : tensor<5x37x19xi32> -> tensor<5x19xi32>
  %min = metaop.reduce min %x dims = [1] : tensor<5x37x19xi32> -> tensor<5x19xi32>
  %mul = metaop.reduce mul %x dims = [1] : tensor<5x37x19xi32> -> tensor<5x19xi32>
  %and = metaop.reduce and %x dims = [1] : tensor<5x37x19xi32> -> tensor<5x19xi32>
  %or = metaop.reduce or %x dims = [1] : tensor<5x37x19xi32> -> tensor<5x19xi32>
  %xor = metaop.reduce xor %x dims = [1] : tensor<5x37x19xi32> -> tensor<5x19xi32>
  return %add, %max, %min, %mul, %and, %or, %xor : tensor<5x19xi32>, tensor<5x19xi32>, tensor<5x19xi32>, tensor<5x19xi32>, tensor<5x19xi32>, tensor<5x19xi32>, tensor<5x19xi32>
}

func.func @i32_first(%x: tensor<5x37x19xi32>)
    -> (tensor<37x19xi32>, tensor<37x19xi32>, tensor<37x19xi32>, tensor<37x19xi32>, tensor<37x19xi32>, tensor<37x19xi32>, tensor<37x19xi32>) {
  %add = metaop.reduce add %x dims = [0] : tensor<5x37x19xi32> -> tensor<37x19xi32>
  %max = metaop.reduce max %x dims = [0] : tensor<5x37x19xi32> -> tensor<37x19xi32>
  %min = metaop.reduce min %x dims = [0] : tensor<5x37x19xi32> -> tensor<37x19xi32>
  %mul = metaop.reduce mul %x dims = [0] : tensor<5x37x19xi32> -> tensor<37x19xi32>
  %and = metaop.reduce and %x dims = [0] : tensor<5x37x19xi32> -> tensor<37x19xi32>
  %or = metaop.reduce or %x dims = [0] : tensor<5x37x19xi32> -> tensor<37x19xi32>
  %xor = metaop.reduce xor %x dims = [0] : tensor<5x37x19xi32> -> tensor<37x19xi32>
  return %add, %max, %min, %mul, %and, %or, %xor : tensor<37x19xi32>, tensor<37x19xi32>, tensor<37x19xi32>, tensor<37x19xi32>, tensor<37x19xi32>, tensor<37x19xi32>, tensor<37x19xi32>
}

func.func @i32_ends(%x: tensor<5x37x19xi32>)
    -> (tensor<37xi32>, tensor<37xi32>, tensor<37xi32>, tensor<37xi32>, tensor<37xi32>, tensor<37xi32>, tensor<37xi32>) {
  %add = metaop.reduce add %x dims = [0, 2] : tensor<5x37x19xi32> -> tensor<37xi32>
  %max = metaop.reduce max %x dims = [0, 2] : tensor<5x37x19xi32> -> tensor<37xi32>
  %min = metaop.reduce min %x dims = [0, 2] : tensor<5x37x19xi32> -> tensor<37xi32>
  %mul = metaop.reduce mul %x dims = [0, 2] : tensor<5x37x19xi32> -> tensor<37xi32>
  %and = metaop.reduce and %x dims = [0, 2] : tensor<5x37x19xi32> -> tensor<37xi32>
  %or = metaop.reduce or %x dims = [0, 2] : tensor<5x37x19xi32> -> tensor<37xi32>
  %xor = metaop.reduce xor %x dims = [0, 2] : tensor<5x37x19xi32> -> tensor<37xi32>
  return %add, %max, %min, %mul, %and, %or, %xor : tensor<37xi32>, tensor<37xi32>, tensor<37xi32>, tensor<37xi32>, tensor<37xi32>, tensor<37xi32>, tensor<37xi32>
}

func.func @i32_all(%x: tensor<5x37x19xi32>)
    -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
  %add = metaop.reduce add %x dims = [0, 1, 2] : tensor<5x37x19xi32> -> tensor<i32>
  %max = metaop.reduce max %x dims = [0, 1, 2] : tensor<5x37x19xi32> -> tensor<i32>
  %min = metaop.reduce min %x dims = [0, 1, 2] : tensor<5x37x19xi32> -> tensor<i32>
  %mul = metaop.reduce mul %x dims = [0, 1, 2] : tensor<5x37x19xi32> -> tensor<i32>
  %and = metaop.reduce and %x dims = [0, 1, 2] : tensor<5x37x19xi32> -> tensor<i32>
  %or = metaop.reduce or %x dims = [0, 1, 2] : tensor<5x37x19xi32> -> tensor<i32>
  %xor = metaop.reduce xor %x dims = [0, 1, 2] : tensor<5x37x19xi32> -> tensor<i32>
  return %add, %max, %min, %mul, %and, %or, %xor : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
}

func.func @i64_last(%x: tensor<5x37x19xi64>)
    -> (tensor<5x37xi64>, tensor<5x37xi64>) {
  %add = metaop.reduce add %x dims = [2] : tensor<5x37x19xi64> -> tensor<5x37xi64>
  %max = metaop.reduce max %x dims = [2] : tensor<5x37x19xi64> -> tensor<5x37xi64>
  return %add, %max : tensor<5x37xi64>, tensor<5x37xi64>
}

func.func @i64_middle(%x: tensor<5x37x19xi64>)
    -> (tensor<5x19xi64>, tensor<5x19xi64>) {
  %add = metaop.reduce add %x dims = [1] : tensor<5x37x19xi64> -> tensor<5x19xi64>
  %max = metaop.reduce max %x dims = [1] : tensor<5x37x19xi64> -> tensor<5x19xi64>
  return %add, %max : tensor<5x19xi64>, tensor<5x19xi64>
}

func.func @i64_first(%x: tensor<5x37x19xi64>)
    -> (tensor<37x19xi64>, tensor<37x19xi64>) {
  %add = metaop.reduce add %x dims = [0] : tensor<5x37x19xi64> -> tensor<37x19xi64>
  %max = metaop.reduce max %x dims = [0] : tensor<5x37x19xi64> -> tensor<37x19xi64>
  return %add, %max : tensor<37x19xi64>, tensor<37x19xi64>
}

func.func @i64_ends(%x: tensor<5x37x19xi64>)
    -> (tensor<37xi64>, tensor<37xi64>) {
  %add = metaop.reduce add %x dims = [0, 2] : tensor<5x37x19xi64> -> tensor<37xi64>
  %max = metaop.reduce max %x dims = [0, 2] : tensor<5x37x19xi64> -> tensor<37xi64>
  return %add, %max : tensor<37xi64>, tensor<37xi64>
}

func.func @i64_all(%x: tensor<5x37x19xi64>)
    -> (tensor<i64>, tensor<i64>) {
  %add = metaop.reduce add %x dims = [0, 1, 2] : tensor<5x37x19xi64> -> tensor<i64>
  %max = metaop.reduce max %x dims = [0, 1, 2] : tensor<5x37x19xi64> -> tensor<i64>
  return %add, %max : tensor<i64>, tensor<i64>
}

func.func @ui8_last(%x: tensor<5x37x19xui8>)
    -> (tensor<5x37xui8>, tensor<5x37xui8>, tensor<5x37xui8>, tensor<5x37xui8>) {
  %add = metaop.reduce add %x dims = [2] : tensor<5x37x19xui8> -> tensor<5x37xui8>
  %max = metaop.reduce max %x dims = [2] : tensor<5x37x19xui8> -> tensor<5x37xui8>
  %min = metaop.reduce min %x dims = [2] : tensor<5x37x19xui8> -> tensor<5x37xui8>
  %mul = metaop.reduce mul %x dims = [2] : tensor<5x37x19xui8> -> tensor<5x37xui8>
  return %add, %max, %min, %mul : tensor<5x37xui8>, tensor<5x37xui8>, tensor<5x37xui8>, tensor<5x37xui8>
}

func.func @ui8_middle(%x: tensor<5x37x19xui8>)
    -> (tensor<5x19xui8>, tensor<5x19xui8>, tensor<5x19xui8>, tensor<5x19xui8>) {
  %add = metaop.reduce add %x dims = [1] : tensor<5x37x19xui8> -> tensor<5x19xui8>
  %max = metaop.reduce max %x dims = [1] : tensor<5x37x19xui8> -> tensor<5x19xui8>
  %min = metaop.reduce min %x dims = [1] : tensor<5x37x19xui8> -> tensor<5x19xui8>
  %mul = metaop.reduce mul %x dims = [1] : tensor<5x37x19xui8> -> tensor<5x19xui8>
  return %add, %max, %min, %mul : tensor<5x19xui8>, tensor<5x19xui8>, tensor<5x19xui8>, tensor<5x19xui8>
}

func.func @ui8_first(%x: tensor<5x37x19xui8>)
    -> (tensor<37x19xui8>, tensor<37x19xui8>, tensor<37x19xui8>, tensor<37x19xui8>) {
  %add = metaop.reduce add %x dims = [0] : tensor<5x37x19xui8> -> tensor<37x19xui8>
  %max = metaop.reduce max %x dims = [0] : tensor<5x37x19xui8> -> tensor<37x19xui8>
  %min = metaop.reduce min %x dims = [0] : tensor<5x37x19xui8> -> tensor<37x19xui8>
  %mul = metaop.reduce mul %x dims = [0] : tensor<5x37x19xui8> -> tensor<37x19xui8>
  return %add, %max, %min, %mul : tensor<37x19xui8>, tensor<37x19xui8>, tensor<37x19xui8>, tensor<37x19xui8>
}

func.func @ui8_ends(%x: tensor<5x37x19xui8>)
    -> (tensor<37xui8>, tensor<37xui8>, tensor<37xui8>, tensor<37xui8>) {
  %add = metaop.reduce add %x dims = [0, 2] : tensor<5x37x19xui8> -> tensor<37xui8>
  %max = metaop.reduce max %x dims = [0, 2] : tensor<5x37x19xui8> -> tensor<37xui8>
  %min = metaop.reduce min %x dims = [0, 2] : tensor<5x37x19xui8> -> tensor<37xui8>
  %mul = metaop.reduce mul %x dims = [0, 2] : tensor<5x37x19xui8> -> tensor<37xui8>
  return %add, %max, %min, %mul : tensor<37xui8>, tensor<37xui8>, tensor<37xui8>, tensor<37xui8>
}

func.func @ui8_all(%x: tensor<5x37x19xui8>)
    -> (tensor<ui8>, tensor<ui8>, tensor<ui8>, tensor<ui8>) {
  %add = metaop.reduce add %x dims = [0, 1, 2] : tensor<5x37x19xui8> -> tensor<ui8>
  %max = metaop.reduce max %x dims = [0, 1, 2] : tensor<5x37x19xui8> -> tensor<ui8>
  %min = metaop.reduce min %x dims = [0, 1, 2] : tensor<5x37x19xui8> -> tensor<ui8>
  %mul = metaop.reduce mul %x dims = [0, 1, 2] : tensor<5x37x19xui8> -> tensor<ui8>
  return %add, %max, %min, %mul : tensor<ui8>, tensor<ui8>, tensor<ui8>, tensor<ui8>
}

func.func @booleans(%x: tensor<13x37xi1>) -> (tensor<13xi1>, tensor<37xi1>, tensor<i1>) {
  %r = metaop.reduce and %x dims = [1] : tensor<13x37xi1> -> tensor<13xi1>
  %q = metaop.reduce or %x dims = [0] : tensor<13x37xi1> -> tensor<37xi1>
  %s = metaop.reduce xor %x dims = [0,1] : tensor<13x37xi1> -> tensor<i1>
  return %r, %q, %s : tensor<13xi1>, tensor<37xi1>, tensor<i1>
}

// Rows of several vectors, rows and columns at once, and a long sum.
func.func @both(%x: tensor<70x80xf32>) -> (tensor<80xf32>, tensor<70xf32>, tensor<f32>) {
  %e = metaop.sqrt %x : tensor<70x80xf32>
  %e2 = metaop.mul %x, %x : tensor<70x80xf32>
  %y = metaop.reduce add %e2 dims = [0] : tensor<70x80xf32> -> tensor<80xf32>
  %z = metaop.reduce add %e2 dims = [1] : tensor<70x80xf32> -> tensor<70xf32>
  %w = metaop.reduce max %x dims = [0,1] : tensor<70x80xf32> -> tensor<f32>
  return %y, %z, %w : tensor<80xf32>, tensor<70xf32>, tensor<f32>
}

func.func @long(%x: tensor<200000xf32>) -> tensor<f32> {
  %y = metaop.reduce add %x dims = [0] : tensor<200000xf32> -> tensor<f32>
  return %y : tensor<f32>
}

func.func @long_columns(%x: tensor<64x20000xf32>) -> (tensor<20000xf32>, tensor<64xf32>) {
  %0 = metaop.reduce add %x dims = [0] : tensor<64x20000xf32> -> tensor<20000xf32>
  %1 = metaop.reduce add %x dims = [1] : tensor<64x20000xf32> -> tensor<64xf32>
  return %0, %1 : tensor<20000xf32>, tensor<64xf32>
}
