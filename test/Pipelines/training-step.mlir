// One step of training a small network: two convolutions, batch norm, ReLU,
// pooling, a linear layer, cross entropy, all gradients, and the update of every
// parameter by gradient descent.

// RUN: split-file %s %t
// RUN: metaop-opt %t/loss.mlir -metaop-autodiff=wrt=1,2,3,4,5,6,7 -mlir-print-local-scope \
// RUN:   | sed -e '/^module {$/d' -e '/^}$/d' > %t/gradient.mlir
// RUN: cat %t/step.mlir %t/gradient.mlir | metaop-opt -inline -symbol-dce -o %t/graph.mlir
// RUN: metaop-opt %t/graph.mlir -metaop-pipeline=to=kernels | FileCheck %s
// RUN: metaop-opt %t/graph.mlir -metaop-pipeline=to=fused | FileCheck %s --check-prefix=MEMBERS
// RUN: metaop-run %t/graph.mlir --compare=1e-4

// 17 kernels and no more; the memory of each parameter but those of gamma and beta, which
// gradients read later on, is written over by its update.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    metaop.results = [#metaop.slot<result, 0>, #metaop.slot<argument, 1>, #metaop.slot<result, 2>, #metaop.slot<result, 3>, #metaop.slot<argument, 4>, #metaop.slot<argument, 5>, #metaop.slot<argument, 6>, #metaop.slot<argument, 7>]
// CHECK-COUNT-17: call @kernel_
// CHECK-NOT:      call @
// CHECK:          return

// MEMBERS-LABEL: func.func @main
// The first convolution.
// MEMBERS:      metaop.kernel{{.*}} -> tensor<2x4x8x8xf32>
// MEMBERS:        metaop.reindex {{.*}} -> tensor<2x4x8x8x1x3x3xf32>
// MEMBERS-NEXT:   metaop.reindex {{.*}} -> tensor<2x4x8x8x1x3x3xf32>
// MEMBERS-NEXT:   metaop.mul
// MEMBERS-NEXT:   metaop.reindex_reduce add
// MEMBERS-NEXT:   metaop.yield
// Both means of batch norm.
// MEMBERS:      metaop.kernel{{.*}} -> (tensor<4xf32>, tensor<4xf32>)
// MEMBERS:        metaop.reindex_reduce add
// MEMBERS-NEXT:   metaop.mul
// MEMBERS-NEXT:   metaop.reindex_reduce add
// MEMBERS-NEXT:   metaop.yield
// Normalisation, ReLU and pooling, and where ReLU cut off for the gradient.
// MEMBERS:      metaop.kernel
// MEMBERS:        metaop.sqrt
// MEMBERS:        metaop.max
// MEMBERS:        metaop.reindex_reduce max {{.*}} -> tensor<2x4x4x4xf32>
// MEMBERS:        metaop.yield
// The second convolution; bias and ReLU.
// MEMBERS:      metaop.kernel{{.*}} -> tensor<2x8x4x4xf32>
// MEMBERS:        metaop.reindex_reduce add {{.*}} -> tensor<2x8x4x4xf32>
// MEMBERS-NEXT:   metaop.yield
// MEMBERS:      metaop.kernel
// MEMBERS:        metaop.add
// MEMBERS:        metaop.max
// The linear layer.
// MEMBERS:      metaop.kernel{{.*}} -> tensor<2x5xf32>
// MEMBERS:        metaop.reindex_reduce add
// Cross entropy: logits and their maximum; exponentials and sums; the loss.
// MEMBERS:      metaop.kernel{{.*}} -> (tensor<2x5xf32>, tensor<2xf32>)
// MEMBERS:        metaop.add
// MEMBERS-NEXT:   metaop.reindex_reduce max
// MEMBERS:      metaop.kernel{{.*}} -> (tensor<2x5xf32>, tensor<2xf32>, tensor<2xf32>)
// MEMBERS:        metaop.exp
// MEMBERS:        metaop.reindex_reduce add
// MEMBERS:        metaop.select
// MEMBERS:        metaop.reindex_reduce add
// MEMBERS:      metaop.kernel{{.*}} -> (tensor<f32>, tensor<2xf32>)
// MEMBERS:        metaop.log
// MEMBERS:        metaop.reindex_reduce add {{.*}} -> tensor<f32>
// The gradients of the second convolution by weights and input, each in one kernel.
// MEMBERS:      metaop.kernel{{.*}} -> tensor<8x4x3x3xf32>
// MEMBERS:        metaop.mul
// MEMBERS-NEXT:   metaop.reindex_reduce add {{.*}} -> tensor<8x4x3x3xf32>
// MEMBERS:      metaop.kernel{{.*}} -> tensor<2x4x4x4xf32>
// MEMBERS:        metaop.mul
// MEMBERS-NEXT:   metaop.reindex_reduce add {{.*}} -> tensor<2x4x4x4xf32>
// That of the first by its weights.
// MEMBERS:      metaop.kernel{{.*}} -> tensor<4x1x3x3xf32>
// MEMBERS:        metaop.reindex_reduce add {{.*}} -> tensor<4x1x3x3xf32>
// An update.
// MEMBERS:      metaop.kernel{{.*}} -> tensor<4x1x3x3xf32>
// MEMBERS:        metaop.reindex
// MEMBERS-NEXT:   metaop.mul
// MEMBERS-NEXT:   metaop.sub
// MEMBERS-NEXT:   metaop.yield

