// What metaop-force-rewrites writes on kernels decides what each pass does, alone.
// RUN: metaop-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(metaop-recompute-values),metaop-split-reductions{report=true},func.func(metaop-pack-operands{report=true},metaop-schedule-contractions,metaop-attach-panels{report=true},metaop-join-stages{report=true}))' | FileCheck %s

// An exponential costs more than to write and read it, but is computed again.
// CHECK-LABEL: func @again
// CHECK:       metaop.kernel({{.*}}) -> tensor<64xf32>
// CHECK:         metaop.exp
// CHECK:       metaop.kernel({{.*}}) -> tensor<64x999xf32>
// CHECK:         metaop.exp
func.func @again(%x: tensor<64x999xf32>) -> tensor<64x999xf32> {
  // expected-remark @+1 {{is not split: it reduces too little}}
  %0:2 = metaop.kernel(%a = %x : tensor<64x999xf32>) -> (tensor<64x999xf32>, tensor<64xf32>) attributes {rewrites = {"recompute-values" = true, "join-stages" = false}} {
    %1:2 = metaop.fused(%b = %a : tensor<64x999xf32>) -> (tensor<64x999xf32>, tensor<64xf32>) {
      %2 = metaop.exp %b : tensor<64x999xf32>
      %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1) -> (d0)> : tensor<64x999xf32> -> tensor<64xf32>
      metaop.yield %2, %3 : tensor<64x999xf32>, tensor<64xf32>
    }
    metaop.yield %1#0, %1#1 : tensor<64x999xf32>, tensor<64xf32>
  }
  %4 = metaop.kernel(%a = %0#0 : tensor<64x999xf32>, %s = %0#1 : tensor<64xf32>) -> tensor<64x999xf32> {
    %1 = metaop.fused(%b = %a : tensor<64x999xf32>, %c = %s : tensor<64xf32>) -> tensor<64x999xf32> {
      %2 = metaop.reindex %c map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<64xf32> -> tensor<64x999xf32>
      %3 = metaop.mul %b, %2 : tensor<64x999xf32>
      metaop.yield %3 : tensor<64x999xf32>
    }
    metaop.yield %1 : tensor<64x999xf32>
  }
  return %4 : tensor<64x999xf32>
}

// -----

// A long sum that would be split.
// CHECK-LABEL: func @whole
// CHECK:       metaop.kernel({{.*}}) -> tensor<f32>
// CHECK-NOT:   metaop.kernel
// CHECK:       func @two
// CHECK:       metaop.kernel({{.*}}) -> tensor<64xf32>
// CHECK:       metaop.kernel({{.*}}) -> tensor<f32>
func.func @whole(%x: tensor<1048576xf32>) -> tensor<f32> {
  %0 = metaop.kernel(%a = %x : tensor<1048576xf32>) -> tensor<f32> attributes {rewrites = {"split-reductions" = false}} {
    %1 = metaop.fused(%b = %a : tensor<1048576xf32>) -> tensor<f32> {
      %2 = metaop.reindex_reduce add %b map affine_map<(d0) -> ()> : tensor<1048576xf32> -> tensor<f32>
      metaop.yield %2 : tensor<f32>
    }
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

func.func @two(%x: tensor<1048576xf32>) -> tensor<f32> {
  %0 = metaop.kernel(%a = %x : tensor<1048576xf32>) -> tensor<f32> {
    // expected-remark @+1 {{splits 1048576 iterations of all dimensions into 64 blocks of 16384}}
    %1 = metaop.fused(%b = %a : tensor<1048576xf32>) -> tensor<f32> {
      %2 = metaop.reindex_reduce add %b map affine_map<(d0) -> ()> : tensor<1048576xf32> -> tensor<f32>
      metaop.yield %2 : tensor<f32>
    }
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// A second factor whose vectors lie as they are read: nothing is packed unless
// that is forced, and then inside of the loops unless that is forbidden.
// CHECK-LABEL: func @packed
// CHECK:       metaop.kernel({{.*}}) -> tensor<4x128x32xf32>
// CHECK:       metaop.kernel({{.*}}) -> tensor<256x128xf32>
func.func @packed(%x: tensor<256x128xf32>, %y: tensor<128x128xf32>) -> tensor<256x128xf32> {
  %0 = metaop.kernel(%a = %x : tensor<256x128xf32>, %b = %y : tensor<128x128xf32>) -> tensor<256x128xf32> attributes {rewrites = {"pack-operands" = true, "attach-panels" = false}} {
    // expected-remark @+2 {{is not split: its loops are enough for threads}}
    // expected-remark @+1 {{packs the vectors, lanes along loop 2}}
    %1 = metaop.fused(%c = %a : tensor<256x128xf32>, %d = %b : tensor<128x128xf32>) -> tensor<256x128xf32> {
      %2 = metaop.reindex %c map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.000000e+00 : f32 : tensor<256x128xf32> -> tensor<256x128x128xf32>
      %3 = metaop.reindex %d map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.000000e+00 : f32 : tensor<128x128xf32> -> tensor<256x128x128xf32>
      %4 = metaop.mul %2, %3 : tensor<256x128x128xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<256x128x128xf32> -> tensor<256x128xf32>
      metaop.yield %5 : tensor<256x128xf32>
    }
    metaop.yield %1 : tensor<256x128xf32>
  }
  return %0 : tensor<256x128xf32>
}

// -----

// A transposed factor that would be packed.
// CHECK-LABEL: func @unpacked
// CHECK:       metaop.kernel({{.*}}) -> tensor<256x128xf32>
// CHECK-NOT:   metaop.kernel
func.func @unpacked(%x: tensor<256x128xf32>, %y: tensor<128x128xf32>) -> tensor<256x128xf32> {
  %0 = metaop.kernel(%a = %x : tensor<256x128xf32>, %b = %y : tensor<128x128xf32>) -> tensor<256x128xf32> attributes {rewrites = {"pack-operands" = false}} {
    // expected-remark @+1 {{is not split: its loops are enough for threads}}
    %1 = metaop.fused(%c = %a : tensor<256x128xf32>, %d = %b : tensor<128x128xf32>) -> tensor<256x128xf32> {
      %2 = metaop.reindex %c map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.000000e+00 : f32 : tensor<256x128xf32> -> tensor<256x128x128xf32>
      %3 = metaop.reindex %d map affine_map<(d0, d1, d2) -> (d2, d1)> fill 0.000000e+00 : f32 : tensor<128x128xf32> -> tensor<256x128x128xf32>
      %4 = metaop.mul %2, %3 : tensor<256x128x128xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<256x128x128xf32> -> tensor<256x128xf32>
      metaop.yield %5 : tensor<256x128xf32>
    }
    metaop.yield %1 : tensor<256x128xf32>
  }
  return %0 : tensor<256x128xf32>
}
