// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines

// Stages, kernels, calls and identities: what is computed does not depend on
// them.

// Valid convolution along the rows.
func.func private @convolve(%x: tensor<2x4xf32>, %w: tensor<3xf32>) -> tensor<2x2xf32> {
  %0 = metaop.reindex %x map affine_map<(d0, d1, d2) -> (d0, d1 + d2)>
      fill 0.0 : f32 : tensor<2x4xf32> -> tensor<2x2x3xf32>
  %1 = metaop.broadcast %w dims = [2] : tensor<3xf32> -> tensor<2x2x3xf32>
  %2 = metaop.mul %0, %1 : tensor<2x2x3xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<2x2x3xf32> -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}

func.func @main() -> (
    tensor<2x4xf32>, tensor<2xf32>, tensor<2x4xf32>, tensor<2x2xf32>,
    tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x = metaop.constant
      dense<[[1.0, 2.0, 3.0, 4.0], [0.0, -1.0, 2.0, -3.0]]> : tensor<2x4xf32>
  %w = metaop.constant dense<[0.5, 1.0, -1.0]> : tensor<3xf32>
  %e, %s = metaop.fused(%a = %x : tensor<2x4xf32>)
      -> (tensor<2x4xf32>, tensor<2xf32>) {
    %0 = metaop.exp %a : tensor<2x4xf32>
    %1 = metaop.reduce add %0 dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
    metaop.yield %0, %1 : tensor<2x4xf32>, tensor<2xf32>
  }
  // CHECK: result 0: tensor<2x4xf32>
  // CHECK-NEXT{LITERAL}: [[2.71828, 7.38906, 20.0855, 54.5981],
  // CHECK-NEXT: [1, 0.367879, 7.38906, 0.0497871]]
  // CHECK: result 1: tensor<2xf32>
  // CHECK-NEXT: [84.791, 8.80672]
  %p = metaop.kernel(%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0, %1 = metaop.fused(%b = %a : tensor<2x4xf32>)
        -> (tensor<2x4xf32>, tensor<2xf32>) {
      %2 = metaop.exp %b : tensor<2x4xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
      metaop.yield %2, %3 : tensor<2x4xf32>, tensor<2xf32>
    }
    %4 = metaop.fused(%b = %0 : tensor<2x4xf32>, %c = %1 : tensor<2xf32>)
        -> tensor<2x4xf32> {
      %5 = metaop.broadcast %c dims = [0] : tensor<2xf32> -> tensor<2x4xf32>
      %6 = metaop.div %b, %5 : tensor<2x4xf32>
      metaop.yield %6 : tensor<2x4xf32>
    }
    metaop.yield %4 : tensor<2x4xf32>
  }
  // CHECK: result 2: tensor<2x4xf32>
  // CHECK-NEXT{LITERAL}: [[0.0320586, 0.0871443, 0.236883, 0.643914],
  // CHECK-NEXT: [0.11355, 0.0417726, 0.839025, 0.0056533]]
  %c = func.call @convolve(%x, %w) : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x2xf32>
  // CHECK: result 3: tensor<2x2xf32>
  // CHECK-NEXT{LITERAL}: [[-0.5, 0],
  // CHECK-NEXT: [-3, 4.5]]
  %r0 = metaop.stop_grad %w : tensor<3xf32>
  // CHECK: result 4: tensor<3xf32>
  // CHECK-NEXT: [0.5, 1, -1]
  %r1 = metaop.stop_fuse %w : tensor<3xf32>
  // CHECK: result 5: tensor<3xf32>
  // CHECK-NEXT: [0.5, 1, -1]
  %r2 = metaop.transfer %w from "cpu:0" to "cpu:1" : tensor<3xf32>
  // CHECK: result 6: tensor<3xf32>
  // CHECK-NEXT: [0.5, 1, -1]
  return %e, %s, %p, %c, %r0, %r1, %r2 :
      tensor<2x4xf32>, tensor<2xf32>, tensor<2x4xf32>, tensor<2x2xf32>,
      tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