//--- loss.mlir
func.func private @loss(
    %x: tensor<2x1x8x8xf32>, %w1: tensor<4x1x3x3xf32>, %gamma: tensor<4xf32>, %beta: tensor<4xf32>,
    %w2: tensor<8x4x3x3xf32>, %b2: tensor<8xf32>, %w3: tensor<128x5xf32>, %b3: tensor<5xf32>,
    %labels: tensor<2xi32>) -> tensor<f32> {
  // The first convolution.
  %x_windows = metaop.reindex %x map affine_map<(n, o, h, w, c, i, j) -> (n, c, h + i - 1, w + j - 1)> fill 0.0 : f32
      : tensor<2x1x8x8xf32> -> tensor<2x4x8x8x1x3x3xf32>
  %w1_all = metaop.broadcast %w1 dims = [1, 4, 5, 6] : tensor<4x1x3x3xf32> -> tensor<2x4x8x8x1x3x3xf32>
  %products1 = metaop.mul %x_windows, %w1_all : tensor<2x4x8x8x1x3x3xf32>
  %conv1 = metaop.reduce add %products1 dims = [4, 5, 6] : tensor<2x4x8x8x1x3x3xf32> -> tensor<2x4x8x8xf32>

  // Batch norm.
  %per_channel = metaop.constant dense<0.0078125> : tensor<4xf32>
  %epsilon = metaop.constant dense<1.0e-5> : tensor<4xf32>
  %sum = metaop.reduce add %conv1 dims = [0, 2, 3] : tensor<2x4x8x8xf32> -> tensor<4xf32>
  %mean = metaop.mul %sum, %per_channel : tensor<4xf32>
  %squares = metaop.mul %conv1, %conv1 : tensor<2x4x8x8xf32>
  %square_sum = metaop.reduce add %squares dims = [0, 2, 3] : tensor<2x4x8x8xf32> -> tensor<4xf32>
  %square_mean = metaop.mul %square_sum, %per_channel : tensor<4xf32>
  %mean_square = metaop.mul %mean, %mean : tensor<4xf32>
  %variance = metaop.sub %square_mean, %mean_square : tensor<4xf32>
  %variance_eps = metaop.add %variance, %epsilon : tensor<4xf32>
  %deviation = metaop.sqrt %variance_eps : tensor<4xf32>
  %factor = metaop.div %gamma, %deviation : tensor<4xf32>
  %mean_all = metaop.broadcast %mean dims = [1] : tensor<4xf32> -> tensor<2x4x8x8xf32>
  %factor_all = metaop.broadcast %factor dims = [1] : tensor<4xf32> -> tensor<2x4x8x8xf32>
  %beta_all = metaop.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<2x4x8x8xf32>
  %centred = metaop.sub %conv1, %mean_all : tensor<2x4x8x8xf32>
  %scaled = metaop.mul %centred, %factor_all : tensor<2x4x8x8xf32>
  %normalised = metaop.add %scaled, %beta_all : tensor<2x4x8x8xf32>

  // ReLU and pooling.
  %zero1 = metaop.constant dense<0.0> : tensor<2x4x8x8xf32>
  %relu1 = metaop.max %normalised, %zero1 : tensor<2x4x8x8xf32>
  %pooled = metaop.reindex_reduce max %relu1 map affine_map<(n, c, h, w) -> (n, c, h floordiv 2, w floordiv 2)>
      : tensor<2x4x8x8xf32> -> tensor<2x4x4x4xf32>

  // The second convolution, bias and ReLU.
  %pooled_windows = metaop.reindex %pooled map affine_map<(n, o, h, w, c, i, j) -> (n, c, h + i - 1, w + j - 1)> fill 0.0 : f32
      : tensor<2x4x4x4xf32> -> tensor<2x8x4x4x4x3x3xf32>
  %w2_all = metaop.broadcast %w2 dims = [1, 4, 5, 6] : tensor<8x4x3x3xf32> -> tensor<2x8x4x4x4x3x3xf32>
  %products2 = metaop.mul %pooled_windows, %w2_all : tensor<2x8x4x4x4x3x3xf32>
  %conv2 = metaop.reduce add %products2 dims = [4, 5, 6] : tensor<2x8x4x4x4x3x3xf32> -> tensor<2x8x4x4xf32>
  %b2_all = metaop.broadcast %b2 dims = [1] : tensor<8xf32> -> tensor<2x8x4x4xf32>
  %biased = metaop.add %conv2, %b2_all : tensor<2x8x4x4xf32>
  %zero2 = metaop.constant dense<0.0> : tensor<2x8x4x4xf32>
  %relu2 = metaop.max %biased, %zero2 : tensor<2x8x4x4xf32>

  // The linear layer.
  %flat = metaop.reshape %relu2 : tensor<2x8x4x4xf32> -> tensor<2x128xf32>
  %flat_all = metaop.broadcast %flat dims = [0, 1] : tensor<2x128xf32> -> tensor<2x128x5xf32>
  %w3_all = metaop.broadcast %w3 dims = [1, 2] : tensor<128x5xf32> -> tensor<2x128x5xf32>
  %products3 = metaop.mul %flat_all, %w3_all : tensor<2x128x5xf32>
  %linear = metaop.reduce add %products3 dims = [1] : tensor<2x128x5xf32> -> tensor<2x5xf32>
  %b3_all = metaop.broadcast %b3 dims = [1] : tensor<5xf32> -> tensor<2x5xf32>
  %logits = metaop.add %linear, %b3_all : tensor<2x5xf32>

  // Cross entropy.
  %most = metaop.reduce max %logits dims = [1] : tensor<2x5xf32> -> tensor<2xf32>
  %most_fixed = metaop.stop_grad %most : tensor<2xf32>
  %most_all = metaop.broadcast %most_fixed dims = [0] : tensor<2xf32> -> tensor<2x5xf32>
  %shifted = metaop.sub %logits, %most_all : tensor<2x5xf32>
  %exponentials = metaop.exp %shifted : tensor<2x5xf32>
  %exponential_sum = metaop.reduce add %exponentials dims = [1] : tensor<2x5xf32> -> tensor<2xf32>
  %log_sum = metaop.log %exponential_sum : tensor<2xf32>
  %classes = metaop.iota dim = 1 : tensor<2x5xi32>
  %labels_all = metaop.broadcast %labels dims = [0] : tensor<2xi32> -> tensor<2x5xi32>
  %is_label = metaop.cmp eq %classes, %labels_all : tensor<2x5xi32> -> tensor<2x5xi1>
  %zero3 = metaop.constant dense<0.0> : tensor<2x5xf32>
  %chosen = metaop.select %is_label, %shifted, %zero3 : tensor<2x5xi1>, tensor<2x5xf32>
  %label_logit = metaop.reduce add %chosen dims = [1] : tensor<2x5xf32> -> tensor<2xf32>
  %losses = metaop.sub %log_sum, %label_logit : tensor<2xf32>
  %half = metaop.constant dense<0.5> : tensor<2xf32>
  %weighted = metaop.mul %losses, %half : tensor<2xf32>
  %loss = metaop.reduce add %weighted dims = [0] : tensor<2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

//--- step.mlir
func.func @main(
    %x: tensor<2x1x8x8xf32>, %w1: tensor<4x1x3x3xf32> {metaop.donatable},
    %gamma: tensor<4xf32> {metaop.donatable},
    %beta: tensor<4xf32> {metaop.donatable},
    %w2: tensor<8x4x3x3xf32> {metaop.donatable},
    %b2: tensor<8xf32> {metaop.donatable},
    %w3: tensor<128x5xf32> {metaop.donatable},
    %b3: tensor<5xf32> {metaop.donatable},
    %labels: tensor<2xi32>, %rate: tensor<f32>)
    -> (tensor<f32>, tensor<4x1x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>, tensor<128x5xf32>, tensor<5xf32>) {
  %loss:8 = call @loss(%x, %w1, %gamma, %beta, %w2, %b2, %w3, %b3, %labels)
      : (tensor<2x1x8x8xf32>, tensor<4x1x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>, tensor<128x5xf32>, tensor<5xf32>, tensor<2xi32>)
      -> (tensor<f32>, tensor<4x1x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>, tensor<128x5xf32>, tensor<5xf32>)
  %w1_rate = metaop.broadcast %rate dims = [] : tensor<f32> -> tensor<4x1x3x3xf32>
  %w1_step = metaop.mul %w1_rate, %loss#1 : tensor<4x1x3x3xf32>
  %w1_new = metaop.sub %w1, %w1_step : tensor<4x1x3x3xf32>
  %gamma_rate = metaop.broadcast %rate dims = [] : tensor<f32> -> tensor<4xf32>
  %gamma_step = metaop.mul %gamma_rate, %loss#2 : tensor<4xf32>
  %gamma_new = metaop.sub %gamma, %gamma_step : tensor<4xf32>
  %beta_rate = metaop.broadcast %rate dims = [] : tensor<f32> -> tensor<4xf32>
  %beta_step = metaop.mul %beta_rate, %loss#3 : tensor<4xf32>
  %beta_new = metaop.sub %beta, %beta_step : tensor<4xf32>
  %w2_rate = metaop.broadcast %rate dims = [] : tensor<f32> -> tensor<8x4x3x3xf32>
  %w2_step = metaop.mul %w2_rate, %loss#4 : tensor<8x4x3x3xf32>
  %w2_new = metaop.sub %w2, %w2_step : tensor<8x4x3x3xf32>
  %b2_rate = metaop.broadcast %rate dims = [] : tensor<f32> -> tensor<8xf32>
  %b2_step = metaop.mul %b2_rate, %loss#5 : tensor<8xf32>
  %b2_new = metaop.sub %b2, %b2_step : tensor<8xf32>
  %w3_rate = metaop.broadcast %rate dims = [] : tensor<f32> -> tensor<128x5xf32>
  %w3_step = metaop.mul %w3_rate, %loss#6 : tensor<128x5xf32>
  %w3_new = metaop.sub %w3, %w3_step : tensor<128x5xf32>
  %b3_rate = metaop.broadcast %rate dims = [] : tensor<f32> -> tensor<5xf32>
  %b3_step = metaop.mul %b3_rate, %loss#7 : tensor<5xf32>
  %b3_new = metaop.sub %b3, %b3_step : tensor<5xf32>
  return %loss#0, %w1_new, %gamma_new, %beta_new, %w2_new, %b2_new, %w3_new, %b3_new
      : tensor<f32>, tensor<4x1x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>, tensor<128x5xf32>, tensor<5xf32>
}
