// RUN: metaop-opt %s --metaop-call-libraries --split-input-file | FileCheck %s
// RUN: metaop-opt %s -pass-pipeline='builtin.module(func.func(metaop-call-libraries{report=true}))' --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// REPORT-COUNT-3: remark: a library computes the product
// REPORT-NOT: remark:

#lhs = affine_map<(d0, d1, d2) -> (d0, d1)>
#transposed = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func @product
// CHECK-NOT: metaop.kernel
// CHECK: metaop.routine "product"(%arg0, %arg1)
// CHECK-SAME: extents = array<i64: 1, 128, 512, 256>
// CHECK-SAME: strides_a = array<i64: 0, 256, 1>
// CHECK-SAME: strides_b = array<i64: 0, 1, 256>
// CHECK-SAME: strides_product = array<i64: 0, 512, 1>
// CHECK-SAME: roles = ["a", "b", "product"]
// CHECK-SAME: total
func.func @product(%x: tensor<128x256xbf16>, %w: tensor<512x256xbf16>) -> tensor<128x512xf32> {
  %0 = metaop.kernel(%a = %x : tensor<128x256xbf16>, %b = %w : tensor<512x256xbf16>) -> tensor<128x512xf32> {
    %1 = metaop.fused(%c = %a : tensor<128x256xbf16>, %d = %b : tensor<512x256xbf16>) -> tensor<128x512xf32> {
      %2 = metaop.reindex %c map #lhs fill 0.0 : bf16 : tensor<128x256xbf16> -> tensor<128x256x512xbf16>
      %3 = metaop.reindex %d map #transposed fill 0.0 : bf16 : tensor<512x256xbf16> -> tensor<128x256x512xbf16>
      %4 = metaop.cast %2 : tensor<128x256x512xbf16> -> tensor<128x256x512xf32>
      %5 = metaop.cast %3 : tensor<128x256x512xbf16> -> tensor<128x256x512xf32>
      %6 = metaop.mul %4, %5 : tensor<128x256x512xf32>
      %7 = metaop.reindex_reduce add %6 map #out : tensor<128x256x512xf32> -> tensor<128x512xf32>
      metaop.yield %7 : tensor<128x512xf32>
    }
    metaop.yield %1 : tensor<128x512xf32>
  }
  return %0 : tensor<128x512xf32>
}

// -----

// A batch, whose result has its columns in front.
#lhs = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#rhs = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#out = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>

// CHECK-LABEL: func @batch
// CHECK: metaop.routine "product"(%arg0, %arg1)
// CHECK-SAME: extents = array<i64: 6, 64, 96, 32>
// CHECK-SAME: strides_a = array<i64: 2048, 32, 1>
// CHECK-SAME: strides_b = array<i64: 3072, 96, 1>
// CHECK-SAME: strides_product = array<i64: 6144, 1, 64>
func.func @batch(%x: tensor<6x64x32xbf16>, %y: tensor<6x32x96xbf16>) -> tensor<6x96x64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<6x64x32xbf16>, %b = %y : tensor<6x32x96xbf16>) -> tensor<6x96x64xf32> {
    %1 = metaop.fused(%c = %a : tensor<6x64x32xbf16>, %d = %b : tensor<6x32x96xbf16>) -> tensor<6x96x64xf32> {
      %2 = metaop.reindex %c map #lhs fill 0.0 : bf16 : tensor<6x64x32xbf16> -> tensor<6x64x32x96xbf16>
      %3 = metaop.reindex %d map #rhs fill 0.0 : bf16 : tensor<6x32x96xbf16> -> tensor<6x64x32x96xbf16>
      %4 = metaop.cast %2 : tensor<6x64x32x96xbf16> -> tensor<6x64x32x96xf32>
      %5 = metaop.cast %3 : tensor<6x64x32x96xbf16> -> tensor<6x64x32x96xf32>
      %6 = metaop.mul %4, %5 : tensor<6x64x32x96xf32>
      %7 = metaop.reindex_reduce add %6 map #out : tensor<6x64x32x96xf32> -> tensor<6x96x64xf32>
      metaop.yield %7 : tensor<6x96x64xf32>
    }
    metaop.yield %1 : tensor<6x96x64xf32>
  }
  return %0 : tensor<6x96x64xf32>
}

// -----

