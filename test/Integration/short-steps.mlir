// RUN: metaop-run %s --compare --seed=1
// RUN: metaop-run %s --compare --seed=2

// Reads and writes a few elements apart: odd extents, borders, both directions,
// all sizes of elements.

func.func @every_2_f32(%x: tensor<3x301xf32>) -> tensor<3x151xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * i)> fill -1.5 : f32 : tensor<3x301xf32> -> tensor<3x151xf32>
  return %0 : tensor<3x151xf32>
}

func.func @every_2_f32_border(%x: tensor<3x301xf32>) -> tensor<3x155xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * (i - 2))> fill -1.5 : f32 : tensor<3x301xf32> -> tensor<3x155xf32>
  return %0 : tensor<3x155xf32>
}

func.func @every_3_f32(%x: tensor<3x302xf32>) -> tensor<3x101xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 3 * i)> fill -1.5 : f32 : tensor<3x302xf32> -> tensor<3x101xf32>
  return %0 : tensor<3x101xf32>
}

func.func @every_3_f32_border(%x: tensor<3x302xf32>) -> tensor<3x105xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 3 * (i - 2))> fill -1.5 : f32 : tensor<3x302xf32> -> tensor<3x105xf32>
  return %0 : tensor<3x105xf32>
}

func.func @every_4_f32(%x: tensor<3x401xf32>) -> tensor<3x101xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * i)> fill -1.5 : f32 : tensor<3x401xf32> -> tensor<3x101xf32>
  return %0 : tensor<3x101xf32>
}

func.func @every_4_f32_border(%x: tensor<3x401xf32>) -> tensor<3x105xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * (i - 2))> fill -1.5 : f32 : tensor<3x401xf32> -> tensor<3x105xf32>
  return %0 : tensor<3x105xf32>
}

func.func @back_1_f32(%x: tensor<3x133xf32>) -> tensor<3x133xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - i)> fill -1.5 : f32 : tensor<3x133xf32> -> tensor<3x133xf32>
  return %0 : tensor<3x133xf32>
}

func.func @back_1_f32_border(%x: tensor<3x133xf32>) -> tensor<3x137xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - (i - 2))> fill -1.5 : f32 : tensor<3x133xf32> -> tensor<3x137xf32>
  return %0 : tensor<3x137xf32>
}

func.func @back_2_f32(%x: tensor<3x265xf32>) -> tensor<3x133xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * i)> fill -1.5 : f32 : tensor<3x265xf32> -> tensor<3x133xf32>
  return %0 : tensor<3x133xf32>
}

func.func @back_2_f32_border(%x: tensor<3x265xf32>) -> tensor<3x137xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * (i - 2))> fill -1.5 : f32 : tensor<3x265xf32> -> tensor<3x137xf32>
  return %0 : tensor<3x137xf32>
}

func.func @back_3_f32(%x: tensor<3x400xf32>) -> tensor<3x134xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 399 - 3 * i)> fill -1.5 : f32 : tensor<3x400xf32> -> tensor<3x134xf32>
  return %0 : tensor<3x134xf32>
}

func.func @back_3_f32_border(%x: tensor<3x400xf32>) -> tensor<3x138xf32> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 399 - 3 * (i - 2))> fill -1.5 : f32 : tensor<3x400xf32> -> tensor<3x138xf32>
  return %0 : tensor<3x138xf32>
}

func.func @every_2_f16(%x: tensor<3x301xf16>) -> tensor<3x151xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * i)> fill -1.5 : f16 : tensor<3x301xf16> -> tensor<3x151xf16>
  return %0 : tensor<3x151xf16>
}

func.func @every_2_f16_border(%x: tensor<3x301xf16>) -> tensor<3x155xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * (i - 2))> fill -1.5 : f16 : tensor<3x301xf16> -> tensor<3x155xf16>
  return %0 : tensor<3x155xf16>
}

func.func @every_3_f16(%x: tensor<3x302xf16>) -> tensor<3x101xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 3 * i)> fill -1.5 : f16 : tensor<3x302xf16> -> tensor<3x101xf16>
  return %0 : tensor<3x101xf16>
}

func.func @every_3_f16_border(%x: tensor<3x302xf16>) -> tensor<3x105xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 3 * (i - 2))> fill -1.5 : f16 : tensor<3x302xf16> -> tensor<3x105xf16>
  return %0 : tensor<3x105xf16>
}

func.func @every_4_f16(%x: tensor<3x401xf16>) -> tensor<3x101xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * i)> fill -1.5 : f16 : tensor<3x401xf16> -> tensor<3x101xf16>
  return %0 : tensor<3x101xf16>
}

func.func @every_4_f16_border(%x: tensor<3x401xf16>) -> tensor<3x105xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * (i - 2))> fill -1.5 : f16 : tensor<3x401xf16> -> tensor<3x105xf16>
  return %0 : tensor<3x105xf16>
}

func.func @back_1_f16(%x: tensor<3x133xf16>) -> tensor<3x133xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - i)> fill -1.5 : f16 : tensor<3x133xf16> -> tensor<3x133xf16>
  return %0 : tensor<3x133xf16>
}

func.func @back_1_f16_border(%x: tensor<3x133xf16>) -> tensor<3x137xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - (i - 2))> fill -1.5 : f16 : tensor<3x133xf16> -> tensor<3x137xf16>
  return %0 : tensor<3x137xf16>
}

func.func @back_2_f16(%x: tensor<3x265xf16>) -> tensor<3x133xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * i)> fill -1.5 : f16 : tensor<3x265xf16> -> tensor<3x133xf16>
  return %0 : tensor<3x133xf16>
}

