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

// -----

// Random numbers depend on their position in the whole: the blocks of the
// flattened space have the same.
// CHECK-LABEL: func @random
// CHECK: %[[P:.*]] = metaop.kernel({{.*}}) -> tensor<64xf32>
// CHECK: metaop.random {{.*}} : tensor<64x32768xf32>
// CHECK-NOT: where
// CHECK: metaop.reindex_reduce add {{.*}} : tensor<64x32768xf32> -> tensor<64xf32>
func.func @random(%key: tensor<i64>, %counter: tensor<i64>) -> tensor<f32> {
  %0 = metaop.kernel(%a = %key : tensor<i64>, %b = %counter : tensor<i64>) -> tensor<f32> {
    %1 = metaop.fused(%c = %a : tensor<i64>, %d = %b : tensor<i64>) -> tensor<f32> {
      %2 = metaop.random %c, %d : tensor<4096x512xf32>
      %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1) -> ()> : tensor<4096x512xf32> -> tensor<f32>
      metaop.yield %3 : tensor<f32>
    }
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// A counter of the cut dimension counts blocks and positions in them, and is
// rounded once; that of another is as it was.
// CHECK-LABEL: func @counters
// CHECK: metaop.random {{.*}} : tensor<56x1792x3xf32>
// CHECK: %[[FIRST:.*]] = metaop.iota dim = 0 : tensor<56x1792x3xi64>
// CHECK: %[[BLOCK:.*]] = metaop.constant dense<1792> : tensor<56x1792x3xi64>
// CHECK: %[[MUL:.*]] = metaop.mul %[[FIRST]], %[[BLOCK]]
// CHECK: %[[IN:.*]] = metaop.iota dim = 1 : tensor<56x1792x3xi64>
// CHECK: %[[ADD:.*]] = metaop.add %[[MUL]], %[[IN]]
// CHECK: metaop.cast %[[ADD]] : tensor<56x1792x3xi64> -> tensor<56x1792x3xf32>
// CHECK: metaop.iota dim = 2 : tensor<56x1792x3xf32>
// CHECK: metaop.reindex_reduce add {{.*}} where {{.*}} : tensor<56x1792x3xf32> -> tensor<56x3xf32>
func.func @counters(%key: tensor<i64>, %counter: tensor<i64>) -> tensor<3xf32> {
  %0 = metaop.kernel(%a = %key : tensor<i64>, %b = %counter : tensor<i64>) -> tensor<3xf32> {
    %1 = metaop.fused(%c = %a : tensor<i64>, %d = %b : tensor<i64>) -> tensor<3xf32> {
      %2 = metaop.random %c, %d : tensor<100000x3xf32>
      %3 = metaop.iota dim = 0 : tensor<100000x3xf32>
      %4 = metaop.iota dim = 1 : tensor<100000x3xf32>
      %5 = metaop.mul %2, %3 : tensor<100000x3xf32>
      %6 = metaop.add %5, %4 : tensor<100000x3xf32>
      %7 = metaop.reindex_reduce add %6 map affine_map<(d0, d1) -> (d1)> : tensor<100000x3xf32> -> tensor<3xf32>
      metaop.yield %7 : tensor<3xf32>
    }
    metaop.yield %1 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// -----

// Blocks of an inner dimension would change the positions.
// CHECK-LABEL: func @inner
// CHECK-COUNT-1: metaop.kernel
// CHECK-NOT: metaop.kernel
func.func @inner(%key: tensor<i64>, %counter: tensor<i64>) -> tensor<3xf32> {
  %0 = metaop.kernel(%a = %key : tensor<i64>, %b = %counter : tensor<i64>) -> tensor<3xf32> {
    %1 = metaop.fused(%c = %a : tensor<i64>, %d = %b : tensor<i64>) -> tensor<3xf32> {
      %2 = metaop.random %c, %d : tensor<3x1000000xf32>
      %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1) -> (d0)> : tensor<3x1000000xf32> -> tensor<3xf32>
      metaop.yield %3 : tensor<3xf32>
    }
    metaop.yield %1 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}
