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