func.func @back_2_f16_border(%x: tensor<3x265xf16>) -> tensor<3x137xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * (i - 2))> fill -1.5 : f16 : tensor<3x265xf16> -> tensor<3x137xf16>
  return %0 : tensor<3x137xf16>
}

func.func @back_3_f16(%x: tensor<3x400xf16>) -> tensor<3x134xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 399 - 3 * i)> fill -1.5 : f16 : tensor<3x400xf16> -> tensor<3x134xf16>
  return %0 : tensor<3x134xf16>
}

func.func @back_3_f16_border(%x: tensor<3x400xf16>) -> tensor<3x138xf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 399 - 3 * (i - 2))> fill -1.5 : f16 : tensor<3x400xf16> -> tensor<3x138xf16>
  return %0 : tensor<3x138xf16>
}

func.func @every_2_i8(%x: tensor<3x301xi8>) -> tensor<3x151xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * i)> fill 3 : i8 : tensor<3x301xi8> -> tensor<3x151xi8>
  return %0 : tensor<3x151xi8>
}

func.func @every_2_i8_border(%x: tensor<3x301xi8>) -> tensor<3x155xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * (i - 2))> fill 3 : i8 : tensor<3x301xi8> -> tensor<3x155xi8>
  return %0 : tensor<3x155xi8>
}

func.func @every_3_i8(%x: tensor<3x302xi8>) -> tensor<3x101xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 3 * i)> fill 3 : i8 : tensor<3x302xi8> -> tensor<3x101xi8>
  return %0 : tensor<3x101xi8>
}

func.func @every_3_i8_border(%x: tensor<3x302xi8>) -> tensor<3x105xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 3 * (i - 2))> fill 3 : i8 : tensor<3x302xi8> -> tensor<3x105xi8>
  return %0 : tensor<3x105xi8>
}

func.func @every_4_i8(%x: tensor<3x401xi8>) -> tensor<3x101xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * i)> fill 3 : i8 : tensor<3x401xi8> -> tensor<3x101xi8>
  return %0 : tensor<3x101xi8>
}

func.func @every_4_i8_border(%x: tensor<3x401xi8>) -> tensor<3x105xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * (i - 2))> fill 3 : i8 : tensor<3x401xi8> -> tensor<3x105xi8>
  return %0 : tensor<3x105xi8>
}

func.func @back_1_i8(%x: tensor<3x133xi8>) -> tensor<3x133xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - i)> fill 3 : i8 : tensor<3x133xi8> -> tensor<3x133xi8>
  return %0 : tensor<3x133xi8>
}

func.func @back_1_i8_border(%x: tensor<3x133xi8>) -> tensor<3x137xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - (i - 2))> fill 3 : i8 : tensor<3x133xi8> -> tensor<3x137xi8>
  return %0 : tensor<3x137xi8>
}

func.func @back_2_i8(%x: tensor<3x265xi8>) -> tensor<3x133xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * i)> fill 3 : i8 : tensor<3x265xi8> -> tensor<3x133xi8>
  return %0 : tensor<3x133xi8>
}

func.func @back_2_i8_border(%x: tensor<3x265xi8>) -> tensor<3x137xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * (i - 2))> fill 3 : i8 : tensor<3x265xi8> -> tensor<3x137xi8>
  return %0 : tensor<3x137xi8>
}

func.func @back_3_i8(%x: tensor<3x400xi8>) -> tensor<3x134xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 399 - 3 * i)> fill 3 : i8 : tensor<3x400xi8> -> tensor<3x134xi8>
  return %0 : tensor<3x134xi8>
}

func.func @back_3_i8_border(%x: tensor<3x400xi8>) -> tensor<3x138xi8> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 399 - 3 * (i - 2))> fill 3 : i8 : tensor<3x400xi8> -> tensor<3x138xi8>
  return %0 : tensor<3x138xi8>
}

func.func @every_2_f64(%x: tensor<3x301xf64>) -> tensor<3x151xf64> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * i)> fill -1.5 : f64 : tensor<3x301xf64> -> tensor<3x151xf64>
  return %0 : tensor<3x151xf64>
}

func.func @every_2_f64_border(%x: tensor<3x301xf64>) -> tensor<3x155xf64> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * (i - 2))> fill -1.5 : f64 : tensor<3x301xf64> -> tensor<3x155xf64>
  return %0 : tensor<3x155xf64>
}

func.func @every_4_f64(%x: tensor<3x401xf64>) -> tensor<3x101xf64> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * i)> fill -1.5 : f64 : tensor<3x401xf64> -> tensor<3x101xf64>
  return %0 : tensor<3x101xf64>
}

func.func @every_4_f64_border(%x: tensor<3x401xf64>) -> tensor<3x105xf64> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * (i - 2))> fill -1.5 : f64 : tensor<3x401xf64> -> tensor<3x105xf64>
  return %0 : tensor<3x105xf64>
}

func.func @back_1_f64(%x: tensor<3x133xf64>) -> tensor<3x133xf64> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - i)> fill -1.5 : f64 : tensor<3x133xf64> -> tensor<3x133xf64>
  return %0 : tensor<3x133xf64>
}

func.func @back_1_f64_border(%x: tensor<3x133xf64>) -> tensor<3x137xf64> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - (i - 2))> fill -1.5 : f64 : tensor<3x133xf64> -> tensor<3x137xf64>
  return %0 : tensor<3x137xf64>
}

