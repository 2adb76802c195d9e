// RUN: metaop-opt %s -split-input-file -metaop-gather-scatters -mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-gather-scatters=report=true -o /dev/null
// RUN: metaop-opt %s -split-input-file -metaop-gather-scatters -metaop-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: metaop-opt %s -split-input-file -metaop-gather-scatters -metaop-schedule -metaop-outline -convert-metaop-to-vector -canonicalize -cse | FileCheck %s --check-prefix=LOOPS

// The gradient of a convolution by its input writes at i - j. The loop i becomes
// the result's index k, the longest of the two: each result is summed in
// registers, and reads at i = k + j are guarded.
// CHECK-LABEL: func @difference(
// CHECK: %[[X:.*]] = metaop.reindex %{{.*}} map affine_map<(d0, d1, d2) -> (d0, d1 + d2, d2)> fill 0.000000e+00 : f32 : tensor<50x70x3xf32> -> tensor<50x70x3xf32>
// CHECK: metaop.reindex_reduce add %[[X]] map affine_map<(d0, d1, d2) -> (d1)> where affine_set<(d0, d1, d2) : (-d1 - d2 + 69 >= 0)> : tensor<50x70x3xf32> -> tensor<70xf32>
// LOOPS-LABEL: func @kernel_0
// LOOPS:         scf.for
// LOOPS-NOT:       memref.store
// LOOPS:           scf.for {{.*}} iter_args
// LOOPS-COUNT-3:     vector.maskedload
// LOOPS:             arith.select
// LOOPS:             scf.yield
// LOOPS:           vector.store
func.func @difference(%x: tensor<50x70x3xf32>) -> tensor<70xf32> {
  %0 = metaop.kernel(%a = %x : tensor<50x70x3xf32>) -> tensor<70xf32> {
    // expected-remark @below {{gathers what it scattered}}
    %1 = metaop.fused(%b = %a : tensor<50x70x3xf32>) -> tensor<70xf32> {
      %2 = metaop.reindex_reduce add %b map affine_map<(n, i, j) -> (i - j)> : tensor<50x70x3xf32> -> tensor<70xf32>
      metaop.yield %2 : tensor<70xf32>
    }
    metaop.yield %1 : tensor<70xf32>
  }
  return %0 : tensor<70xf32>
}

// -----

// With a stride, the result's loop consists of steps and of phases, for which
// two or one of three taps are left. Phases fill vectors side by side.
// CHECK-LABEL: func @pooling_gradient(
// CHECK: %[[X:.*]] = metaop.reindex %{{.*}} map affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 - d2, d1 - d3)> fill 0.000000e+00 : f32 : tensor<128x32xf32> -> tensor<129x33x2x2x2x2xf32>
// CHECK: metaop.reindex_reduce add %[[X]] map affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 * 2 + d4, d1 * 2 + d5)>
// CHECK-SAME: d2 * -2 - d4 + 2 >= 0
// SCHEDULE-LABEL: func @pooling_gradient
// SCHEDULE: <[parallel(0), step(4), step(5, 2), step(1, 16), step(2), step(3)], tile = [1: 16, 5: 2], lanes = 1: 16, unroll = [2, 3]>
func.func @pooling_gradient(%x: tensor<128x32xf32>) -> tensor<257x65xf32> {
  %0 = metaop.kernel(%a = %x : tensor<128x32xf32>) -> tensor<257x65xf32> {
    // expected-remark @below {{gathers what it scattered}}
    %1 = metaop.fused(%b = %a : tensor<128x32xf32>) -> tensor<257x65xf32> {
      %2 = metaop.broadcast %b dims = [0, 1] : tensor<128x32xf32> -> tensor<128x32x3x3xf32>
      %r = metaop.reindex_reduce add %2 map affine_map<(i, j, k, l) -> (2 * i + k, 2 * j + l)> : tensor<128x32x3x3xf32> -> tensor<257x65xf32>
      metaop.yield %r : tensor<257x65xf32>
    }
    metaop.yield %1 : tensor<257x65xf32>
  }
  return %0 : tensor<257x65xf32>
}

// -----

