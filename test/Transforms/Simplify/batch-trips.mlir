// RUN: metaop-opt %s -pass-pipeline='builtin.module(func.func(metaop-hoist-invariants,metaop-batch-trips))' | FileCheck %s
// RUN: metaop-run %s --entry=both --compare=1e-5,1e-6
// RUN: metaop-run %s --entry=behind --compare=1e-5,1e-6

// The products of all rows are one, before the loop.
// CHECK-LABEL: @before(
// CHECK: %[[S:.*]] = metaop.reindex_reduce add %{{.*}} : tensor<5x2x3x4xf32> -> tensor<5x2x4xf32>
// CHECK: metaop.scan 5 reverse carries(%[[C:.*]] = %arg0 : tensor<2x4xf32>) rows(%[[X:.*]] = %[[S]] : tensor<5x2x4xf32>)
// CHECK-NEXT: metaop.add %[[X]], %[[C]]
// CHECK-NEXT: metaop.tanh
// CHECK-NEXT: metaop.scan_yield
func.func @before(%h: tensor<2x4xf32>, %xs: tensor<5x2x3xf32>,
                  %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %r = metaop.scan 5 reverse carries(%c = %h : tensor<2x4xf32>)
      rows(%x = %xs : tensor<5x2x3xf32>) -> tensor<2x4xf32> {
    %a = metaop.broadcast %x dims = [0, 1] : tensor<2x3xf32> -> tensor<2x3x4xf32>
    %b = metaop.broadcast %w dims = [1, 2] : tensor<3x4xf32> -> tensor<2x3x4xf32>
    %p = metaop.mul %a, %b : tensor<2x3x4xf32>
    %s = metaop.reduce add %p dims = [1] : tensor<2x3x4xf32> -> tensor<2x4xf32>
    %y = metaop.add %s, %c : tensor<2x4xf32>
    %n = metaop.tanh %y : tensor<2x4xf32>
    metaop.scan_yield %n : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

// A value that is yielded, and no carry is made of, is computed behind the loop, with
// what comes of it.
// CHECK-LABEL: @behind(
// CHECK: %[[R:.*]]:2 = metaop.scan 5 carries
// CHECK-NEXT: %[[N:.*]] = metaop.tanh
// CHECK-NEXT: metaop.scan_yield %[[N]], %[[N]] :
// CHECK: metaop.reindex %[[R]]#1
// CHECK: %[[S:.*]] = metaop.reindex_reduce add %{{.*}} : tensor<5x2x4x3xf32> -> tensor<5x2x3xf32>
// CHECK: %[[E:.*]] = metaop.exp %[[S]]
// CHECK: return %[[E]]
func.func @behind(%h: tensor<2x4xf32>, %w: tensor<4x3xf32>) -> tensor<5x2x3xf32> {
  %r:2 = metaop.scan 5 carries(%c = %h : tensor<2x4xf32>)
      -> (tensor<2x4xf32>, tensor<5x2x3xf32>) {
    %n = metaop.tanh %c : tensor<2x4xf32>
    %a = metaop.broadcast %n dims = [0, 1] : tensor<2x4xf32> -> tensor<2x4x3xf32>
    %b = metaop.broadcast %w dims = [1, 2] : tensor<4x3xf32> -> tensor<2x4x3xf32>
    %p = metaop.mul %a, %b : tensor<2x4x3xf32>
    %s = metaop.reduce add %p dims = [1] : tensor<2x4x3xf32> -> tensor<2x3xf32>
    %e = metaop.exp %s : tensor<2x3xf32>
    metaop.scan_yield %n, %e : tensor<2x4xf32>, tensor<2x3xf32>
  }
  return %r#1 : tensor<5x2x3xf32>
}

// A reduction on the way to a carry stays, and so does one of a carry so large
// that its rows would be more than what they replace.
// CHECK-LABEL: @stays(
// CHECK-NOT: metaop.reindex_reduce
// CHECK: metaop.scan 5 carries
// CHECK-COUNT-2: metaop.re{{.*}} : tensor<8x8xf32> -> tensor<8xf32>
// CHECK: metaop.scan_yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @stays(%h: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<5x8xf32>) {
  %r:2 = metaop.scan 5 carries(%c = %h : tensor<8x8xf32>)
      -> (tensor<8x8xf32>, tensor<5x8xf32>) {
    %s = metaop.reduce add %c dims = [0] : tensor<8x8xf32> -> tensor<8xf32>
    %b = metaop.broadcast %s dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
    %n = metaop.mul %c, %b : tensor<8x8xf32>
    %m = metaop.reduce max %n dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
    metaop.scan_yield %n, %m : tensor<8x8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8x8xf32>, tensor<5x8xf32>
}

// A check names the trip, and stays, with what is made of it.
// CHECK-LABEL: @checked(
// CHECK: metaop.scan 5
// CHECK: metaop.check
// CHECK: metaop.reduce add
// CHECK-NEXT: metaop.scan_yield
func.func @checked(%table: tensor<7x4xf32>, %is: tensor<5x2xi64>) -> tensor<5x4xf32> {
  %r = metaop.scan 5 carries() rows(%i = %is : tensor<5x2xi64>) -> tensor<5x4xf32> {
    %k = metaop.check %i extent = 7 dim = 0 : tensor<2xi64>
    %b = metaop.broadcast %k dims = [0] : tensor<2xi64> -> tensor<2x4xi64>
    %g = metaop.gather %table[%b] map affine_map<(d0, d1)[s0] -> (s0, d1)>
        fill 0.0 : f32 : (tensor<7x4xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
    %s = metaop.reduce add %g dims = [0] : tensor<2x4xf32> -> tensor<4xf32>
    metaop.scan_yield %s : tensor<4xf32>
  }
  return %r : tensor<5x4xf32>
}

// Both, in a loop in a loop: two products leave the inner one, of which the
// first leaves the outer one, too.
// CHECK-LABEL: @both(
// CHECK: metaop.reindex_reduce add %{{.*}} -> tensor<3x5x4xf32>
// CHECK: %[[R:.*]]:{{.*}} = metaop.scan 3
// CHECK: metaop.scan 5
// CHECK-NOT: metaop.reindex_reduce
// CHECK: metaop.reindex_reduce add %{{.*}} -> tensor<3x5x6xf32>
// CHECK-NOT: metaop.reindex_reduce
// CHECK: return
func.func @both(%h: tensor<4xf32>, %xs: tensor<3x5x2xf32>, %w: tensor<2x4xf32>,
                %u: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<3x5x6xf32>) {
  %r:2 = metaop.scan 3 carries(%c = %h : tensor<4xf32>)
      rows(%x = %xs : tensor<3x5x2xf32>) -> (tensor<4xf32>, tensor<3x5x6xf32>) {
    %q:2 = metaop.scan 5 carries(%d = %c : tensor<4xf32>)
        rows(%y = %x : tensor<5x2xf32>) -> (tensor<4xf32>, tensor<5x6xf32>) {
      %a = metaop.broadcast %y dims = [0] : tensor<2xf32> -> tensor<2x4xf32>
      %p = metaop.mul %a, %w : tensor<2x4xf32>
      %s = metaop.reduce add %p dims = [0] : tensor<2x4xf32> -> tensor<4xf32>
      %t = metaop.add %s, %d : tensor<4xf32>
      %n = metaop.tanh %t : tensor<4xf32>
      %e = metaop.broadcast %n dims = [0] : tensor<4xf32> -> tensor<4x6xf32>
      %f = metaop.mul %e, %u : tensor<4x6xf32>
      %g = metaop.reduce add %f dims = [0] : tensor<4x6xf32> -> tensor<6xf32>
      metaop.scan_yield %n, %g : tensor<4xf32>, tensor<6xf32>
    }
    metaop.scan_yield %q#0, %q#1 : tensor<4xf32>, tensor<5x6xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<3x5x6xf32>
}

// Scores of all trips would be many times the rows that they are made of: a loop
// saves their memory.
// CHECK-LABEL: @scores(
// CHECK-NOT: metaop.reindex_reduce
// CHECK: metaop.scan 64
// CHECK-COUNT-2: metaop.reduce add
// CHECK: metaop.scan_yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @scores(%qs: tensor<64x512x8xf32>, %k: tensor<512x8xf32>) -> tensor<64x512xf32> {
  %r = metaop.scan 64 rows(%q = %qs : tensor<64x512x8xf32>) -> tensor<64x512xf32> {
    %a = metaop.broadcast %q dims = [0, 2] : tensor<512x8xf32> -> tensor<512x512x8xf32>
    %b = metaop.broadcast %k dims = [1, 2] : tensor<512x8xf32> -> tensor<512x512x8xf32>
    %p = metaop.mul %a, %b : tensor<512x512x8xf32>
    %s = metaop.reduce add %p dims = [2] : tensor<512x512x8xf32> -> tensor<512x512xf32>
    %e = metaop.exp %s : tensor<512x512xf32>
    %t = metaop.reduce add %e dims = [1] : tensor<512x512xf32> -> tensor<512xf32>
    metaop.scan_yield %t : tensor<512xf32>
  }
  return %r : tensor<64x512xf32>
}

// A maximum stays, as gradients compare it with what it is of.
// CHECK-LABEL: @maximum(
// CHECK: metaop.scan 5
// CHECK: metaop.reduce max
// CHECK: metaop.scan_yield
func.func @maximum(%c: tensor<4xf32>, %xs: tensor<5x4x6xf32>) -> tensor<4xf32> {
  %r = metaop.scan 5 carries(%h = %c : tensor<4xf32>)
      rows(%x = %xs : tensor<5x4x6xf32>) -> tensor<4xf32> {
    %m = metaop.reduce max %x dims = [1] : tensor<4x6xf32> -> tensor<4xf32>
    %n = metaop.mul %h, %m : tensor<4xf32>
    metaop.scan_yield %n : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Values that a loop computes again behind a barrier are not to be in memory for all
// trips.
// CHECK-LABEL: @behind_a_barrier(
// CHECK: metaop.scan 5
// CHECK: metaop.barrier
// CHECK: metaop.reduce add
// CHECK: metaop.scan_yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @behind_a_barrier(%h: tensor<4xf32>, %u: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<5x6xf32>) {
  %r:2 = metaop.scan 5 carries(%c = %h : tensor<4xf32>) -> (tensor<4xf32>, tensor<5x6xf32>) {
    %n = metaop.tanh %c : tensor<4xf32>
    %b = metaop.barrier %c : tensor<4xf32> -> tensor<4xf32>
    %m = metaop.tanh %b : tensor<4xf32>
    %e = metaop.broadcast %m dims = [0] : tensor<4xf32> -> tensor<4x6xf32>
    %f = metaop.mul %e, %u : tensor<4x6xf32>
    %g = metaop.reduce add %f dims = [0] : tensor<4x6xf32> -> tensor<6xf32>
    metaop.scan_yield %n, %g : tensor<4xf32>, tensor<6xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<5x6xf32>
}