func.func @back_2_f64(%x: tensor<3x265xf64>) -> tensor<3x133xf64> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * i)> fill -1.5 : f64 : tensor<3x265xf64> -> tensor<3x133xf64>
  return %0 : tensor<3x133xf64>
}

func.func @back_2_f64_border(%x: tensor<3x265xf64>) -> tensor<3x137xf64> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * (i - 2))> fill -1.5 : f64 : tensor<3x265xf64> -> tensor<3x137xf64>
  return %0 : tensor<3x137xf64>
}

func.func @every_2_i1(%x: tensor<3x301xi1>) -> tensor<3x151xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * i)> fill true : tensor<3x301xi1> -> tensor<3x151xi1>
  return %0 : tensor<3x151xi1>
}

func.func @every_2_i1_border(%x: tensor<3x301xi1>) -> tensor<3x155xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * (i - 2))> fill true : tensor<3x301xi1> -> tensor<3x155xi1>
  return %0 : tensor<3x155xi1>
}

func.func @every_3_i1(%x: tensor<3x302xi1>) -> tensor<3x101xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 3 * i)> fill true : tensor<3x302xi1> -> tensor<3x101xi1>
  return %0 : tensor<3x101xi1>
}

func.func @every_3_i1_border(%x: tensor<3x302xi1>) -> tensor<3x105xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 3 * (i - 2))> fill true : tensor<3x302xi1> -> tensor<3x105xi1>
  return %0 : tensor<3x105xi1>
}

func.func @every_4_i1(%x: tensor<3x401xi1>) -> tensor<3x101xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * i)> fill true : tensor<3x401xi1> -> tensor<3x101xi1>
  return %0 : tensor<3x101xi1>
}

func.func @every_4_i1_border(%x: tensor<3x401xi1>) -> tensor<3x105xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * (i - 2))> fill true : tensor<3x401xi1> -> tensor<3x105xi1>
  return %0 : tensor<3x105xi1>
}

func.func @back_1_i1(%x: tensor<3x133xi1>) -> tensor<3x133xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - i)> fill true : tensor<3x133xi1> -> tensor<3x133xi1>
  return %0 : tensor<3x133xi1>
}

func.func @back_1_i1_border(%x: tensor<3x133xi1>) -> tensor<3x137xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - (i - 2))> fill true : tensor<3x133xi1> -> tensor<3x137xi1>
  return %0 : tensor<3x137xi1>
}

func.func @back_2_i1(%x: tensor<3x265xi1>) -> tensor<3x133xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * i)> fill true : tensor<3x265xi1> -> tensor<3x133xi1>
  return %0 : tensor<3x133xi1>
}

func.func @back_2_i1_border(%x: tensor<3x265xi1>) -> tensor<3x137xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * (i - 2))> fill true : tensor<3x265xi1> -> tensor<3x137xi1>
  return %0 : tensor<3x137xi1>
}

func.func @back_3_i1(%x: tensor<3x400xi1>) -> tensor<3x134xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 399 - 3 * i)> fill true : tensor<3x400xi1> -> tensor<3x134xi1>
  return %0 : tensor<3x134xi1>
}

func.func @back_3_i1_border(%x: tensor<3x400xi1>) -> tensor<3x138xi1> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 399 - 3 * (i - 2))> fill true : tensor<3x400xi1> -> tensor<3x138xi1>
  return %0 : tensor<3x138xi1>
}

func.func @every_2_bf16(%x: tensor<3x301xbf16>) -> tensor<3x151xbf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * i)> fill -1.5 : bf16 : tensor<3x301xbf16> -> tensor<3x151xbf16>
  return %0 : tensor<3x151xbf16>
}

func.func @every_2_bf16_border(%x: tensor<3x301xbf16>) -> tensor<3x155xbf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 2 * (i - 2))> fill -1.5 : bf16 : tensor<3x301xbf16> -> tensor<3x155xbf16>
  return %0 : tensor<3x155xbf16>
}

func.func @every_4_bf16(%x: tensor<3x401xbf16>) -> tensor<3x101xbf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * i)> fill -1.5 : bf16 : tensor<3x401xbf16> -> tensor<3x101xbf16>
  return %0 : tensor<3x101xbf16>
}

func.func @every_4_bf16_border(%x: tensor<3x401xbf16>) -> tensor<3x105xbf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 4 * (i - 2))> fill -1.5 : bf16 : tensor<3x401xbf16> -> tensor<3x105xbf16>
  return %0 : tensor<3x105xbf16>
}

func.func @back_1_bf16(%x: tensor<3x133xbf16>) -> tensor<3x133xbf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - i)> fill -1.5 : bf16 : tensor<3x133xbf16> -> tensor<3x133xbf16>
  return %0 : tensor<3x133xbf16>
}

func.func @back_1_bf16_border(%x: tensor<3x133xbf16>) -> tensor<3x137xbf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 132 - (i - 2))> fill -1.5 : bf16 : tensor<3x133xbf16> -> tensor<3x137xbf16>
  return %0 : tensor<3x137xbf16>
}

func.func @back_2_bf16(%x: tensor<3x265xbf16>) -> tensor<3x133xbf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * i)> fill -1.5 : bf16 : tensor<3x265xbf16> -> tensor<3x133xbf16>
  return %0 : tensor<3x133xbf16>
}

func.func @back_2_bf16_border(%x: tensor<3x265xbf16>) -> tensor<3x137xbf16> {
  %0 = metaop.reindex %x map affine_map<(j, i) -> (j, 264 - 2 * (i - 2))> fill -1.5 : bf16 : tensor<3x265xbf16> -> tensor<3x137xbf16>
  return %0 : tensor<3x137xbf16>
}

