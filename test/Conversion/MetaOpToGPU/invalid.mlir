// RUN: metaop-opt %s -convert-metaop-to-gpu -split-input-file -verify-diagnostics

// Schedules are verified (test/Transforms/Schedule/Gpu has each constraint).
func.func private @loops(%x: tensor<64x8xf32>) -> tensor<64xf32> {
  %k = metaop.kernel(%kx = %x : tensor<64x8xf32>) -> tensor<64xf32> {
    // expected-error @below {{(S2) schedule orders 1 loops, but the stage has 2}}
    %r = metaop.fused(%bx = %kx : tensor<64x8xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[block(0)]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i, j) -> (i)> : tensor<64x8xf32> -> tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %r : tensor<64xf32>
  }
  return %k : tensor<64xf32>
}

// -----

func.func private @no_schedule(%x: tensor<64xf32>) -> tensor<64xf32> {
  %k = metaop.kernel(%kx = %x : tensor<64xf32>) -> tensor<64xf32> {
    // expected-error @below {{has no schedule}}
    %r = metaop.fused(%bx = %kx : tensor<64xf32>) -> tensor<64xf32> {
      %y = metaop.neg %bx : tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %r : tensor<64xf32>
  }
  return %k : tensor<64xf32>
}