// Loops that count down are counted up.
// CHECK-LABEL: func @reversed(
// CHECK: metaop.reindex %{{.*}} map affine_map<(d0, d1, d2) -> (-d0 + d1 + 7, d1 * -2 - d2 + 2)>
// CHECK: metaop.reindex_reduce max %{{.*}} map affine_map<(d0, d1, d2) -> (d0 * 2 + d2)>
func.func @reversed(%x: tensor<8x3xf32>) -> tensor<17xf32> {
  %0 = metaop.kernel(%a = %x : tensor<8x3xf32>) -> tensor<17xf32> {
    // expected-remark @below {{gathers what it scattered}}
    %1 = metaop.fused(%b = %a : tensor<8x3xf32>) -> tensor<17xf32> {
      %r = metaop.reindex_reduce max %b map affine_map<(i, j) -> (-2 * i - j + 16)> : tensor<8x3xf32> -> tensor<17xf32>
      metaop.yield %r : tensor<17xf32>
    }
    metaop.yield %1 : tensor<17xf32>
  }
  return %0 : tensor<17xf32>
}

// -----

// A counter of the loop that goes is computed from those that there are.
// CHECK-LABEL: func @counted(
// CHECK: metaop.iota dim = 0 : tensor<32x3xi64>
// CHECK: metaop.cast %{{.*}} : tensor<32x3xi64> -> tensor<32x3xf32>
func.func @counted(%x: tensor<30x3xf32>) -> tensor<32xf32> {
  %0 = metaop.kernel(%a = %x : tensor<30x3xf32>) -> tensor<32xf32> {
    // expected-remark @below {{gathers what it scattered}}
    %1 = metaop.fused(%b = %a : tensor<30x3xf32>) -> tensor<32xf32> {
      %2 = metaop.iota dim = 0 : tensor<30x3xf32>
      %3 = metaop.mul %b, %2 : tensor<30x3xf32>
      %r = metaop.reindex_reduce add %3 map affine_map<(i, j) -> (i + j)> : tensor<30x3xf32> -> tensor<32xf32>
      metaop.yield %r : tensor<32xf32>
    }
    metaop.yield %1 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// -----

// With a stride and a dilation, the taps of a phase are a stride apart, too;
// phase d2 begins at tap d2 here, as 3 leaves 1.
// CHECK-LABEL: func @dilated(
// CHECK: metaop.reindex %{{.*}} map affine_map<(d0, d1, d2) -> (d0 - d1 * 3 - d2, d1 * 2 + d2)>
// CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1, d2) -> (d0 * 2 + d2)>
// LOOPS-LABEL: func @kernel_0
// LOOPS-NOT:     memref.store
// LOOPS:         vector.store
func.func @dilated(%x: tensor<256x5xf32>) -> tensor<523xf32> {
  %0 = metaop.kernel(%a = %x : tensor<256x5xf32>) -> tensor<523xf32> {
    // expected-remark @below {{gathers what it scattered}}
    %1 = metaop.fused(%b = %a : tensor<256x5xf32>) -> tensor<523xf32> {
      %r = metaop.reindex_reduce add %b map affine_map<(i, j) -> (2 * i + 3 * j)> : tensor<256x5xf32> -> tensor<523xf32>
      metaop.yield %r : tensor<523xf32>
    }
    metaop.yield %1 : tensor<523xf32>
  }
  return %0 : tensor<523xf32>
}

// -----

// Of two loops with steps, the longer one gives the result's.
// CHECK-LABEL: func @longer_second(
// CHECK: metaop.reindex_reduce max %{{.*}} map affine_map<(d0, d1, d2) -> (d1 * 5 + d2)>
func.func @longer_second(%x: tensor<4x64xf32>) -> tensor<330xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x64xf32>) -> tensor<330xf32> {
    // expected-remark @below {{gathers what it scattered}}
    %1 = metaop.fused(%b = %a : tensor<4x64xf32>) -> tensor<330xf32> {
      %r = metaop.reindex_reduce max %b map affine_map<(i, j) -> (3 * i + 5 * j - 2)> : tensor<4x64xf32> -> tensor<330xf32>
      metaop.yield %r : tensor<330xf32>
    }
    metaop.yield %1 : tensor<330xf32>
  }
  return %0 : tensor<330xf32>
}

