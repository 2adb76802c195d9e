// RUN: metaop-opt %s -split-input-file -metaop-mark-cacheable | FileCheck %s
// RUN: metaop-opt %s -split-input-file -metaop-mark-cacheable | metaop-opt -split-input-file | FileCheck %s

// The panels of an argument may be kept; a view changes nothing on either side.
// What is packed of a value that the program computes may not.
// CHECK-LABEL: func @main
// CHECK:         call @pack(%arg1) {metaop.may_keep} : (tensor<128x512xf32>)
// CHECK:         call @contract({{.*}}) : (
// CHECK:         metaop.reshape
// CHECK:         call @pack(%{{.*}}) {metaop.may_keep} : (tensor<128x512xf32>)
// CHECK:         metaop.reshape
// CHECK:         metaop.reshape
// CHECK:         call @contract({{.*}}) : (
// CHECK:         call @pack(%{{.*}}) : (
func.func @main(%x: tensor<64x512xf32>, %w: tensor<128x512xf32>, %v: tensor<128x512x1xf32>, %u: tensor<512x128xf32>)
    -> (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) {
  %0 = call @pack(%w) : (tensor<128x512xf32>) -> tensor<4x512x32xf32>
  %1 = call @contract(%x, %0) : (tensor<64x512xf32>, tensor<4x512x32xf32>) -> tensor<64x128xf32>
  %2 = metaop.reshape %v : tensor<128x512x1xf32> -> tensor<128x512xf32>
  %3 = call @pack(%2) : (tensor<128x512xf32>) -> tensor<4x512x32xf32>
  %4 = metaop.reshape %3 : tensor<4x512x32xf32> -> tensor<4x512x4x8xf32>
  %5 = metaop.reshape %4 : tensor<4x512x4x8xf32> -> tensor<4x512x32xf32>
  %6 = call @contract(%x, %5) : (tensor<64x512xf32>, tensor<4x512x32xf32>) -> tensor<64x128xf32>
  %7 = call @transpose(%u) : (tensor<512x128xf32>) -> tensor<128x512xf32>
  %8 = call @pack(%7) : (tensor<128x512xf32>) -> tensor<4x512x32xf32>
  %9 = call @contract(%x, %8) : (tensor<64x512xf32>, tensor<4x512x32xf32>) -> tensor<64x128xf32>
  return %1, %6, %9 : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>
}
func.func private @pack(%w: tensor<128x512xf32>) -> tensor<4x512x32xf32> {
  %0 = metaop.kernel(%a = %w : tensor<128x512xf32>) -> tensor<4x512x32xf32> {
    %1 = metaop.fused(%b = %a : tensor<128x512xf32>) -> tensor<4x512x32xf32> {
      %2 = metaop.reindex %b map affine_map<(d0, d1, d2) -> (d0 * 32 + d2, d1)> fill 0.0 : f32 : tensor<128x512xf32> -> tensor<4x512x32xf32>
      metaop.yield %2 : tensor<4x512x32xf32>
    }
    metaop.yield %1 : tensor<4x512x32xf32>
  }
  return %0 : tensor<4x512x32xf32>
}
// Nobody contracts this.
func.func private @transpose(%u: tensor<512x128xf32>) -> tensor<128x512xf32> {
  %0 = metaop.kernel(%a = %u : tensor<512x128xf32>) -> tensor<128x512xf32> {
    %1 = metaop.fused(%b = %a : tensor<512x128xf32>) -> tensor<128x512xf32> {
      %2 = metaop.reindex %b map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32 : tensor<512x128xf32> -> tensor<128x512xf32>
      metaop.yield %2 : tensor<128x512xf32>
    }
    metaop.yield %1 : tensor<128x512xf32>
  }
  return %0 : tensor<128x512xf32>
}
func.func private @contract(%x: tensor<64x512xf32>, %p: tensor<4x512x32xf32>) -> tensor<64x128xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64x512xf32>, %b = %p : tensor<4x512x32xf32>) -> tensor<64x128xf32> {
    %1 = metaop.fused(%c = %a : tensor<64x512xf32>, %d = %b : tensor<4x512x32xf32>) -> tensor<64x128xf32> {
      %2 = metaop.reindex %c map affine_map<(d0, d1, d2, d3) -> (d0, d2)> fill 0.0 : f32 : tensor<64x512xf32> -> tensor<64x4x512x32xf32>
      %3 = metaop.reindex %d map affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)> fill 0.0 : f32 : tensor<4x512x32xf32> -> tensor<64x4x512x32xf32>
      %4 = metaop.mul %2, %3 : tensor<64x4x512x32xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2, d3) -> (d0, d1 * 32 + d3)> : tensor<64x4x512x32xf32> -> tensor<64x128xf32>
      metaop.yield %5 : tensor<64x128xf32>
    }
    metaop.yield %1 : tensor<64x128xf32>
  }
  return %0 : tensor<64x128xf32>
}

