// RUN: metaop-opt %s -split-input-file -metaop-autodiff -canonicalize | FileCheck %s --check-prefix=GRAD
// RUN: metaop-opt %s -split-input-file -metaop-push-forward -canonicalize | FileCheck %s --check-prefix=MOVE

// A branch runs again, and its gradient; nothing of the other one is in it.
// GRAD-LABEL: @branch(
// GRAD: %[[R:.*]]:2 = scf.if
// GRAD-NEXT: metaop.exp
// GRAD-NEXT: metaop.exp
// GRAD-NEXT: scf.yield
// GRAD: } else {
// GRAD-NEXT: metaop.log
// GRAD-NEXT: metaop.div
// GRAD-NEXT: scf.yield
// GRAD: return %[[R]]#0, %[[R]]#1
// MOVE-LABEL: @branch(
// MOVE: %[[T:.*]]:2 = scf.if
// MOVE: metaop.mul %arg2,
// MOVE: } else {
// MOVE: metaop.div %arg2, %arg0
// MOVE: return %[[T]]#0, %[[T]]#1
func.func @branch(%x: tensor<f32>, %c: i1) -> tensor<f32> {
  %r = scf.if %c -> (tensor<f32>) {
    %0 = metaop.exp %x : tensor<f32>
    scf.yield %0 : tensor<f32>
  } else {
    %0 = metaop.log %x : tensor<f32>
    scf.yield %0 : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// The other way round, from the starts of the carries, which are made by
// running the scan again. The product of a trip is saved, and not computed
// again: there is one in the trip of the gradient. The gradient of %w is a sum
// behind the loop.
// GRAD-LABEL: @scan(
// GRAD: metaop.scan 5 carries
// GRAD: %[[AGAIN:.*]]:3 = metaop.scan 5 unroll 5 carries(%[[C:.*]] = %arg0
// GRAD: %[[S:.*]] = metaop.reindex_reduce add
// GRAD: metaop.scan_yield %{{.*}}, %[[C]], %[[S]] :
// GRAD: %[[BACK:.*]]:2 = metaop.scan 5 reverse unroll 5 carries({{.*}}) rows(%[[SAVED:.*]] = %[[AGAIN]]#2 : tensor<5x2x4xf32>, %[[X:.*]] = %arg1 :
// GRAD-NOT: metaop.reindex_reduce
// GRAD: %[[Y:.*]] = metaop.add %[[SAVED]], %[[X]]
// GRAD: metaop.tanh %[[Y]]
// GRAD: metaop.reindex_reduce add
// GRAD-NOT: metaop.reindex_reduce
// GRAD: metaop.scan_yield
// GRAD: %[[G:.*]] = metaop.reindex %[[BACK]]#1
// GRAD: %[[H:.*]] = metaop.reindex %[[AGAIN]]#1
// GRAD: %[[P:.*]] = metaop.mul %[[G]], %[[H]]
// GRAD: metaop.reindex_reduce add %[[P]] {{.*}} tensor<5x2x4x4xf32> -> tensor<4x4xf32>
// Carries and tangents move on together.
// MOVE-LABEL: @scan(
// MOVE: metaop.scan 5 unroll 5 carries(%[[C:.*]] = %{{.*}} : tensor<2x4xf32>, %[[D:.*]] = %{{.*}} : tensor<2x4xf32>)
// MOVE: return
func.func @scan(%h: tensor<2x4xf32>, %xs: tensor<5x2x4xf32>,
                %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %r = metaop.scan 5 carries(%c = %h : tensor<2x4xf32>)
      rows(%x = %xs : tensor<5x2x4xf32>) -> tensor<2x4xf32> {
    %a = metaop.broadcast %c dims = [0, 1] : tensor<2x4xf32> -> tensor<2x4x4xf32>
    %b = metaop.broadcast %w dims = [1, 2] : tensor<4x4xf32> -> tensor<2x4x4xf32>
    %p = metaop.mul %a, %b : tensor<2x4x4xf32>
    %s = metaop.reduce add %p dims = [1] : tensor<2x4x4xf32> -> tensor<2x4xf32>
    %y = metaop.add %s, %x : tensor<2x4xf32>
    %n = metaop.tanh %y : tensor<2x4xf32>
    metaop.scan_yield %n : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

// -----

// Beside loops without a bound that no gradient flows through: of values that do
// not depend on %x, and before a stop.
// GRAD-LABEL: @beside_unbounded(
// GRAD: metaop.scan 5 reverse
// GRAD: return
func.func @beside_unbounded(%x: tensor<f32>, %rows: tensor<5xi64>, %n: tensor<i64>) -> tensor<f32> {
  %r = metaop.scan 5 carries(%c = %x : tensor<f32>) rows(%row = %rows : tensor<5xi64>) -> tensor<f32> {
    %given = metaop.cast %row : tensor<i64> -> tensor<f32>
    %s = metaop.scan %n carries(%v = %given : tensor<f32>) -> tensor<f32> {
      %1 = metaop.exp %v : tensor<f32>
      metaop.scan_yield %1 : tensor<f32>
    }
    %t = metaop.scan %n carries(%v = %c : tensor<f32>) -> tensor<f32> {
      %1 = metaop.exp %v : tensor<f32>
      metaop.scan_yield %1 : tensor<f32>
    }
    %stopped = metaop.stop_grad %t : tensor<f32>
    %m = metaop.mul %c, %s : tensor<f32>
    %p = metaop.add %m, %stopped : tensor<f32>
    metaop.scan_yield %p : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// As many trips back as there were, by rows of as many as there may be; sums of
// captures' gradients stay in the loop.
// GRAD-LABEL: @counted(
// GRAD: %[[AGAIN:.*]]:2 = metaop.scan %arg1 most 6 carries(%[[C:.*]] = %arg0
// GRAD: metaop.scan_yield %{{.*}}, %[[C]] :
// GRAD: metaop.scan %arg1 most 6 reverse carries(%{{.*}}, %[[SUM:.*]] = %{{.*}}) rows(%{{.*}} = %[[AGAIN]]#1 : tensor<6xf32>)
// GRAD: metaop.add %[[SUM]],
// MOVE-LABEL: @counted(
// MOVE: metaop.scan %arg1 most 6 carries(
func.func @counted(%x: tensor<f32>, %n: tensor<i64>, %w: tensor<f32>) -> tensor<f32> {
  %r = metaop.scan %n most 6 carries(%c = %x : tensor<f32>) -> tensor<f32> {
    %p = metaop.mul %c, %w : tensor<f32>
    %s = metaop.sin %p : tensor<f32>
    metaop.scan_yield %s : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A loop that has counted its trips is a scan of as many, which are not checked
// again.
// GRAD-LABEL: @bounded_while(
// GRAD: %[[R:.*]]:2 = scf.while
// GRAD: metaop.check
// GRAD: %[[AGAIN:.*]]:{{.*}} = metaop.scan %[[R]]#1 most 9 carries(
// GRAD-NOT: metaop.check
// GRAD: metaop.scan %[[R]]#1 most 9 reverse
// GRAD-NOT: metaop.check
// GRAD: return
// MOVE-LABEL: @bounded_while(
// MOVE: %[[R:.*]]:2 = scf.while
// MOVE: metaop.scan %[[R]]#1 most 9 carries(
func.func @bounded_while(%x: tensor<f32>, %limit: tensor<f32>) -> tensor<f32> {
  %one = metaop.constant dense<1> : tensor<i64>
  %zero = metaop.constant dense<0> : tensor<i64>
  %r:2 = scf.while (%v = %x, %n = %zero) : (tensor<f32>, tensor<i64>) -> (tensor<f32>, tensor<i64>) {
    %is_more = metaop.cmp gt %v, %limit : tensor<f32> -> tensor<i1>
    %more = tensor.extract %is_more[] : tensor<i1>
    scf.condition(%more) %v, %n : tensor<f32>, tensor<i64>
  } do {
  ^bb0(%v: tensor<f32>, %n: tensor<i64>):
    %next = metaop.sin %v : tensor<f32>
    %count = metaop.add %n, %one : tensor<i64>
    %checked = metaop.check %count extent = 10 trips : tensor<i64>
    scf.yield %next, %checked : tensor<f32>, tensor<i64>
  } attributes {metaop.max_trips = 9 : i64}
  return %r#0 : tensor<f32>
}

// -----

// A table that each trip reads a row of, and writes a row of, is moved: its
// derivative reads the row, which is saved, and no start of it is. The gradient
// of a table that is read is inserted into the carry that sums it up.
// GRAD-LABEL: @table(
// GRAD: metaop.scan 5 carries
// GRAD: %[[AGAIN:.*]]:4 = metaop.scan 5 unroll 5 carries(%[[I:[a-z0-9]+]] = %{{[a-z0-9]+}} : tensor<i64>, %[[C:[a-z0-9]+]] = %arg0
// GRAD: %[[ROW:.*]] = metaop.reindex %[[C]] symbols(%[[I]])
// GRAD: metaop.scan_yield %{{.*}}, %{{.*}}, %[[I]], %[[ROW]] :
// GRAD-NOT: tensor<5x5x4xf32>
// GRAD: metaop.scan 5 reverse unroll 5 carries(%{{[a-z0-9]+}} = %{{[a-z0-9]+}} : tensor<5x4xf32>, %[[SUM:[a-z0-9]+]] = %{{[a-z0-9]+}} : tensor<5x4xf32>)
// GRAD-NOT: tensor<5x5x4xf32>
// GRAD: %[[NEXT:.*]] = metaop.insert none %{{.*}} into %[[SUM]]
// GRAD-NEXT: metaop.scan_yield %{{.*}}, %[[NEXT]] :
func.func @table(%table: tensor<5x4xf32>, %rows: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %one = metaop.constant dense<1> : tensor<i64>
  %r:2 = metaop.scan 5 carries(%i = %zero : tensor<i64>, %c = %table : tensor<5x4xf32>)
      -> (tensor<i64>, tensor<5x4xf32>) {
    %a = metaop.slice %c[%i, %zero] strides = [1, 1] : tensor<5x4xf32> -> tensor<1x4xf32>
    %b = metaop.slice %rows[%i, %zero] strides = [1, 1] : tensor<5x4xf32> -> tensor<1x4xf32>
    %p = metaop.mul %a, %b : tensor<1x4xf32>
    %n = metaop.insert none %p into %c[%i, %zero] : tensor<1x4xf32> into tensor<5x4xf32>
    %j = metaop.add %i, %one : tensor<i64>
    metaop.scan_yield %j, %n : tensor<i64>, tensor<5x4xf32>
  }
  return %r#1 : tensor<5x4xf32>
}

// -----

// Beside a loop without a bound that only results depend on which nobody uses.
// GRAD-LABEL: @beside_unused(
// GRAD: metaop.scan 5 reverse
// GRAD: return
func.func @beside_unused(%x: tensor<f32>, %n: tensor<i64>) -> tensor<f32> {
  %r:3 = metaop.scan 5 carries(%c = %x : tensor<f32>, %u = %x : tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<5xf32>) {
    %s = metaop.scan %n carries(%v = %u : tensor<f32>) -> tensor<f32> {
      %1 = metaop.exp %v : tensor<f32>
      metaop.scan_yield %1 : tensor<f32>
    }
    %m = metaop.sin %c : tensor<f32>
    metaop.scan_yield %m, %s, %s : tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %r#0 : tensor<f32>
}