func.func @spread_2_1_0_add_f32(%x: tensor<3x75x1xf32>) -> tensor<3x149xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xf32> -> tensor<3x149xf32>
  return %0 : tensor<3x149xf32>
}

func.func @spread_2_1_1_add_f32(%x: tensor<3x75x1xf32>) -> tensor<3x150xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xf32> -> tensor<3x150xf32>
  return %0 : tensor<3x150xf32>
}

func.func @spread_2_2_0_add_f32(%x: tensor<3x75x2xf32>) -> tensor<3x149xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x149xf32>
  return %0 : tensor<3x149xf32>
}

func.func @spread_2_2_1_add_f32(%x: tensor<3x75x2xf32>) -> tensor<3x150xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x150xf32>
  return %0 : tensor<3x150xf32>
}

func.func @spread_2_3_0_add_f32(%x: tensor<3x70x3xf32>) -> tensor<3x140xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x140xf32>
  return %0 : tensor<3x140xf32>
}

func.func @spread_2_3_1_add_f32(%x: tensor<3x70x3xf32>) -> tensor<3x141xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x141xf32>
  return %0 : tensor<3x141xf32>
}

func.func @spread_2_5_0_add_f32(%x: tensor<3x66x5xf32>) -> tensor<3x134xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x134xf32>
  return %0 : tensor<3x134xf32>
}

func.func @spread_2_5_1_add_f32(%x: tensor<3x66x5xf32>) -> tensor<3x135xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x135xf32>
  return %0 : tensor<3x135xf32>
}

func.func @spread_3_1_0_add_f32(%x: tensor<3x75x1xf32>) -> tensor<3x223xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xf32> -> tensor<3x223xf32>
  return %0 : tensor<3x223xf32>
}

func.func @spread_3_1_1_add_f32(%x: tensor<3x75x1xf32>) -> tensor<3x224xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xf32> -> tensor<3x224xf32>
  return %0 : tensor<3x224xf32>
}

func.func @spread_3_2_0_add_f32(%x: tensor<3x75x2xf32>) -> tensor<3x223xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x223xf32>
  return %0 : tensor<3x223xf32>
}

func.func @spread_3_2_1_add_f32(%x: tensor<3x75x2xf32>) -> tensor<3x224xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x224xf32>
  return %0 : tensor<3x224xf32>
}

func.func @spread_3_3_0_add_f32(%x: tensor<3x70x3xf32>) -> tensor<3x209xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x209xf32>
  return %0 : tensor<3x209xf32>
}

func.func @spread_3_3_1_add_f32(%x: tensor<3x70x3xf32>) -> tensor<3x210xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x210xf32>
  return %0 : tensor<3x210xf32>
}

func.func @spread_3_5_0_add_f32(%x: tensor<3x66x5xf32>) -> tensor<3x199xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x199xf32>
  return %0 : tensor<3x199xf32>
}

func.func @spread_3_5_1_add_f32(%x: tensor<3x66x5xf32>) -> tensor<3x200xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x200xf32>
  return %0 : tensor<3x200xf32>
}

func.func @spread_4_1_0_add_f32(%x: tensor<3x75x1xf32>) -> tensor<3x297xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xf32> -> tensor<3x297xf32>
  return %0 : tensor<3x297xf32>
}

func.func @spread_4_1_1_add_f32(%x: tensor<3x75x1xf32>) -> tensor<3x298xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xf32> -> tensor<3x298xf32>
  return %0 : tensor<3x298xf32>
}

func.func @spread_4_2_0_add_f32(%x: tensor<3x75x2xf32>) -> tensor<3x297xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x297xf32>
  return %0 : tensor<3x297xf32>
}

func.func @spread_4_2_1_add_f32(%x: tensor<3x75x2xf32>) -> tensor<3x298xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x298xf32>
  return %0 : tensor<3x298xf32>
}

func.func @spread_4_3_0_add_f32(%x: tensor<3x70x3xf32>) -> tensor<3x278xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x278xf32>
  return %0 : tensor<3x278xf32>
}

func.func @spread_4_3_1_add_f32(%x: tensor<3x70x3xf32>) -> tensor<3x279xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x279xf32>
  return %0 : tensor<3x279xf32>
}

func.func @spread_4_5_0_add_f32(%x: tensor<3x66x5xf32>) -> tensor<3x264xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x264xf32>
  return %0 : tensor<3x264xf32>
}

func.func @spread_4_5_1_add_f32(%x: tensor<3x66x5xf32>) -> tensor<3x265xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x265xf32>
  return %0 : tensor<3x265xf32>
}

func.func @spread_2_1_0_add_f16(%x: tensor<3x75x1xf16>) -> tensor<3x149xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xf16> -> tensor<3x149xf16>
  return %0 : tensor<3x149xf16>
}

func.func @spread_2_1_1_add_f16(%x: tensor<3x75x1xf16>) -> tensor<3x150xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xf16> -> tensor<3x150xf16>
  return %0 : tensor<3x150xf16>
}

func.func @spread_2_2_0_add_f16(%x: tensor<3x75x2xf16>) -> tensor<3x149xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xf16> -> tensor<3x149xf16>
  return %0 : tensor<3x149xf16>
}

func.func @spread_2_2_1_add_f16(%x: tensor<3x75x2xf16>) -> tensor<3x150xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xf16> -> tensor<3x150xf16>
  return %0 : tensor<3x150xf16>
}