// Sums that all readers round are rounded by the call. One that does nothing
// else goes; another reads what is rounded.
#lhs = affine_map<(d0, d1, d2) -> (d0, d1)>
#rhs = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func @rounded
// CHECK: %[[Y:.*]] = metaop.routine "product"
// CHECK-SAME: -> tensor<128x128xbf16>
// CHECK: %[[Z:.*]] = metaop.kernel(%{{.*}} = %[[Y]] : tensor<128x128xbf16>)
// CHECK-NOT: metaop.cast
// CHECK: metaop.tanh {{.*}} : tensor<128x128xbf16>
// CHECK: return %[[Y]], %[[Z]]
func.func @rounded(%x: tensor<128x64xbf16>, %y: tensor<64x128xbf16>) -> (tensor<128x128xbf16>, tensor<128x128xbf16>) {
  %0 = metaop.kernel(%a = %x : tensor<128x64xbf16>, %b = %y : tensor<64x128xbf16>) -> tensor<128x128xf32> {
    %3 = metaop.fused(%c = %a : tensor<128x64xbf16>, %d = %b : tensor<64x128xbf16>) -> tensor<128x128xf32> {
      %4 = metaop.reindex %c map #lhs fill 0.0 : bf16 : tensor<128x64xbf16> -> tensor<128x64x128xbf16>
      %5 = metaop.reindex %d map #rhs fill 0.0 : bf16 : tensor<64x128xbf16> -> tensor<128x64x128xbf16>
      %6 = metaop.cast %4 : tensor<128x64x128xbf16> -> tensor<128x64x128xf32>
      %7 = metaop.cast %5 : tensor<128x64x128xbf16> -> tensor<128x64x128xf32>
      %8 = metaop.mul %6, %7 : tensor<128x64x128xf32>
      %9 = metaop.reindex_reduce add %8 map #out : tensor<128x64x128xf32> -> tensor<128x128xf32>
      metaop.yield %9 : tensor<128x128xf32>
    }
    metaop.yield %3 : tensor<128x128xf32>
  }
  %1 = metaop.kernel(%a = %0 : tensor<128x128xf32>) -> tensor<128x128xbf16> {
    %3 = metaop.fused(%c = %a : tensor<128x128xf32>) -> tensor<128x128xbf16> {
      %4 = metaop.cast %c : tensor<128x128xf32> -> tensor<128x128xbf16>
      metaop.yield %4 : tensor<128x128xbf16>
    }
    metaop.yield %3 : tensor<128x128xbf16>
  }
  %2 = metaop.kernel(%a = %0 : tensor<128x128xf32>) -> tensor<128x128xbf16> {
    %3 = metaop.fused(%c = %a : tensor<128x128xf32>) -> tensor<128x128xbf16> {
      %4 = metaop.cast %c : tensor<128x128xf32> -> tensor<128x128xbf16>
      %5 = metaop.tanh %4 : tensor<128x128xbf16>
      metaop.yield %5 : tensor<128x128xbf16>
    }
    metaop.yield %3 : tensor<128x128xbf16>
  }
  return %1, %2 : tensor<128x128xbf16>, tensor<128x128xbf16>
}

// -----

// A factor that is computed, and a product of few rows, stay kernels.
#lhs = affine_map<(d0, d1, d2) -> (d0, d1)>
#rhs = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func @computed
// CHECK-NOT: metaop.routine
func.func @computed(%x: tensor<128x64xbf16>, %y: tensor<64x128xbf16>) -> tensor<128x128xf32> {
  %0 = metaop.kernel(%a = %x : tensor<128x64xbf16>, %b = %y : tensor<64x128xbf16>) -> tensor<128x128xf32> {
    %1 = metaop.fused(%c = %a : tensor<128x64xbf16>, %d = %b : tensor<64x128xbf16>) -> tensor<128x128xf32> {
      %2 = metaop.reindex %c map #lhs fill 0.0 : bf16 : tensor<128x64xbf16> -> tensor<128x64x128xbf16>
      %3 = metaop.reindex %d map #rhs fill 0.0 : bf16 : tensor<64x128xbf16> -> tensor<128x64x128xbf16>
      %4 = metaop.cast %2 : tensor<128x64x128xbf16> -> tensor<128x64x128xf32>
      %5 = metaop.cast %3 : tensor<128x64x128xbf16> -> tensor<128x64x128xf32>
      %6 = metaop.exp %4 : tensor<128x64x128xf32>
      %7 = metaop.mul %6, %5 : tensor<128x64x128xf32>
      %8 = metaop.reindex_reduce add %7 map #out : tensor<128x64x128xf32> -> tensor<128x128xf32>
      metaop.yield %8 : tensor<128x128xf32>
    }
    metaop.yield %1 : tensor<128x128xf32>
  }
  return %0 : tensor<128x128xf32>
}

// CHECK-LABEL: func @few_rows
// CHECK-NOT: metaop.routine
func.func @few_rows(%x: tensor<4x64xbf16>, %y: tensor<64x128xbf16>) -> tensor<4x128xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x64xbf16>, %b = %y : tensor<64x128xbf16>) -> tensor<4x128xf32> {
    %1 = metaop.fused(%c = %a : tensor<4x64xbf16>, %d = %b : tensor<64x128xbf16>) -> tensor<4x128xf32> {
      %2 = metaop.reindex %c map #lhs fill 0.0 : bf16 : tensor<4x64xbf16> -> tensor<4x64x128xbf16>
      %3 = metaop.reindex %d map #rhs fill 0.0 : bf16 : tensor<64x128xbf16> -> tensor<4x64x128xbf16>
      %4 = metaop.cast %2 : tensor<4x64x128xbf16> -> tensor<4x64x128xf32>
      %5 = metaop.cast %3 : tensor<4x64x128xbf16> -> tensor<4x64x128xf32>
      %6 = metaop.mul %4, %5 : tensor<4x64x128xf32>
      %7 = metaop.reindex_reduce add %6 map #out : tensor<4x64x128xf32> -> tensor<4x128xf32>
      metaop.yield %7 : tensor<4x128xf32>
    }
    metaop.yield %1 : tensor<4x128xf32>
  }
  return %0 : tensor<4x128xf32>
}
