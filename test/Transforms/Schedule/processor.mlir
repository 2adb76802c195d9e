// The facts of the processor decide how large tiles, blocks and panels are.
// RUN: metaop-opt %s -metaop-schedule-contractions -metaop-schedule | FileCheck %s --check-prefix=AVX512
// RUN: metaop-opt %s -metaop-schedule-contractions="processor=avx512" -metaop-schedule="processor=avx512" | FileCheck %s --check-prefix=AVX512
// RUN: metaop-opt %s -metaop-schedule-contractions="processor=avx2" -metaop-schedule="processor=avx2" | FileCheck %s --check-prefix=AVX2
// RUN: metaop-opt %s -metaop-schedule-contractions="processor={vector-bits=256 registers=16 l1=32768 l2=524288}" -metaop-schedule="processor={vector-bits=256 registers=16 l1=32768 l2=524288}" | FileCheck %s --check-prefix=AVX2
// RUN: metaop-opt %s -metaop-schedule-contractions="processor=neon" -metaop-schedule="processor=neon" | FileCheck %s --check-prefix=NEON
// RUN: metaop-opt %s -metaop-schedule-contractions="processor={sse registers=32}" -metaop-schedule="processor={sse registers=32}" | FileCheck %s --check-prefix=NEON
// RUN: metaop-opt %s -metaop-schedule-contractions="processor=scalar" -metaop-schedule="processor=scalar" | FileCheck %s --check-prefix=SCALAR

// 32 registers of 16 numbers: 14 rows of two vectors, and what they are made of.
// AVX512: tile = [0: 14, 2: 32], lanes = 2: 16
// 16 registers of 8: 6 rows.
// AVX2: tile = [0: 6, 2: 16], lanes = 2: 8
// 32 registers of 4.
// NEON: tile = [0: 14, 2: 8], lanes = 2: 4
// SCALAR-NOT: lanes =

// What passes were given is printed, and read again.
// RUN: metaop-opt %s -metaop-join-stages="processor={avx2 stream=7}" -dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=PRINTED
// PRINTED: metaop-join-stages{processor={vector-bits=256 registers=16 l1=32768 l2=524288 stream=7 fma=1 vector-math=1} report=false}

// RUN: not metaop-opt %s -metaop-schedule="processor=mmx" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: there is no processor 'mmx'; expected one of scalar, sse, avx2, avx512, neon
// RUN: not metaop-opt %s -metaop-schedule="processor={l3=5}" 2>&1 | FileCheck %s --check-prefix=FACT
// FACT: there is no fact 'l3' of a processor; expected one of vector-bits, registers, l1, l2, stream, fma, vector-math
// RUN: not metaop-opt %s -metaop-schedule="processor={avx2 l2=many}" 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: expected FACT=NUMBER of a processor, given 'l2=many'

func.func @product(%x: tensor<84x128xf32>, %y: tensor<128x128xf32>) -> tensor<84x128xf32> {
  %0 = metaop.fused(%a = %x : tensor<84x128xf32>, %b = %y : tensor<128x128xf32>) -> tensor<84x128xf32> {
    %2 = metaop.reindex %a map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.000000e+00 : f32 : tensor<84x128xf32> -> tensor<84x128x128xf32>
    %3 = metaop.reindex %b map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.000000e+00 : f32 : tensor<128x128xf32> -> tensor<84x128x128xf32>
    %4 = metaop.mul %2, %3 : tensor<84x128x128xf32>
    %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<84x128x128xf32> -> tensor<84x128xf32>
    metaop.yield %5 : tensor<84x128xf32>
  }
  return %0 : tensor<84x128xf32>
}