func.func @spread_2_3_0_add_f16(%x: tensor<3x70x3xf16>) -> tensor<3x140xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xf16> -> tensor<3x140xf16>
  return %0 : tensor<3x140xf16>
}

func.func @spread_2_3_1_add_f16(%x: tensor<3x70x3xf16>) -> tensor<3x141xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xf16> -> tensor<3x141xf16>
  return %0 : tensor<3x141xf16>
}

func.func @spread_2_5_0_add_f16(%x: tensor<3x66x5xf16>) -> tensor<3x134xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x66x5xf16> -> tensor<3x134xf16>
  return %0 : tensor<3x134xf16>
}

func.func @spread_2_5_1_add_f16(%x: tensor<3x66x5xf16>) -> tensor<3x135xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x66x5xf16> -> tensor<3x135xf16>
  return %0 : tensor<3x135xf16>
}

func.func @spread_3_1_0_add_f16(%x: tensor<3x75x1xf16>) -> tensor<3x223xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xf16> -> tensor<3x223xf16>
  return %0 : tensor<3x223xf16>
}

func.func @spread_3_1_1_add_f16(%x: tensor<3x75x1xf16>) -> tensor<3x224xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xf16> -> tensor<3x224xf16>
  return %0 : tensor<3x224xf16>
}

func.func @spread_3_2_0_add_f16(%x: tensor<3x75x2xf16>) -> tensor<3x223xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xf16> -> tensor<3x223xf16>
  return %0 : tensor<3x223xf16>
}

func.func @spread_3_2_1_add_f16(%x: tensor<3x75x2xf16>) -> tensor<3x224xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xf16> -> tensor<3x224xf16>
  return %0 : tensor<3x224xf16>
}

func.func @spread_3_3_0_add_f16(%x: tensor<3x70x3xf16>) -> tensor<3x209xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xf16> -> tensor<3x209xf16>
  return %0 : tensor<3x209xf16>
}

func.func @spread_3_3_1_add_f16(%x: tensor<3x70x3xf16>) -> tensor<3x210xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xf16> -> tensor<3x210xf16>
  return %0 : tensor<3x210xf16>
}

func.func @spread_3_5_0_add_f16(%x: tensor<3x66x5xf16>) -> tensor<3x199xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x66x5xf16> -> tensor<3x199xf16>
  return %0 : tensor<3x199xf16>
}

func.func @spread_3_5_1_add_f16(%x: tensor<3x66x5xf16>) -> tensor<3x200xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x66x5xf16> -> tensor<3x200xf16>
  return %0 : tensor<3x200xf16>
}

func.func @spread_4_1_0_add_f16(%x: tensor<3x75x1xf16>) -> tensor<3x297xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xf16> -> tensor<3x297xf16>
  return %0 : tensor<3x297xf16>
}

func.func @spread_4_1_1_add_f16(%x: tensor<3x75x1xf16>) -> tensor<3x298xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xf16> -> tensor<3x298xf16>
  return %0 : tensor<3x298xf16>
}

func.func @spread_4_2_0_add_f16(%x: tensor<3x75x2xf16>) -> tensor<3x297xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xf16> -> tensor<3x297xf16>
  return %0 : tensor<3x297xf16>
}

func.func @spread_4_2_1_add_f16(%x: tensor<3x75x2xf16>) -> tensor<3x298xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xf16> -> tensor<3x298xf16>
  return %0 : tensor<3x298xf16>
}

func.func @spread_4_3_0_add_f16(%x: tensor<3x70x3xf16>) -> tensor<3x278xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xf16> -> tensor<3x278xf16>
  return %0 : tensor<3x278xf16>
}

func.func @spread_4_3_1_add_f16(%x: tensor<3x70x3xf16>) -> tensor<3x279xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xf16> -> tensor<3x279xf16>
  return %0 : tensor<3x279xf16>
}

func.func @spread_4_5_0_add_f16(%x: tensor<3x66x5xf16>) -> tensor<3x264xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x66x5xf16> -> tensor<3x264xf16>
  return %0 : tensor<3x264xf16>
}

func.func @spread_4_5_1_add_f16(%x: tensor<3x66x5xf16>) -> tensor<3x265xf16> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x66x5xf16> -> tensor<3x265xf16>
  return %0 : tensor<3x265xf16>
}

func.func @spread_2_1_0_add_i8(%x: tensor<3x75x1xi8>) -> tensor<3x149xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xi8> -> tensor<3x149xi8>
  return %0 : tensor<3x149xi8>
}

func.func @spread_2_1_1_add_i8(%x: tensor<3x75x1xi8>) -> tensor<3x150xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xi8> -> tensor<3x150xi8>
  return %0 : tensor<3x150xi8>
}

func.func @spread_2_2_0_add_i8(%x: tensor<3x75x2xi8>) -> tensor<3x149xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xi8> -> tensor<3x149xi8>
  return %0 : tensor<3x149xi8>
}

func.func @spread_2_2_1_add_i8(%x: tensor<3x75x2xi8>) -> tensor<3x150xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xi8> -> tensor<3x150xi8>
  return %0 : tensor<3x150xi8>
}

func.func @spread_2_3_0_add_i8(%x: tensor<3x70x3xi8>) -> tensor<3x140xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xi8> -> tensor<3x140xi8>
  return %0 : tensor<3x140xi8>
}

func.func @spread_2_3_1_add_i8(%x: tensor<3x70x3xi8>) -> tensor<3x141xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xi8> -> tensor<3x141xi8>
  return %0 : tensor<3x141xi8>
}

