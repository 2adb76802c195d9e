// RUN: metaop-opt %s -split-input-file -metaop-recompute-far-values | FileCheck %s

// What comes behind four kernels that write much gets the quotient from a kernel
// of its own, and so does the one behind that; the first reader has the old one.
// The exponential is read late anyway.
// CHECK-LABEL: func @quotient
// CHECK:         %[[E:.*]]:2 = metaop.kernel(%{{.*}} = %arg0
// CHECK:         %[[P:.*]] = metaop.kernel(
// CHECK:           metaop.div
// CHECK:         %[[G:.*]] = metaop.kernel(%{{.*}} = %[[P]] :
// CHECK:         %[[AGAIN:.*]] = metaop.kernel({{.*}}) -> tensor<128x256xf32> attributes {rewrites = {"join-stages" = false}} {
// CHECK:           metaop.div
// CHECK:         %[[VIEW:.*]] = metaop.reshape %[[AGAIN]]
// CHECK:         %[[Y:.*]] = metaop.kernel(%{{.*}} = %[[AGAIN]] :
// CHECK-NOT:     metaop.reshape
// CHECK:         metaop.kernel(%{{.*}} = %[[VIEW]] :
func.func @quotient(%x: tensor<128x256xf32>) -> (tensor<128x256xf32>, tensor<32768xf32>, tensor<128x256xf32>) {
  %0:2 = metaop.kernel(%a = %x : tensor<128x256xf32>) -> (tensor<128x256xf32>, tensor<128x1xf32>) {
    %k:2 = metaop.fused(%b = %a : tensor<128x256xf32>) -> (tensor<128x256xf32>, tensor<128x1xf32>) {
      %e = metaop.exp %b : tensor<128x256xf32>
      %s = metaop.reindex_reduce add %e map affine_map<(i, j) -> (i, 0)> : tensor<128x256xf32> -> tensor<128x1xf32>
      metaop.yield %e, %s : tensor<128x256xf32>, tensor<128x1xf32>
    }
    metaop.yield %k#0, %k#1 : tensor<128x256xf32>, tensor<128x1xf32>
  }
  %1 = metaop.kernel(%a = %0#0 : tensor<128x256xf32>, %c = %0#1 : tensor<128x1xf32>) -> tensor<128x256xf32> {
    %k = metaop.fused(%b = %a : tensor<128x256xf32>, %d = %c : tensor<128x1xf32>) -> tensor<128x256xf32> {
      %s = metaop.broadcast %d dims = [0, 1] : tensor<128x1xf32> -> tensor<128x256xf32>
      %p = metaop.div %b, %s : tensor<128x256xf32>
      metaop.yield %p : tensor<128x256xf32>
    }
    metaop.yield %k : tensor<128x256xf32>
  }
  %2 = metaop.kernel(%a = %1 : tensor<128x256xf32>) -> tensor<512x512xf32> {
    %k = metaop.fused(%b = %a : tensor<128x256xf32>) -> tensor<512x512xf32> {
      %p = metaop.reindex %b map affine_map<(i, j) -> (i floordiv 4, j floordiv 2)> fill 0.0 : f32 : tensor<128x256xf32> -> tensor<512x512xf32>
      metaop.yield %p : tensor<512x512xf32>
    }
    metaop.yield %k : tensor<512x512xf32>
  }
  %3 = metaop.kernel(%a = %2 : tensor<512x512xf32>) -> tensor<512x512xf32> {
    %k = metaop.fused(%b = %a : tensor<512x512xf32>) -> tensor<512x512xf32> {
      %p = metaop.reindex %b map affine_map<(i, j) -> (j, i)> fill 0.0 : f32 : tensor<512x512xf32> -> tensor<512x512xf32>
      metaop.yield %p : tensor<512x512xf32>
    }
    metaop.yield %k : tensor<512x512xf32>
  }
  %4 = metaop.kernel(%a = %1 : tensor<128x256xf32>, %c = %3 : tensor<512x512xf32>) -> tensor<128x256xf32> {
    %k = metaop.fused(%b = %a : tensor<128x256xf32>, %d = %c : tensor<512x512xf32>) -> tensor<128x256xf32> {
      %p = metaop.reindex %d map affine_map<(i, j) -> (i, j)> fill 0.0 : f32 : tensor<512x512xf32> -> tensor<128x256xf32>
      %q = metaop.mul %b, %p : tensor<128x256xf32>
      metaop.yield %q : tensor<128x256xf32>
    }
    metaop.yield %k : tensor<128x256xf32>
  }
  %v = metaop.reshape %1 : tensor<128x256xf32> -> tensor<32768xf32>
  %5 = metaop.kernel(%a = %v : tensor<32768xf32>) -> tensor<32768xf32> {
    %k = metaop.fused(%b = %a : tensor<32768xf32>) -> tensor<32768xf32> {
      %q = metaop.neg %b : tensor<32768xf32>
      metaop.yield %q : tensor<32768xf32>
    }
    metaop.yield %k : tensor<32768xf32>
  }
  %6 = metaop.kernel(%a = %0#0 : tensor<128x256xf32>) -> tensor<128x256xf32> {
    %k = metaop.fused(%b = %a : tensor<128x256xf32>) -> tensor<128x256xf32> {
      %q = metaop.neg %b : tensor<128x256xf32>
      metaop.yield %q : tensor<128x256xf32>
    }
    metaop.yield %k : tensor<128x256xf32>
  }
  return %4, %5, %6 : tensor<128x256xf32>, tensor<32768xf32>, tensor<128x256xf32>
}

