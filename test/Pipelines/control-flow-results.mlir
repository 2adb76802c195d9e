// Results that nobody reads are written all the same: not over what is read.

// RUN: metaop-run %s --compare --seed=3

func.func @unread(%x: tensor<4xf32>, %isMore: tensor<i1>) -> tensor<4xf32> {
  %c = tensor.extract %isMore[] : tensor<i1>
  %r:2 = scf.if %c -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = metaop.exp %x : tensor<4xf32>
    %1 = metaop.stop_fuse %0 : tensor<4xf32>
    %2 = metaop.tanh %1 : tensor<4xf32>
    scf.yield %2, %0 : tensor<4xf32>, tensor<4xf32>
  } else {
    %0 = metaop.tanh %x : tensor<4xf32>
    scf.yield %0, %x : tensor<4xf32>, tensor<4xf32>
  }
  %3 = metaop.reduce add %r#1 dims = [0] : tensor<4xf32> -> tensor<f32>
  %4 = metaop.broadcast %3 dims = [] : tensor<f32> -> tensor<4xf32>
  %5 = metaop.add %4, %r#1 : tensor<4xf32>
  return %5 : tensor<4xf32>
}

// What a loop gives as a result is no part of a concat, though it is one before.
func.func @given(%x: tensor<4xf32>, %n: tensor<i64>) -> (tensor<4xf32>, tensor<8xf32>) {
  %zero = metaop.constant dense<0> : tensor<i64>
  %one = metaop.constant dense<1> : tensor<i64>
  %0 = metaop.exp %x : tensor<4xf32>
  %1 = metaop.stop_fuse %0 : tensor<4xf32>
  %r:2 = scf.while (%k = %n) : (tensor<i64>) -> (tensor<i64>, tensor<4xf32>) {
    %isMore = metaop.cmp gt %k, %zero : tensor<i64> -> tensor<i1>
    %c = tensor.extract %isMore[] : tensor<i1>
    scf.condition(%c) %k, %1 : tensor<i64>, tensor<4xf32>
  } do {
  ^bb0(%k: tensor<i64>, %v: tensor<4xf32>):
    %less = metaop.sub %k, %one : tensor<i64>
    scf.yield %less : tensor<i64>
  }
  %2 = metaop.concat %1, %x dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %3 = metaop.stop_fuse %2 : tensor<8xf32>
  %4 = metaop.tanh %3 : tensor<8xf32>
  return %r#1, %4 : tensor<4xf32>, tensor<8xf32>
}