func.func @spread_2_5_0_add_i8(%x: tensor<3x66x5xi8>) -> tensor<3x134xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x66x5xi8> -> tensor<3x134xi8>
  return %0 : tensor<3x134xi8>
}

func.func @spread_2_5_1_add_i8(%x: tensor<3x66x5xi8>) -> tensor<3x135xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x66x5xi8> -> tensor<3x135xi8>
  return %0 : tensor<3x135xi8>
}

func.func @spread_3_1_0_add_i8(%x: tensor<3x75x1xi8>) -> tensor<3x223xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xi8> -> tensor<3x223xi8>
  return %0 : tensor<3x223xi8>
}

func.func @spread_3_1_1_add_i8(%x: tensor<3x75x1xi8>) -> tensor<3x224xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xi8> -> tensor<3x224xi8>
  return %0 : tensor<3x224xi8>
}

func.func @spread_3_2_0_add_i8(%x: tensor<3x75x2xi8>) -> tensor<3x223xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xi8> -> tensor<3x223xi8>
  return %0 : tensor<3x223xi8>
}

func.func @spread_3_2_1_add_i8(%x: tensor<3x75x2xi8>) -> tensor<3x224xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xi8> -> tensor<3x224xi8>
  return %0 : tensor<3x224xi8>
}

func.func @spread_3_3_0_add_i8(%x: tensor<3x70x3xi8>) -> tensor<3x209xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xi8> -> tensor<3x209xi8>
  return %0 : tensor<3x209xi8>
}

func.func @spread_3_3_1_add_i8(%x: tensor<3x70x3xi8>) -> tensor<3x210xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xi8> -> tensor<3x210xi8>
  return %0 : tensor<3x210xi8>
}

func.func @spread_3_5_0_add_i8(%x: tensor<3x66x5xi8>) -> tensor<3x199xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x66x5xi8> -> tensor<3x199xi8>
  return %0 : tensor<3x199xi8>
}

func.func @spread_3_5_1_add_i8(%x: tensor<3x66x5xi8>) -> tensor<3x200xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x66x5xi8> -> tensor<3x200xi8>
  return %0 : tensor<3x200xi8>
}

func.func @spread_4_1_0_add_i8(%x: tensor<3x75x1xi8>) -> tensor<3x297xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xi8> -> tensor<3x297xi8>
  return %0 : tensor<3x297xi8>
}

func.func @spread_4_1_1_add_i8(%x: tensor<3x75x1xi8>) -> tensor<3x298xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xi8> -> tensor<3x298xi8>
  return %0 : tensor<3x298xi8>
}

func.func @spread_4_2_0_add_i8(%x: tensor<3x75x2xi8>) -> tensor<3x297xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xi8> -> tensor<3x297xi8>
  return %0 : tensor<3x297xi8>
}

func.func @spread_4_2_1_add_i8(%x: tensor<3x75x2xi8>) -> tensor<3x298xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xi8> -> tensor<3x298xi8>
  return %0 : tensor<3x298xi8>
}

func.func @spread_4_3_0_add_i8(%x: tensor<3x70x3xi8>) -> tensor<3x278xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xi8> -> tensor<3x278xi8>
  return %0 : tensor<3x278xi8>
}

func.func @spread_4_3_1_add_i8(%x: tensor<3x70x3xi8>) -> tensor<3x279xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xi8> -> tensor<3x279xi8>
  return %0 : tensor<3x279xi8>
}

func.func @spread_4_5_0_add_i8(%x: tensor<3x66x5xi8>) -> tensor<3x264xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x66x5xi8> -> tensor<3x264xi8>
  return %0 : tensor<3x264xi8>
}

func.func @spread_4_5_1_add_i8(%x: tensor<3x66x5xi8>) -> tensor<3x265xi8> {
  %0 = metaop.reindex_reduce add %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x66x5xi8> -> tensor<3x265xi8>
  return %0 : tensor<3x265xi8>
}

func.func @spread_2_1_0_or_i1(%x: tensor<3x75x1xi1>) -> tensor<3x149xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xi1> -> tensor<3x149xi1>
  return %0 : tensor<3x149xi1>
}

func.func @spread_2_1_1_or_i1(%x: tensor<3x75x1xi1>) -> tensor<3x150xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xi1> -> tensor<3x150xi1>
  return %0 : tensor<3x150xi1>
}

func.func @spread_2_2_0_or_i1(%x: tensor<3x75x2xi1>) -> tensor<3x149xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xi1> -> tensor<3x149xi1>
  return %0 : tensor<3x149xi1>
}

func.func @spread_2_2_1_or_i1(%x: tensor<3x75x2xi1>) -> tensor<3x150xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xi1> -> tensor<3x150xi1>
  return %0 : tensor<3x150xi1>
}

func.func @spread_2_3_0_or_i1(%x: tensor<3x70x3xi1>) -> tensor<3x140xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xi1> -> tensor<3x140xi1>
  return %0 : tensor<3x140xi1>
}

func.func @spread_2_3_1_or_i1(%x: tensor<3x70x3xi1>) -> tensor<3x141xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xi1> -> tensor<3x141xi1>
  return %0 : tensor<3x141xi1>
}

func.func @spread_3_1_0_or_i1(%x: tensor<3x75x1xi1>) -> tensor<3x223xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xi1> -> tensor<3x223xi1>
  return %0 : tensor<3x223xi1>
}