// -----

// Here nobody reads the sum's large operand so late: to keep that instead saves
// nothing. An argument is there anyway, and a function costs too much.
// CHECK-LABEL: func @kept
// CHECK-COUNT-3: metaop.kernel
// CHECK:         %[[AGAIN:.*]] = metaop.kernel(%{{.*}} = %arg0 : tensor<128x256xf32>) -> tensor<128x256xf32> attributes
// CHECK-NEXT:      metaop.fused
// CHECK-NEXT:        metaop.neg
// CHECK:         metaop.kernel(
// CHECK-NOT:     attributes
func.func @kept(%x: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %0:3 = metaop.kernel(%a = %x : tensor<128x256xf32>) -> (tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>) {
    %k:3 = metaop.fused(%b = %a : tensor<128x256xf32>) -> (tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>) {
      %e = metaop.exp %b : tensor<128x256xf32>
      %n = metaop.neg %b : tensor<128x256xf32>
      %t = metaop.add %e, %e : tensor<128x256xf32>
      metaop.yield %e, %n, %t : tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>
    }
    metaop.yield %k#0, %k#1, %k#2 : tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>
  }
  %1 = metaop.kernel(%a = %0#0 : tensor<128x256xf32>, %c = %0#1 : tensor<128x256xf32>, %e = %0#2 : tensor<128x256xf32>) -> tensor<128x256xf32> {
    %k = metaop.fused(%b = %a : tensor<128x256xf32>, %d = %c : tensor<128x256xf32>, %f = %e : tensor<128x256xf32>) -> tensor<128x256xf32> {
      %o = metaop.mul %d, %f : tensor<128x256xf32>
      %p = metaop.sub %b, %o : tensor<128x256xf32>
      metaop.yield %p : tensor<128x256xf32>
    }
    metaop.yield %k : tensor<128x256xf32>
  }
  %2 = metaop.kernel(%a = %1 : tensor<128x256xf32>) -> tensor<512x512xf32> {
    %k = metaop.fused(%b = %a : tensor<128x256xf32>) -> tensor<512x512xf32> {
      %p = metaop.reindex %b map affine_map<(i, j) -> (i floordiv 4, j floordiv 2)> fill 0.0 : f32 : tensor<128x256xf32> -> tensor<512x512xf32>
      metaop.yield %p : tensor<512x512xf32>
    }
    metaop.yield %k : tensor<512x512xf32>
  }
  %3 = metaop.kernel(%a = %0#0 : tensor<128x256xf32>, %c = %0#1 : tensor<128x256xf32>, %e = %1 : tensor<128x256xf32>, %g = %2 : tensor<512x512xf32>, %h = %0#2 : tensor<128x256xf32>) -> tensor<128x256xf32> {
    %k = metaop.fused(%b = %a : tensor<128x256xf32>, %d = %c : tensor<128x256xf32>, %f = %e : tensor<128x256xf32>, %i = %g : tensor<512x512xf32>, %j = %h : tensor<128x256xf32>) -> tensor<128x256xf32> {
      %p = metaop.reindex %i map affine_map<(i, j) -> (i, j)> fill 0.0 : f32 : tensor<512x512xf32> -> tensor<128x256xf32>
      %q = metaop.mul %b, %p : tensor<128x256xf32>
      %r = metaop.mul %q, %d : tensor<128x256xf32>
      %s = metaop.mul %r, %f : tensor<128x256xf32>
      %t = metaop.mul %s, %j : tensor<128x256xf32>
      metaop.yield %t : tensor<128x256xf32>
    }
    metaop.yield %k : tensor<128x256xf32>
  }
  return %3 : tensor<128x256xf32>
}