// -----

// What is computed from each element on the way is packed like it, from several
// arguments as well; sums of rows are not. A step of training is not looked at.
// CHECK-LABEL: func @main
// CHECK:         call @scaled(%arg1, %arg2) {metaop.may_keep}
// CHECK:         call @sums(%arg1) : (
func.func @main(%x: tensor<64x512xf32>, %w: tensor<512x128xf32>, %s: tensor<128xf32>)
    -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %0 = call @scaled(%w, %s) : (tensor<512x128xf32>, tensor<128xf32>) -> tensor<512x128xf32>
  %1 = call @contract(%x, %0) : (tensor<64x512xf32>, tensor<512x128xf32>) -> tensor<64x128xf32>
  %2 = call @sums(%w) : (tensor<512x128xf32>) -> tensor<512x128xf32>
  %3 = call @contract(%x, %2) : (tensor<64x512xf32>, tensor<512x128xf32>) -> tensor<64x128xf32>
  return %1, %3 : tensor<64x128xf32>, tensor<64x128xf32>
}
func.func private @scaled(%w: tensor<512x128xf32>, %s: tensor<128xf32>) -> tensor<512x128xf32> {
  %0 = metaop.kernel(%a = %w : tensor<512x128xf32>, %b = %s : tensor<128xf32>) -> tensor<512x128xf32> {
    %1 = metaop.fused(%c = %a : tensor<512x128xf32>, %d = %b : tensor<128xf32>) -> tensor<512x128xf32> {
      %2 = metaop.reindex %d map affine_map<(d0, d1) -> (d1)> fill 0.0 : f32 : tensor<128xf32> -> tensor<512x128xf32>
      %3 = metaop.mul %c, %2 : tensor<512x128xf32>
      metaop.yield %3 : tensor<512x128xf32>
    }
    metaop.yield %1 : tensor<512x128xf32>
  }
  return %0 : tensor<512x128xf32>
}
func.func private @sums(%w: tensor<512x128xf32>) -> tensor<512x128xf32> {
  %0 = metaop.kernel(%a = %w : tensor<512x128xf32>) -> tensor<512x128xf32> {
    %1 = metaop.fused(%b = %a : tensor<512x128xf32>) -> tensor<512x128xf32> {
      %2 = metaop.reindex %b map affine_map<(d0, d1, d2) -> (d0 + d2, d1)> fill 0.0 : f32 : tensor<512x128xf32> -> tensor<512x128x3xf32>
      %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<512x128x3xf32> -> tensor<512x128xf32>
      metaop.yield %3 : tensor<512x128xf32>
    }
    metaop.yield %1 : tensor<512x128xf32>
  }
  return %0 : tensor<512x128xf32>
}
func.func private @contract(%x: tensor<64x512xf32>, %w: tensor<512x128xf32>) -> tensor<64x128xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64x512xf32>, %b = %w : tensor<512x128xf32>) -> tensor<64x128xf32> {
    %1 = metaop.fused(%c = %a : tensor<64x512xf32>, %d = %b : tensor<512x128xf32>) -> tensor<64x128xf32> {
      %2 = metaop.reindex %c map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.0 : f32 : tensor<64x512xf32> -> tensor<64x512x128xf32>
      %3 = metaop.reindex %d map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.0 : f32 : tensor<512x128xf32> -> tensor<64x512x128xf32>
      %4 = metaop.mul %2, %3 : tensor<64x512x128xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<64x512x128xf32> -> tensor<64x128xf32>
      metaop.yield %5 : tensor<64x128xf32>
    }
    metaop.yield %1 : tensor<64x128xf32>
  }
  return %0 : tensor<64x128xf32>
}

// -----

