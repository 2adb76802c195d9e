// RUN: metaop-opt %s -split-input-file -metaop-split-reductions | FileCheck %s

// 64 blocks do not fill the dimension: the last one is shorter.
// CHECK: #[[SET:.*]] = affine_set<(d0, d1) : (-(d0 * 15872 + d1) + 1000002 >= 0)>
// CHECK-LABEL: func @all
// CHECK: %[[P:.*]] = metaop.kernel({{.*}}) -> tensor<64xf32>
// CHECK: metaop.reindex_reduce add {{.*}} where #[[SET]] : tensor<64x15872xf32> -> tensor<64xf32>
// CHECK: metaop.kernel({{.*}} = %[[P]] : tensor<64xf32>) -> tensor<f32>
// CHECK: metaop.reindex_reduce add {{.*}} : tensor<64xf32> -> tensor<f32>
func.func @all(%x: tensor<1000003xf32>) -> tensor<f32> {
  %0 = metaop.kernel(%a = %x : tensor<1000003xf32>) -> tensor<f32> {
    %1 = metaop.fused(%b = %a : tensor<1000003xf32>) -> tensor<f32> {
      %2 = metaop.reindex_reduce add %b map affine_map<(d0) -> ()> : tensor<1000003xf32> -> tensor<f32>
      metaop.yield %2 : tensor<f32>
    }
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// All is reduced: one dimension, and blocks that fill it need no condition.
// CHECK-LABEL: func @flat
// CHECK: metaop.reshape {{.*}} : tensor<1024x1024xbf16> -> tensor<1048576xbf16>
// CHECK: metaop.cast {{.*}} : tensor<64x16384xbf16> -> tensor<64x16384xf32>
// CHECK-NOT: where
// CHECK: metaop.reindex_reduce add {{.*}} : tensor<64x16384xf32> -> tensor<64xf32>
// CHECK: metaop.reindex_reduce add {{.*}} : tensor<64xf32> -> tensor<f32>
// CHECK: metaop.cast {{.*}} : tensor<f32> -> tensor<bf16>
func.func @flat(%x: tensor<1024x1024xbf16>) -> tensor<bf16> {
  %0 = metaop.kernel(%a = %x : tensor<1024x1024xbf16>) -> tensor<bf16> {
    %1 = metaop.fused(%b = %a : tensor<1024x1024xbf16>) -> tensor<bf16> {
      %2 = metaop.reindex_reduce add %b map affine_map<(d0, d1) -> ()> : tensor<1024x1024xbf16> -> tensor<bf16>
      metaop.yield %2 : tensor<bf16>
    }
    metaop.yield %1 : tensor<bf16>
  }
  return %0 : tensor<bf16>
}

// -----

// Rows enough to share.
// CHECK-LABEL: func @rows
// CHECK-COUNT-1: metaop.kernel
// CHECK-NOT: metaop.kernel
func.func @rows(%x: tensor<1024x1024xf32>) -> tensor<1024xf32> {
  %0 = metaop.kernel(%a = %x : tensor<1024x1024xf32>) -> tensor<1024xf32> {
    %1 = metaop.fused(%b = %a : tensor<1024x1024xf32>) -> tensor<1024xf32> {
      %2 = metaop.reindex_reduce add %b map affine_map<(d0, d1) -> (d0)> : tensor<1024x1024xf32> -> tensor<1024xf32>
      metaop.yield %2 : tensor<1024xf32>
    }
    metaop.yield %1 : tensor<1024xf32>
  }
  return %0 : tensor<1024xf32>
}

// -----

// An element-wise result is written by blocks of rows. Extents of 1 are kept.
// CHECK-LABEL: func @mixed
// CHECK: %[[P:.*]]:2 = metaop.kernel({{.*}}) -> (tensor<64x1x1024xf32>, tensor<64x32x1024xf32>)
// CHECK-DAG: metaop.kernel({{.*}} = %[[P]]#0 : tensor<64x1x1024xf32>) -> tensor<1x1024xf32>
// CHECK-DAG: metaop.reshape %[[P]]#1 : tensor<64x32x1024xf32> -> tensor<2048x1024xf32>
func.func @mixed(%x: tensor<2048x1024xf32>) -> (tensor<1x1024xf32>, tensor<2048x1024xf32>) {
  %0:2 = metaop.kernel(%a = %x : tensor<2048x1024xf32>) -> (tensor<1x1024xf32>, tensor<2048x1024xf32>) {
    %1:2 = metaop.fused(%b = %a : tensor<2048x1024xf32>) -> (tensor<1x1024xf32>, tensor<2048x1024xf32>) {
      %2 = metaop.neg %b : tensor<2048x1024xf32>
      %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1) -> (0, d1)> : tensor<2048x1024xf32> -> tensor<1x1024xf32>
      metaop.yield %3, %2 : tensor<1x1024xf32>, tensor<2048x1024xf32>
    }
    metaop.yield %1#0, %1#1 : tensor<1x1024xf32>, tensor<2048x1024xf32>
  }
  return %0#0, %0#1 : tensor<1x1024xf32>, tensor<2048x1024xf32>
}