func.func @spread_3_1_1_or_i1(%x: tensor<3x75x1xi1>) -> tensor<3x224xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xi1> -> tensor<3x224xi1>
  return %0 : tensor<3x224xi1>
}

func.func @spread_3_2_0_or_i1(%x: tensor<3x75x2xi1>) -> tensor<3x223xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xi1> -> tensor<3x223xi1>
  return %0 : tensor<3x223xi1>
}

func.func @spread_3_2_1_or_i1(%x: tensor<3x75x2xi1>) -> tensor<3x224xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xi1> -> tensor<3x224xi1>
  return %0 : tensor<3x224xi1>
}

func.func @spread_3_3_0_or_i1(%x: tensor<3x70x3xi1>) -> tensor<3x209xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xi1> -> tensor<3x209xi1>
  return %0 : tensor<3x209xi1>
}

func.func @spread_3_3_1_or_i1(%x: tensor<3x70x3xi1>) -> tensor<3x210xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xi1> -> tensor<3x210xi1>
  return %0 : tensor<3x210xi1>
}

func.func @spread_4_1_0_or_i1(%x: tensor<3x75x1xi1>) -> tensor<3x297xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xi1> -> tensor<3x297xi1>
  return %0 : tensor<3x297xi1>
}

func.func @spread_4_1_1_or_i1(%x: tensor<3x75x1xi1>) -> tensor<3x298xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xi1> -> tensor<3x298xi1>
  return %0 : tensor<3x298xi1>
}

func.func @spread_4_2_0_or_i1(%x: tensor<3x75x2xi1>) -> tensor<3x297xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xi1> -> tensor<3x297xi1>
  return %0 : tensor<3x297xi1>
}

func.func @spread_4_2_1_or_i1(%x: tensor<3x75x2xi1>) -> tensor<3x298xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xi1> -> tensor<3x298xi1>
  return %0 : tensor<3x298xi1>
}

func.func @spread_4_3_0_or_i1(%x: tensor<3x70x3xi1>) -> tensor<3x278xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xi1> -> tensor<3x278xi1>
  return %0 : tensor<3x278xi1>
}

func.func @spread_4_3_1_or_i1(%x: tensor<3x70x3xi1>) -> tensor<3x279xi1> {
  %0 = metaop.reindex_reduce or %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xi1> -> tensor<3x279xi1>
  return %0 : tensor<3x279xi1>
}

func.func @spread_2_1_0_max_f64(%x: tensor<3x75x1xf64>) -> tensor<3x149xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xf64> -> tensor<3x149xf64>
  return %0 : tensor<3x149xf64>
}

func.func @spread_2_1_1_max_f64(%x: tensor<3x75x1xf64>) -> tensor<3x150xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xf64> -> tensor<3x150xf64>
  return %0 : tensor<3x150xf64>
}

func.func @spread_2_2_0_max_f64(%x: tensor<3x75x2xf64>) -> tensor<3x149xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xf64> -> tensor<3x149xf64>
  return %0 : tensor<3x149xf64>
}

func.func @spread_2_2_1_max_f64(%x: tensor<3x75x2xf64>) -> tensor<3x150xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xf64> -> tensor<3x150xf64>
  return %0 : tensor<3x150xf64>
}

func.func @spread_2_3_0_max_f64(%x: tensor<3x70x3xf64>) -> tensor<3x140xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xf64> -> tensor<3x140xf64>
  return %0 : tensor<3x140xf64>
}

func.func @spread_2_3_1_max_f64(%x: tensor<3x70x3xf64>) -> tensor<3x141xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xf64> -> tensor<3x141xf64>
  return %0 : tensor<3x141xf64>
}

func.func @spread_3_1_0_max_f64(%x: tensor<3x75x1xf64>) -> tensor<3x223xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xf64> -> tensor<3x223xf64>
  return %0 : tensor<3x223xf64>
}

func.func @spread_3_1_1_max_f64(%x: tensor<3x75x1xf64>) -> tensor<3x224xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xf64> -> tensor<3x224xf64>
  return %0 : tensor<3x224xf64>
}

func.func @spread_3_2_0_max_f64(%x: tensor<3x75x2xf64>) -> tensor<3x223xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xf64> -> tensor<3x223xf64>
  return %0 : tensor<3x223xf64>
}

func.func @spread_3_2_1_max_f64(%x: tensor<3x75x2xf64>) -> tensor<3x224xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xf64> -> tensor<3x224xf64>
  return %0 : tensor<3x224xf64>
}

func.func @spread_3_3_0_max_f64(%x: tensor<3x70x3xf64>) -> tensor<3x209xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xf64> -> tensor<3x209xf64>
  return %0 : tensor<3x209xf64>
}

func.func @spread_3_3_1_max_f64(%x: tensor<3x70x3xf64>) -> tensor<3x210xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xf64> -> tensor<3x210xf64>
  return %0 : tensor<3x210xf64>
}

func.func @spread_4_1_0_max_f64(%x: tensor<3x75x1xf64>) -> tensor<3x297xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xf64> -> tensor<3x297xf64>
  return %0 : tensor<3x297xf64>
}

func.func @spread_4_1_1_max_f64(%x: tensor<3x75x1xf64>) -> tensor<3x298xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xf64> -> tensor<3x298xf64>
  return %0 : tensor<3x298xf64>
}

func.func @spread_4_2_0_max_f64(%x: tensor<3x75x2xf64>) -> tensor<3x297xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xf64> -> tensor<3x297xf64>
  return %0 : tensor<3x297xf64>
}