// What the program returns, or puts into a concat, is made in each run.
// CHECK-LABEL: func @main
// CHECK-NOT:     metaop.may_keep
func.func @main(%x: tensor<64x512xf32>, %w: tensor<128x512xf32>, %v: tensor<128x512xf32>)
    -> (tensor<64x128xf32>, tensor<512x128xf32>, tensor<64x128xf32>, tensor<512x256xf32>) {
  %0 = call @transpose(%w) : (tensor<128x512xf32>) -> tensor<512x128xf32>
  %1 = call @contract(%x, %0) : (tensor<64x512xf32>, tensor<512x128xf32>) -> tensor<64x128xf32>
  %2 = call @transpose(%v) : (tensor<128x512xf32>) -> tensor<512x128xf32>
  %3 = call @contract(%x, %2) : (tensor<64x512xf32>, tensor<512x128xf32>) -> tensor<64x128xf32>
  %4 = metaop.concat %2, %2 dim = 1 : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x256xf32>
  return %1, %0, %3, %4 : tensor<64x128xf32>, tensor<512x128xf32>, tensor<64x128xf32>, tensor<512x256xf32>
}
func.func private @transpose(%u: tensor<128x512xf32>) -> tensor<512x128xf32> {
  %0 = metaop.kernel(%a = %u : tensor<128x512xf32>) -> tensor<512x128xf32> {
    %1 = metaop.fused(%b = %a : tensor<128x512xf32>) -> tensor<512x128xf32> {
      %2 = metaop.reindex %b map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32 : tensor<128x512xf32> -> tensor<512x128xf32>
      metaop.yield %2 : tensor<512x128xf32>
    }
    metaop.yield %1 : tensor<512x128xf32>
  }
  return %0 : tensor<512x128xf32>
}
func.func private @contract(%x: tensor<64x512xf32>, %w: tensor<512x128xf32>) -> tensor<64x128xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64x512xf32>, %b = %w : tensor<512x128xf32>) -> tensor<64x128xf32> {
    %1 = metaop.fused(%c = %a : tensor<64x512xf32>, %d = %b : tensor<512x128xf32>) -> tensor<64x128xf32> {
      %2 = metaop.reindex %c map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.0 : f32 : tensor<64x512xf32> -> tensor<64x512x128xf32>
      %3 = metaop.reindex %d map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.0 : f32 : tensor<512x128xf32> -> tensor<64x512x128xf32>
      %4 = metaop.mul %2, %3 : tensor<64x512x128xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<64x512x128xf32> -> tensor<64x128xf32>
      metaop.yield %5 : tensor<64x128xf32>
    }
    metaop.yield %1 : tensor<64x128xf32>
  }
  return %0 : tensor<64x128xf32>
}

// -----

// A step of training, which may write over an argument: what it packs changes
// from step to step.
// CHECK-LABEL: func @main
// CHECK-NOT:     metaop.may_keep
func.func @main(%x: tensor<64x512xf32>, %w: tensor<128x512xf32>, %p: tensor<8xf32> {metaop.donatable})
    -> (tensor<64x128xf32>, tensor<8xf32>) {
  %0 = call @transpose(%w) : (tensor<128x512xf32>) -> tensor<512x128xf32>
  %1 = call @contract(%x, %0) : (tensor<64x512xf32>, tensor<512x128xf32>) -> tensor<64x128xf32>
  return %1, %p : tensor<64x128xf32>, tensor<8xf32>
}
func.func private @transpose(%u: tensor<128x512xf32>) -> tensor<512x128xf32> {
  %0 = metaop.kernel(%a = %u : tensor<128x512xf32>) -> tensor<512x128xf32> {
    %1 = metaop.fused(%b = %a : tensor<128x512xf32>) -> tensor<512x128xf32> {
      %2 = metaop.reindex %b map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32 : tensor<128x512xf32> -> tensor<512x128xf32>
      metaop.yield %2 : tensor<512x128xf32>
    }
    metaop.yield %1 : tensor<512x128xf32>
  }
  return %0 : tensor<512x128xf32>
}
func.func private @contract(%x: tensor<64x512xf32>, %w: tensor<512x128xf32>) -> tensor<64x128xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64x512xf32>, %b = %w : tensor<512x128xf32>) -> tensor<64x128xf32> {
    %1 = metaop.fused(%c = %a : tensor<64x512xf32>, %d = %b : tensor<512x128xf32>) -> tensor<64x128xf32> {
      %2 = metaop.reindex %c map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.0 : f32 : tensor<64x512xf32> -> tensor<64x512x128xf32>
      %3 = metaop.reindex %d map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.0 : f32 : tensor<512x128xf32> -> tensor<64x512x128xf32>
      %4 = metaop.mul %2, %3 : tensor<64x512x128xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<64x512x128xf32> -> tensor<64x128xf32>
      metaop.yield %5 : tensor<64x128xf32>
    }
    metaop.yield %1 : tensor<64x128xf32>
  }
  return %0 : tensor<64x128xf32>
}