// -----

// Few steps of a window of as few taps are gathered by phases, too: each result
// has two of four taps, and would go through all four steps otherwise.
// CHECK-LABEL: func @few_steps(
// CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1, d2) -> (d0 * 2 + d2)>
// CHECK-SAME: tensor<4x2x2xf32> -> tensor<8xf32>
func.func @few_steps(%x: tensor<4x4xf32>) -> tensor<8xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<8xf32> {
    // expected-remark @below {{gathers what it scattered}}
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<8xf32> {
      %r = metaop.reindex_reduce add %b map affine_map<(i, j) -> (2 * i + j - 1)> : tensor<4x4xf32> -> tensor<8xf32>
      metaop.yield %r : tensor<8xf32>
    }
    metaop.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// Two steps of seven taps are not: 9 results of two steps are fewer iterations
// than 5 steps of seven taps.
// CHECK-LABEL: func @two_steps(
// CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1) -> (d1)> where {{.*}} : tensor<2x9xf32> -> tensor<9xf32>
func.func @two_steps(%x: tensor<2x7xf32>) -> tensor<9xf32> {
  %0 = metaop.kernel(%a = %x : tensor<2x7xf32>) -> tensor<9xf32> {
    // expected-remark @below {{gathers what it scattered}}
    %1 = metaop.fused(%b = %a : tensor<2x7xf32>) -> tensor<9xf32> {
      %r = metaop.reindex_reduce add %b map affine_map<(i, j) -> (2 * i + j)> : tensor<2x7xf32> -> tensor<9xf32>
      metaop.yield %r : tensor<9xf32>
    }
    metaop.yield %1 : tensor<9xf32>
  }
  return %0 : tensor<9xf32>
}

// -----

// The longer loop is no step where its phases leave more: 8 of five taps rather
// than 5 of six.
// CHECK-LABEL: func @longer_taps(
// CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1, d2) -> (d0 * 3 + d2)>
// CHECK-SAME: tensor<5x2x3xf32> -> tensor<15xf32>
func.func @longer_taps(%x: tensor<5x6xf32>) -> tensor<15xf32> {
  %0 = metaop.kernel(%a = %x : tensor<5x6xf32>) -> tensor<15xf32> {
    // expected-remark @below {{gathers what it scattered}}
    %1 = metaop.fused(%b = %a : tensor<5x6xf32>) -> tensor<15xf32> {
      %r = metaop.reindex_reduce add %b map affine_map<(i, j) -> (3 * i + 2 * j - 5)> : tensor<5x6xf32> -> tensor<15xf32>
      metaop.yield %r : tensor<15xf32>
    }
    metaop.yield %1 : tensor<15xf32>
  }
  return %0 : tensor<15xf32>
}

// -----

// Steps that share a factor are left to simplification, before there are stages.
// CHECK-LABEL: func @shared_factor(
// CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1) -> (d0 * 2 + d1 * 4)>
func.func @shared_factor(%x: tensor<30x3xf32>) -> tensor<67xf32> {
  %0 = metaop.kernel(%a = %x : tensor<30x3xf32>) -> tensor<67xf32> {
    %1 = metaop.fused(%b = %a : tensor<30x3xf32>) -> tensor<67xf32> {
      %r = metaop.reindex_reduce add %b map affine_map<(i, j) -> (2 * i + 4 * j)> : tensor<30x3xf32> -> tensor<67xf32>
      metaop.yield %r : tensor<67xf32>
    }
    metaop.yield %1 : tensor<67xf32>
  }
  return %0 : tensor<67xf32>
}

// -----

// Results that few elements reach are not looked for.
// CHECK-LABEL: func @sparse(
// CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1) -> (d0 * 100 + d1 * 3)>
func.func @sparse(%x: tensor<3x4xf32>) -> tensor<1000xf32> {
  %0 = metaop.kernel(%a = %x : tensor<3x4xf32>) -> tensor<1000xf32> {
    %1 = metaop.fused(%b = %a : tensor<3x4xf32>) -> tensor<1000xf32> {
      %r = metaop.reindex_reduce add %b map affine_map<(i, j) -> (100 * i + 3 * j)> : tensor<3x4xf32> -> tensor<1000xf32>
      metaop.yield %r : tensor<1000xf32>
    }
    metaop.yield %1 : tensor<1000xf32>
  }
  return %0 : tensor<1000xf32>
}

// -----

// A user may forbid it.
// CHECK-LABEL: func @forbidden(
// CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1) -> (d0 + d1)>
func.func @forbidden(%x: tensor<30x3xf32>) -> tensor<32xf32> {
  %0 = metaop.kernel(%a = %x : tensor<30x3xf32>) -> tensor<32xf32> attributes {rewrites = {"gather-scatters" = false}} {
    %1 = metaop.fused(%b = %a : tensor<30x3xf32>) -> tensor<32xf32> {
      %r = metaop.reindex_reduce add %b map affine_map<(i, j) -> (i + j)> : tensor<30x3xf32> -> tensor<32xf32>
      metaop.yield %r : tensor<32xf32>
    }
    metaop.yield %1 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// -----

// or force it, whatever it costs.
// CHECK-LABEL: func @forced(
// CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1) -> (d1)> where {{.*}} : tensor<3x100xf32> -> tensor<100xf32>
func.func @forced(%x: tensor<3x4xf32>) -> tensor<100xf32> {
  %0 = metaop.kernel(%a = %x : tensor<3x4xf32>) -> tensor<100xf32> attributes {rewrites = {"gather-scatters" = true}} {
    // expected-remark @below {{gathers what it scattered, as is forced}}
    %1 = metaop.fused(%b = %a : tensor<3x4xf32>) -> tensor<100xf32> {
      %r = metaop.reindex_reduce add %b map affine_map<(i, j) -> (i + j)> : tensor<3x4xf32> -> tensor<100xf32>
      metaop.yield %r : tensor<100xf32>
    }
    metaop.yield %1 : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}

// -----

// A place that is read at run time moves the result along.
// CHECK-LABEL: func @moved(
// CHECK: metaop.reindex %{{.*}} symbols(%{{.*}}) map affine_map<(d0, d1)[s0] -> (d0 - d1 - s0, d1)>
// CHECK: metaop.reindex_reduce add %{{.*}} symbols(%{{.*}}) map affine_map<(d0, d1)[s0] -> (d0)> where
func.func @moved(%x: tensor<30x3xf32>, %s: tensor<i64>) -> tensor<32xf32> {
  %0 = metaop.kernel(%a = %x : tensor<30x3xf32>, %t = %s : tensor<i64>) -> tensor<32xf32> {
    // expected-remark @below {{gathers what it scattered}}
    %1 = metaop.fused(%b = %a : tensor<30x3xf32>, %u = %t : tensor<i64>) -> tensor<32xf32> {
      %r = metaop.reindex_reduce add %b symbols(%u) map affine_map<(i, j)[s] -> (i + j + s)> : tensor<30x3xf32> -> tensor<32xf32>
      metaop.yield %r : tensor<32xf32>
    }
    metaop.yield %1 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// -----

// A counter beside it stays as it is, and so does the reduction.
// CHECK-LABEL: func @moved_and_counted(
// CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1)[s0] -> (d0 + d1 + s0)>
func.func @moved_and_counted(%x: tensor<30x3xf32>, %s: tensor<i64>) -> tensor<32xf32> {
  %0 = metaop.kernel(%a = %x : tensor<30x3xf32>, %t = %s : tensor<i64>) -> tensor<32xf32> {
    %1 = metaop.fused(%b = %a : tensor<30x3xf32>, %u = %t : tensor<i64>) -> tensor<32xf32> {
      %2 = metaop.iota dim = 0 : tensor<30x3xf32>
      %3 = metaop.mul %b, %2 : tensor<30x3xf32>
      %r = metaop.reindex_reduce add %3 symbols(%u) map affine_map<(i, j)[s] -> (i + j + s)> : tensor<30x3xf32> -> tensor<32xf32>
      metaop.yield %r : tensor<32xf32>
    }
    metaop.yield %1 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}