func.func @spread_4_2_1_max_f64(%x: tensor<3x75x2xf64>) -> tensor<3x298xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xf64> -> tensor<3x298xf64>
  return %0 : tensor<3x298xf64>
}

func.func @spread_4_3_0_max_f64(%x: tensor<3x70x3xf64>) -> tensor<3x278xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xf64> -> tensor<3x278xf64>
  return %0 : tensor<3x278xf64>
}

func.func @spread_4_3_1_max_f64(%x: tensor<3x70x3xf64>) -> tensor<3x279xf64> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xf64> -> tensor<3x279xf64>
  return %0 : tensor<3x279xf64>
}

func.func @spread_2_1_0_max_f32(%x: tensor<3x75x1xf32>) -> tensor<3x149xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xf32> -> tensor<3x149xf32>
  return %0 : tensor<3x149xf32>
}

func.func @spread_2_1_1_max_f32(%x: tensor<3x75x1xf32>) -> tensor<3x150xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j)> : tensor<3x75x1xf32> -> tensor<3x150xf32>
  return %0 : tensor<3x150xf32>
}

func.func @spread_2_2_0_max_f32(%x: tensor<3x75x2xf32>) -> tensor<3x149xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x149xf32>
  return %0 : tensor<3x149xf32>
}

func.func @spread_2_2_1_max_f32(%x: tensor<3x75x2xf32>) -> tensor<3x150xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x150xf32>
  return %0 : tensor<3x150xf32>
}

func.func @spread_2_3_0_max_f32(%x: tensor<3x70x3xf32>) -> tensor<3x140xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x140xf32>
  return %0 : tensor<3x140xf32>
}

func.func @spread_2_3_1_max_f32(%x: tensor<3x70x3xf32>) -> tensor<3x141xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x141xf32>
  return %0 : tensor<3x141xf32>
}

func.func @spread_2_5_0_max_f32(%x: tensor<3x66x5xf32>) -> tensor<3x134xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x134xf32>
  return %0 : tensor<3x134xf32>
}

func.func @spread_2_5_1_max_f32(%x: tensor<3x66x5xf32>) -> tensor<3x135xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 2 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x135xf32>
  return %0 : tensor<3x135xf32>
}

func.func @spread_3_1_0_max_f32(%x: tensor<3x75x1xf32>) -> tensor<3x223xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xf32> -> tensor<3x223xf32>
  return %0 : tensor<3x223xf32>
}

func.func @spread_3_1_1_max_f32(%x: tensor<3x75x1xf32>) -> tensor<3x224xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j)> : tensor<3x75x1xf32> -> tensor<3x224xf32>
  return %0 : tensor<3x224xf32>
}

func.func @spread_3_2_0_max_f32(%x: tensor<3x75x2xf32>) -> tensor<3x223xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x223xf32>
  return %0 : tensor<3x223xf32>
}

func.func @spread_3_2_1_max_f32(%x: tensor<3x75x2xf32>) -> tensor<3x224xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x224xf32>
  return %0 : tensor<3x224xf32>
}

func.func @spread_3_3_0_max_f32(%x: tensor<3x70x3xf32>) -> tensor<3x209xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x209xf32>
  return %0 : tensor<3x209xf32>
}

func.func @spread_3_3_1_max_f32(%x: tensor<3x70x3xf32>) -> tensor<3x210xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x210xf32>
  return %0 : tensor<3x210xf32>
}

func.func @spread_3_5_0_max_f32(%x: tensor<3x66x5xf32>) -> tensor<3x199xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x199xf32>
  return %0 : tensor<3x199xf32>
}

func.func @spread_3_5_1_max_f32(%x: tensor<3x66x5xf32>) -> tensor<3x200xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 3 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x200xf32>
  return %0 : tensor<3x200xf32>
}

func.func @spread_4_1_0_max_f32(%x: tensor<3x75x1xf32>) -> tensor<3x297xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xf32> -> tensor<3x297xf32>
  return %0 : tensor<3x297xf32>
}

func.func @spread_4_1_1_max_f32(%x: tensor<3x75x1xf32>) -> tensor<3x298xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j)> : tensor<3x75x1xf32> -> tensor<3x298xf32>
  return %0 : tensor<3x298xf32>
}

func.func @spread_4_2_0_max_f32(%x: tensor<3x75x2xf32>) -> tensor<3x297xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x297xf32>
  return %0 : tensor<3x297xf32>
}

func.func @spread_4_2_1_max_f32(%x: tensor<3x75x2xf32>) -> tensor<3x298xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x75x2xf32> -> tensor<3x298xf32>
  return %0 : tensor<3x298xf32>
}

func.func @spread_4_3_0_max_f32(%x: tensor<3x70x3xf32>) -> tensor<3x278xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x278xf32>
  return %0 : tensor<3x278xf32>
}

func.func @spread_4_3_1_max_f32(%x: tensor<3x70x3xf32>) -> tensor<3x279xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x70x3xf32> -> tensor<3x279xf32>
  return %0 : tensor<3x279xf32>
}

func.func @spread_4_5_0_max_f32(%x: tensor<3x66x5xf32>) -> tensor<3x264xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x264xf32>
  return %0 : tensor<3x264xf32>
}

func.func @spread_4_5_1_max_f32(%x: tensor<3x66x5xf32>) -> tensor<3x265xf32> {
  %0 = metaop.reindex_reduce max %x map affine_map<(n, i, j) -> (n, 4 * i + j - 1)> : tensor<3x66x5xf32> -> tensor<3x265xf32>
  return %0 : tensor<3x265xf32>
}
