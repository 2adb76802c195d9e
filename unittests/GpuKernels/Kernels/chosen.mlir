// What is chosen for small stages of each kind: `metaop-opt
// --metaop-pipeline="to=scheduled target=cuda"` has written the schedules.

// Element by element.
func.func private @points(%arg0: tensor<5001xf32>) -> tensor<5001xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<5001xf32>) -> tensor<5001xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<5001xf32>) -> tensor<5001xf32> schedule(#metaop.schedule<[block(0, 256), thread(0, 4)], tile = [0: 4], lanes = 0: 4>) {
      %2 = metaop.exp %arg2 : tensor<5001xf32>
      metaop.yield %2 : tensor<5001xf32>
    }
    metaop.yield %1 : tensor<5001xf32>
  }
  return %0 : tensor<5001xf32>
}

func.func private @points_bf16(%arg0: tensor<40000xbf16>) -> tensor<40000xbf16> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<40000xbf16>) -> tensor<40000xbf16> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<40000xbf16>) -> tensor<40000xbf16> schedule(#metaop.schedule<[block(0, 512), thread(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %2 = metaop.exp %arg2 : tensor<40000xbf16>
      metaop.yield %2 : tensor<40000xbf16>
    }
    metaop.yield %1 : tensor<40000xbf16>
  }
  return %0 : tensor<40000xbf16>
}

func.func private @points_f64(%arg0: tensor<333xf64>) -> tensor<333xf64> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<333xf64>) -> tensor<333xf64> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<333xf64>) -> tensor<333xf64> schedule(#metaop.schedule<[block(0, 128), thread(0, 2)], tile = [0: 2], lanes = 0: 2>) {
      %2 = metaop.exp %arg2 : tensor<333xf64>
      metaop.yield %2 : tensor<333xf64>
    }
    metaop.yield %1 : tensor<333xf64>
  }
  return %0 : tensor<333xf64>
}

func.func private @rows_of_odd_length(%arg0: tensor<33x101xf32>, %arg1: tensor<33xf32>) -> tensor<33x101xf32> {
  %0 = metaop.kernel(%arg2 = %arg1 : tensor<33xf32>, %arg3 = %arg0 : tensor<33x101xf32>) -> tensor<33x101xf32> {
    %1 = metaop.fused(%arg4 = %arg2 : tensor<33xf32>, %arg5 = %arg3 : tensor<33x101xf32>) -> tensor<33x101xf32> schedule(#metaop.schedule<[block(0), block(1, 64), thread(1)]>) {
      %2 = metaop.reindex %arg4 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<33xf32> -> tensor<33x101xf32>
      %3 = metaop.add %arg5, %2 : tensor<33x101xf32>
      metaop.yield %3 : tensor<33x101xf32>
    }
    metaop.yield %1 : tensor<33x101xf32>
  }
  return %0 : tensor<33x101xf32>
}

func.func private @four_dims(%arg0: tensor<3x5x7x11xf32>, %arg1: tensor<3x7xf32>) -> tensor<3x5x7x11xf32> {
  %0 = metaop.kernel(%arg2 = %arg1 : tensor<3x7xf32>, %arg3 = %arg0 : tensor<3x5x7x11xf32>) -> tensor<3x5x7x11xf32> {
    %1 = metaop.fused(%arg4 = %arg2 : tensor<3x7xf32>, %arg5 = %arg3 : tensor<3x5x7x11xf32>) -> tensor<3x5x7x11xf32> schedule(#metaop.schedule<[block(0), block(1), block(2, 5), block(3, 11), thread(2), thread(3)]>) {
      %2 = metaop.reindex %arg4 map affine_map<(d0, d1, d2, d3) -> (d0, d2)> fill 0.000000e+00 : f32 : tensor<3x7xf32> -> tensor<3x5x7x11xf32>
      %3 = metaop.mul %arg5, %2 : tensor<3x5x7x11xf32>
      metaop.yield %3 : tensor<3x5x7x11xf32>
    }
    metaop.yield %1 : tensor<3x5x7x11xf32>
  }
  return %0 : tensor<3x5x7x11xf32>
}

// Reductions.
func.func private @row_sums(%arg0: tensor<40x1000xf32>) -> tensor<40xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<40x1000xf32>) -> tensor<40xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<40x1000xf32>) -> tensor<40xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
      %2 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<40x1000xf32> -> tensor<40xf32>
      metaop.yield %2 : tensor<40xf32>
    }
    metaop.yield %1 : tensor<40xf32>
  }
  return %0 : tensor<40xf32>
}

func.func private @row_sums_short(%arg0: tensor<5000x24xf32>) -> tensor<5000xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<5000x24xf32>) -> tensor<5000xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<5000x24xf32>) -> tensor<5000xf32> schedule(#metaop.schedule<[block(0, 19), step(1, 32), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %2 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<5000x24xf32> -> tensor<5000xf32>
      metaop.yield %2 : tensor<5000xf32>
    }
    metaop.yield %1 : tensor<5000xf32>
  }
  return %0 : tensor<5000xf32>
}

func.func private @row_sums_odd(%arg0: tensor<30x777xf32>) -> tensor<30xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<30x777xf32>) -> tensor<30xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<30x777xf32>) -> tensor<30xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1)], tile = [1: 4]>) {
      %2 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<30x777xf32> -> tensor<30xf32>
      metaop.yield %2 : tensor<30xf32>
    }
    metaop.yield %1 : tensor<30xf32>
  }
  return %0 : tensor<30xf32>
}

func.func private @row_maxima_bf16(%arg0: tensor<64x520xbf16>) -> tensor<64xbf16> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<64x520xbf16>) -> tensor<64xbf16> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<64x520xbf16>) -> tensor<64xbf16> schedule(#metaop.schedule<[block(0), step(1, 768), thread(1, 8)], tile = [1: 24], lanes = 1: 8>) {
      %2 = metaop.reindex_reduce max %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<64x520xbf16> -> tensor<64xbf16>
      metaop.yield %2 : tensor<64xbf16>
    }
    metaop.yield %1 : tensor<64xbf16>
  }
  return %0 : tensor<64xbf16>
}

func.func private @row_sums_bf16(%arg0: tensor<64x520xbf16>) -> tensor<64xbf16> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<64x520xbf16>) -> tensor<64xbf16> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<64x520xbf16>) -> tensor<64xbf16> schedule(#metaop.schedule<[block(0), step(1, 768), thread(1, 8)], tile = [1: 24], lanes = 1: 8>) {
      %2 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<64x520xbf16> -> tensor<64xbf16>
      metaop.yield %2 : tensor<64xbf16>
    }
    metaop.yield %1 : tensor<64xbf16>
  }
  return %0 : tensor<64xbf16>
}

func.func private @column_sums(%arg0: tensor<300x70xf32>) -> tensor<70xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<300x70xf32>) -> tensor<70xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<300x70xf32>) -> tensor<70xf32> schedule(#metaop.schedule<[block(1, 32), step(0, 256), thread(0), thread(1)], tile = [0: 8]>) {
      %2 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1) -> (d1)> : tensor<300x70xf32> -> tensor<70xf32>
      metaop.yield %2 : tensor<70xf32>
    }
    metaop.yield %1 : tensor<70xf32>
  }
  return %0 : tensor<70xf32>
}

func.func private @column_sums_bf16(%arg0: tensor<300x70xbf16>) -> tensor<70xbf16> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<300x70xbf16>) -> tensor<70xbf16> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<300x70xbf16>) -> tensor<70xbf16> schedule(#metaop.schedule<[block(1, 64), step(0, 256), thread(0), thread(1, 2)], tile = [0: 8, 1: 2], lanes = 1: 2>) {
      %2 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1) -> (d1)> : tensor<300x70xbf16> -> tensor<70xbf16>
      metaop.yield %2 : tensor<70xbf16>
    }
    metaop.yield %1 : tensor<70xbf16>
  }
  return %0 : tensor<70xbf16>
}

func.func private @middle_sums(%arg0: tensor<9x40x33xf32>) -> tensor<9x33xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<9x40x33xf32>) -> tensor<9x33xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<9x40x33xf32>) -> tensor<9x33xf32> schedule(#metaop.schedule<[block(0), block(2, 32), step(1, 40), thread(1), thread(2)], tile = [1: 5]>) {
      %2 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<9x40x33xf32> -> tensor<9x33xf32>
      metaop.yield %2 : tensor<9x33xf32>
    }
    metaop.yield %1 : tensor<9x33xf32>
  }
  return %0 : tensor<9x33xf32>
}

func.func private @outer_sums(%arg0: tensor<16x6x50xf32>) -> tensor<6xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<16x6x50xf32>) -> tensor<6xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<16x6x50xf32>) -> tensor<6xf32> schedule(#metaop.schedule<[block(1), step(0, 8), step(2, 64), thread(0), thread(2, 2)], tile = [2: 2], lanes = 2: 2>) {
      %2 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1, d2) -> (d1)> : tensor<16x6x50xf32> -> tensor<6xf32>
      metaop.yield %2 : tensor<6xf32>
    }
    metaop.yield %1 : tensor<6xf32>
  }
  return %0 : tensor<6xf32>
}

func.func private @windows(%arg0: tensor<100x4x40xf32>) -> tensor<100x40xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<100x4x40xf32>) -> tensor<100x40xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<100x4x40xf32>) -> tensor<100x40xf32> schedule(#metaop.schedule<[block(0, 6), block(2, 40), thread(0), thread(2, 4), step(1)], tile = [2: 4], lanes = 2: 4>) {
      %2 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<100x4x40xf32> -> tensor<100x40xf32>
      metaop.yield %2 : tensor<100x40xf32>
    }
    metaop.yield %1 : tensor<100x40xf32>
  }
  return %0 : tensor<100x40xf32>
}

func.func private @all_sums(%arg0: tensor<50x61xf32>) -> tensor<f32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<50x61xf32>) -> tensor<f32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<50x61xf32>) -> tensor<f32> schedule(#metaop.schedule<[step(0, 3072), thread(0, 4)], tile = [0: 12], lanes = 0: 4>) {
      %2 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1) -> ()> : tensor<50x61xf32> -> tensor<f32>
      metaop.yield %2 : tensor<f32>
    }
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// Squares, whole and not.
func.func private @transposed(%arg0: tensor<100x70xf32>) -> tensor<70x100xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<100x70xf32>) -> tensor<70x100xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<100x70xf32>) -> tensor<70x100xf32> schedule(#metaop.schedule<[block(0, 32), block(1, 32), thread(0), thread(1)], tile = [0: 4], staged = [0: 1]>) {
      %2 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d1, d0)> fill 0.000000e+00 : f32 : tensor<100x70xf32> -> tensor<70x100xf32>
      metaop.yield %2 : tensor<70x100xf32>
    }
    metaop.yield %1 : tensor<70x100xf32>
  }
  return %0 : tensor<70x100xf32>
}

func.func private @transposed_bf16(%arg0: tensor<130x70xbf16>) -> tensor<70x130xbf16> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<130x70xbf16>) -> tensor<70x130xbf16> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<130x70xbf16>) -> tensor<70x130xbf16> schedule(#metaop.schedule<[block(0, 64), block(1, 32), thread(0), thread(1)], tile = [0: 8], staged = [0: 2]>) {
      %2 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d1, d0)> fill 0.000000e+00 : bf16 : tensor<130x70xbf16> -> tensor<70x130xbf16>
      metaop.yield %2 : tensor<70x130xbf16>
    }
    metaop.yield %1 : tensor<70x130xbf16>
  }
  return %0 : tensor<70x130xbf16>
}

func.func private @transposed_f64(%arg0: tensor<40x70xf64>) -> tensor<70x40xf64> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<40x70xf64>) -> tensor<70x40xf64> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<40x70xf64>) -> tensor<70x40xf64> schedule(#metaop.schedule<[block(0, 32), block(1, 32), thread(0), thread(1)], tile = [0: 4], staged = [0: 1]>) {
      %2 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d1, d0)> fill 0.000000e+00 : f64 : tensor<40x70xf64> -> tensor<70x40xf64>
      metaop.yield %2 : tensor<70x40xf64>
    }
    metaop.yield %1 : tensor<70x40xf64>
  }
  return %0 : tensor<70x40xf64>
}

func.func private @permuted(%arg0: tensor<20x33x18xf32>) -> tensor<18x20x33xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<20x33x18xf32>) -> tensor<18x20x33xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<20x33x18xf32>) -> tensor<18x20x33xf32> schedule(#metaop.schedule<[block(0, 32), block(1, 32), thread(0), thread(1)], tile = [0: 4], staged = [0: 1]>) {
      %2 = metaop.reindex %arg2 map affine_map<(d0, d1, d2) -> (d1, d2, d0)> fill 0.000000e+00 : f32 : tensor<20x33x18xf32> -> tensor<18x20x33xf32>
      metaop.yield %2 : tensor<18x20x33xf32>
    }
    metaop.yield %1 : tensor<18x20x33xf32>
  }
  return %0 : tensor<18x20x33xf32>
}

// Contractions.
func.func private @product(%arg0: tensor<70x33xf32>, %arg1: tensor<33x90xf32>) -> tensor<70x90xf32> {
  %0 = metaop.kernel(%arg2 = %arg0 : tensor<70x33xf32>, %arg3 = %arg1 : tensor<33x90xf32>) -> tensor<70x90xf32> {
    %1 = metaop.fused(%arg4 = %arg2 : tensor<70x33xf32>, %arg5 = %arg3 : tensor<33x90xf32>) -> tensor<70x90xf32> schedule(#metaop.schedule<[block(0, 64), block(2, 64), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4, 2: 4], staged = [0: 1, 1: 1]>) {
      %2 = metaop.reindex %arg4 map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.000000e+00 : f32 : tensor<70x33xf32> -> tensor<70x33x90xf32>
      %3 = metaop.reindex %arg5 map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.000000e+00 : f32 : tensor<33x90xf32> -> tensor<70x33x90xf32>
      %4 = metaop.mul %2, %3 : tensor<70x33x90xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<70x33x90xf32> -> tensor<70x90xf32>
      metaop.yield %5 : tensor<70x90xf32>
    }
    metaop.yield %1 : tensor<70x90xf32>
  }
  return %0 : tensor<70x90xf32>
}

func.func private @small_product(%arg0: tensor<17x5xf32>, %arg1: tensor<5x3xf32>) -> tensor<17x3xf32> {
  %0 = metaop.kernel(%arg2 = %arg0 : tensor<17x5xf32>, %arg3 = %arg1 : tensor<5x3xf32>) -> tensor<17x3xf32> {
    %1 = metaop.fused(%arg4 = %arg2 : tensor<17x5xf32>, %arg5 = %arg3 : tensor<5x3xf32>) -> tensor<17x3xf32> schedule(#metaop.schedule<[block(0, 32), block(2, 4), step(1, 8), thread(0), thread(2), step(1)], tile = [0: 4], staged = [0: 1, 1: 1]>) {
      %2 = metaop.reindex %arg4 map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.000000e+00 : f32 : tensor<17x5xf32> -> tensor<17x5x3xf32>
      %3 = metaop.reindex %arg5 map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.000000e+00 : f32 : tensor<5x3xf32> -> tensor<17x5x3xf32>
      %4 = metaop.mul %2, %3 : tensor<17x5x3xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<17x5x3xf32> -> tensor<17x3xf32>
      metaop.yield %5 : tensor<17x3xf32>
    }
    metaop.yield %1 : tensor<17x3xf32>
  }
  return %0 : tensor<17x3xf32>
}

// Prefixes.
func.func private @sums_so_far(%arg0: tensor<40x300xf32>) -> tensor<40x300xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<40x300xf32>) -> tensor<40x300xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<40x300xf32>) -> tensor<40x300xf32> schedule(#metaop.schedule<[block(1, 64), thread(1), step(0)]>) {
      %2 = metaop.prefix add %arg2 dim = 0 : tensor<40x300xf32>
      metaop.yield %2 : tensor<40x300xf32>
    }
    metaop.yield %1 : tensor<40x300xf32>
  }
  return %0 : tensor<40x300xf32>
}

// Stages that share rows.
func.func private @softmax_short(%arg0: tensor<100x60xf32>) -> tensor<100x60xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<100x60xf32>) -> tensor<100x60xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<100x60xf32>) -> tensor<100xf32> schedule(#metaop.schedule<[block(0), step(1, 64), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers]>) {
      %4 = metaop.reindex_reduce max %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<100x60xf32> -> tensor<100xf32>
      metaop.yield %4 : tensor<100xf32>
    }
    %2:2 = metaop.fused(%arg2 = %1 : tensor<100xf32>, %arg3 = %arg1 : tensor<100x60xf32>) -> (tensor<100x60xf32>, tensor<100xf32>) schedule(#metaop.schedule<[block(0), step(1, 64), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers, registers], shared = 1>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<100xf32> -> tensor<100x60xf32>
      %5 = metaop.sub %arg3, %4 : tensor<100x60xf32>
      %6 = metaop.exp %5 : tensor<100x60xf32>
      %7 = metaop.reindex_reduce add %6 map affine_map<(d0, d1) -> (d0)> : tensor<100x60xf32> -> tensor<100xf32>
      metaop.yield %6, %7 : tensor<100x60xf32>, tensor<100xf32>
    }
    %3 = metaop.fused(%arg2 = %2#1 : tensor<100xf32>, %arg3 = %2#0 : tensor<100x60xf32>) -> tensor<100x60xf32> schedule(#metaop.schedule<[block(0), step(1, 64), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 1>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<100xf32> -> tensor<100x60xf32>
      %5 = metaop.div %arg3, %4 : tensor<100x60xf32>
      metaop.yield %5 : tensor<100x60xf32>
    }
    metaop.yield %3 : tensor<100x60xf32>
  }
  return %0 : tensor<100x60xf32>
}

func.func private @softmax(%arg0: tensor<20x1000xf32>) -> tensor<20x1000xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<20x1000xf32>) -> tensor<20x1000xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<20x1000xf32>) -> tensor<20xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers]>) {
      %4 = metaop.reindex_reduce max %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<20x1000xf32> -> tensor<20xf32>
      metaop.yield %4 : tensor<20xf32>
    }
    %2:2 = metaop.fused(%arg2 = %1 : tensor<20xf32>, %arg3 = %arg1 : tensor<20x1000xf32>) -> (tensor<20x1000xf32>, tensor<20xf32>) schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers, registers], shared = 1>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<20xf32> -> tensor<20x1000xf32>
      %5 = metaop.sub %arg3, %4 : tensor<20x1000xf32>
      %6 = metaop.exp %5 : tensor<20x1000xf32>
      %7 = metaop.reindex_reduce add %6 map affine_map<(d0, d1) -> (d0)> : tensor<20x1000xf32> -> tensor<20xf32>
      metaop.yield %6, %7 : tensor<20x1000xf32>, tensor<20xf32>
    }
    %3 = metaop.fused(%arg2 = %2#1 : tensor<20xf32>, %arg3 = %2#0 : tensor<20x1000xf32>) -> tensor<20x1000xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 16], lanes = 1: 4, shared = 1>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<20xf32> -> tensor<20x1000xf32>
      %5 = metaop.div %arg3, %4 : tensor<20x1000xf32>
      metaop.yield %5 : tensor<20x1000xf32>
    }
    metaop.yield %3 : tensor<20x1000xf32>
  }
  return %0 : tensor<20x1000xf32>
}

func.func private @softmax_odd(%arg0: tensor<10x1501xf32>) -> tensor<10x1501xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<10x1501xf32>) -> tensor<10x1501xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<10x1501xf32>) -> tensor<10xf32> schedule(#metaop.schedule<[block(0), step(1, 1536), thread(1)], tile = [1: 6], place = [registers]>) {
      %4 = metaop.reindex_reduce max %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<10x1501xf32> -> tensor<10xf32>
      metaop.yield %4 : tensor<10xf32>
    }
    %2:2 = metaop.fused(%arg2 = %1 : tensor<10xf32>, %arg3 = %arg1 : tensor<10x1501xf32>) -> (tensor<10x1501xf32>, tensor<10xf32>) schedule(#metaop.schedule<[block(0), step(1, 1536), thread(1)], tile = [1: 6], place = [registers, registers], shared = 1>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<10xf32> -> tensor<10x1501xf32>
      %5 = metaop.sub %arg3, %4 : tensor<10x1501xf32>
      %6 = metaop.exp %5 : tensor<10x1501xf32>
      %7 = metaop.reindex_reduce add %6 map affine_map<(d0, d1) -> (d0)> : tensor<10x1501xf32> -> tensor<10xf32>
      metaop.yield %6, %7 : tensor<10x1501xf32>, tensor<10xf32>
    }
    %3 = metaop.fused(%arg2 = %2#1 : tensor<10xf32>, %arg3 = %2#0 : tensor<10x1501xf32>) -> tensor<10x1501xf32> schedule(#metaop.schedule<[block(0), step(1, 1536), thread(1)], tile = [1: 6], shared = 1>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<10xf32> -> tensor<10x1501xf32>
      %5 = metaop.div %arg3, %4 : tensor<10x1501xf32>
      metaop.yield %5 : tensor<10x1501xf32>
    }
    metaop.yield %3 : tensor<10x1501xf32>
  }
  return %0 : tensor<10x1501xf32>
}

func.func private @softmax_cluster(%arg0: tensor<2x32768xf32>) -> tensor<2x32768xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<2x32768xf32>) -> tensor<2x32768xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<2x32768xf32>) -> tensor<2xf32> schedule(#metaop.schedule<[cluster(0), cluster(1, 32768), block(1, 4096), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers]>) {
      %4 = metaop.reindex_reduce max %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<2x32768xf32> -> tensor<2xf32>
      metaop.yield %4 : tensor<2xf32>
    }
    %2:2 = metaop.fused(%arg2 = %1 : tensor<2xf32>, %arg3 = %arg1 : tensor<2x32768xf32>) -> (tensor<2x32768xf32>, tensor<2xf32>) schedule(#metaop.schedule<[cluster(0), cluster(1, 32768), block(1, 4096), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers, registers], shared = 3>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<2xf32> -> tensor<2x32768xf32>
      %5 = metaop.sub %arg3, %4 : tensor<2x32768xf32>
      %6 = metaop.exp %5 : tensor<2x32768xf32>
      %7 = metaop.reindex_reduce add %6 map affine_map<(d0, d1) -> (d0)> : tensor<2x32768xf32> -> tensor<2xf32>
      metaop.yield %6, %7 : tensor<2x32768xf32>, tensor<2xf32>
    }
    %3 = metaop.fused(%arg2 = %2#1 : tensor<2xf32>, %arg3 = %2#0 : tensor<2x32768xf32>) -> tensor<2x32768xf32> schedule(#metaop.schedule<[cluster(0), cluster(1, 32768), block(1, 4096), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4, shared = 3>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<2xf32> -> tensor<2x32768xf32>
      %5 = metaop.div %arg3, %4 : tensor<2x32768xf32>
      metaop.yield %5 : tensor<2x32768xf32>
    }
    metaop.yield %3 : tensor<2x32768xf32>
  }
  return %0 : tensor<2x32768xf32>
}

func.func private @softmax_bf16(%arg0: tensor<16x300xbf16>) -> tensor<16x300xbf16> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<16x300xbf16>) -> tensor<16x300xbf16> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<16x300xbf16>) -> tensor<16xbf16> schedule(#metaop.schedule<[block(0), step(1, 384), thread(1, 4)], tile = [1: 12], lanes = 1: 4, place = [registers]>) {
      %4 = metaop.reindex_reduce max %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<16x300xbf16> -> tensor<16xbf16>
      metaop.yield %4 : tensor<16xbf16>
    }
    %2:2 = metaop.fused(%arg2 = %1 : tensor<16xbf16>, %arg3 = %arg1 : tensor<16x300xbf16>) -> (tensor<16x300xbf16>, tensor<16xbf16>) schedule(#metaop.schedule<[block(0), step(1, 384), thread(1, 4)], tile = [1: 12], lanes = 1: 4, place = [registers, registers], shared = 1>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : bf16 : tensor<16xbf16> -> tensor<16x300xbf16>
      %5 = metaop.sub %arg3, %4 : tensor<16x300xbf16>
      %6 = metaop.exp %5 : tensor<16x300xbf16>
      %7 = metaop.reindex_reduce add %6 map affine_map<(d0, d1) -> (d0)> : tensor<16x300xbf16> -> tensor<16xbf16>
      metaop.yield %6, %7 : tensor<16x300xbf16>, tensor<16xbf16>
    }
    %3 = metaop.fused(%arg2 = %2#1 : tensor<16xbf16>, %arg3 = %2#0 : tensor<16x300xbf16>) -> tensor<16x300xbf16> schedule(#metaop.schedule<[block(0), step(1, 384), thread(1, 4)], tile = [1: 12], lanes = 1: 4, shared = 1>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : bf16 : tensor<16xbf16> -> tensor<16x300xbf16>
      %5 = metaop.div %arg3, %4 : tensor<16x300xbf16>
      metaop.yield %5 : tensor<16x300xbf16>
    }
    metaop.yield %3 : tensor<16x300xbf16>
  }
  return %0 : tensor<16x300xbf16>
}

func.func private @layer_norm(%arg0: tensor<30x512xf32>, %arg1: tensor<512xf32>) -> tensor<30x512xf32> {
  %0 = metaop.kernel(%arg2 = %arg0 : tensor<30x512xf32>, %arg3 = %arg1 : tensor<512xf32>) -> tensor<30x512xf32> {
    %1 = metaop.fused(%arg4 = %arg2 : tensor<30x512xf32>) -> tensor<30xf32> schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers]>) {
      %4 = metaop.reindex_reduce add %arg4 map affine_map<(d0, d1) -> (d0)> : tensor<30x512xf32> -> tensor<30xf32>
      metaop.yield %4 : tensor<30xf32>
    }
    %2 = metaop.fused(%arg4 = %1 : tensor<30xf32>, %arg5 = %arg2 : tensor<30x512xf32>) -> tensor<30xf32> schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers], shared = 1>) {
      %4 = metaop.reindex %arg4 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<30xf32> -> tensor<30x512xf32>
      %5 = metaop.constant dense<0.001953125> : tensor<30x512xf32>
      %6 = metaop.mul %4, %5 : tensor<30x512xf32>
      %7 = metaop.sub %arg5, %6 : tensor<30x512xf32>
      %8 = metaop.mul %7, %7 : tensor<30x512xf32>
      %9 = metaop.reindex_reduce add %8 map affine_map<(d0, d1) -> (d0)> : tensor<30x512xf32> -> tensor<30xf32>
      metaop.yield %9 : tensor<30xf32>
    }
    %3 = metaop.fused(%arg4 = %2 : tensor<30xf32>, %arg5 = %arg3 : tensor<512xf32>, %arg6 = %1 : tensor<30xf32>, %arg7 = %arg2 : tensor<30x512xf32>) -> tensor<30x512xf32> schedule(#metaop.schedule<[block(0), step(1, 512), thread(1, 4)], tile = [1: 16], lanes = 1: 4, shared = 1>) {
      %4 = metaop.reindex %arg6 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<30xf32> -> tensor<30x512xf32>
      %5 = metaop.constant dense<0.001953125> : tensor<30x512xf32>
      %6 = metaop.mul %4, %5 : tensor<30x512xf32>
      %7 = metaop.sub %arg7, %6 : tensor<30x512xf32>
      %8 = metaop.reindex %arg4 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<30xf32> -> tensor<30x512xf32>
      %9 = metaop.mul %8, %5 : tensor<30x512xf32>
      %10 = metaop.rsqrt %9 : tensor<30x512xf32>
      %11 = metaop.reindex %arg5 map affine_map<(d0, d1) -> (d1)> fill 0.000000e+00 : f32 : tensor<512xf32> -> tensor<30x512xf32>
      %12 = metaop.mul %7, %10 : tensor<30x512xf32>
      %13 = metaop.mul %12, %11 : tensor<30x512xf32>
      metaop.yield %13 : tensor<30x512xf32>
    }
    metaop.yield %3 : tensor<30x512xf32>
  }
  return %0 : tensor<30x512xf32>
}

func.func private @layer_norm_odd(%arg0: tensor<7x1001xf32>, %arg1: tensor<1001xf32>) -> tensor<7x1001xf32> {
  %0 = metaop.kernel(%arg2 = %arg0 : tensor<7x1001xf32>, %arg3 = %arg1 : tensor<1001xf32>) -> tensor<7x1001xf32> {
    %1 = metaop.fused(%arg4 = %arg2 : tensor<7x1001xf32>) -> tensor<7xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1)], tile = [1: 4], place = [registers]>) {
      %4 = metaop.reindex_reduce add %arg4 map affine_map<(d0, d1) -> (d0)> : tensor<7x1001xf32> -> tensor<7xf32>
      metaop.yield %4 : tensor<7xf32>
    }
    %2 = metaop.fused(%arg4 = %1 : tensor<7xf32>, %arg5 = %arg2 : tensor<7x1001xf32>) -> tensor<7xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1)], tile = [1: 4], place = [registers], shared = 1>) {
      %4 = metaop.reindex %arg4 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<7xf32> -> tensor<7x1001xf32>
      %5 = metaop.constant dense<9.99000971E-4> : tensor<7x1001xf32>
      %6 = metaop.mul %4, %5 : tensor<7x1001xf32>
      %7 = metaop.sub %arg5, %6 : tensor<7x1001xf32>
      %8 = metaop.mul %7, %7 : tensor<7x1001xf32>
      %9 = metaop.reindex_reduce add %8 map affine_map<(d0, d1) -> (d0)> : tensor<7x1001xf32> -> tensor<7xf32>
      metaop.yield %9 : tensor<7xf32>
    }
    %3 = metaop.fused(%arg4 = %2 : tensor<7xf32>, %arg5 = %arg3 : tensor<1001xf32>, %arg6 = %1 : tensor<7xf32>, %arg7 = %arg2 : tensor<7x1001xf32>) -> tensor<7x1001xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1)], tile = [1: 4], shared = 1>) {
      %4 = metaop.reindex %arg6 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<7xf32> -> tensor<7x1001xf32>
      %5 = metaop.constant dense<9.99000971E-4> : tensor<7x1001xf32>
      %6 = metaop.mul %4, %5 : tensor<7x1001xf32>
      %7 = metaop.sub %arg7, %6 : tensor<7x1001xf32>
      %8 = metaop.reindex %arg4 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<7xf32> -> tensor<7x1001xf32>
      %9 = metaop.mul %8, %5 : tensor<7x1001xf32>
      %10 = metaop.rsqrt %9 : tensor<7x1001xf32>
      %11 = metaop.reindex %arg5 map affine_map<(d0, d1) -> (d1)> fill 0.000000e+00 : f32 : tensor<1001xf32> -> tensor<7x1001xf32>
      %12 = metaop.mul %7, %10 : tensor<7x1001xf32>
      %13 = metaop.mul %12, %11 : tensor<7x1001xf32>
      metaop.yield %13 : tensor<7x1001xf32>
    }
    metaop.yield %3 : tensor<7x1001xf32>
  }
  return %0 : tensor<7x1001xf32>
}

func.func private @batch_norm(%arg0: tensor<16x8x196xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>) -> tensor<16x8x196xf32> {
  %0 = metaop.kernel(%arg3 = %arg0 : tensor<16x8x196xf32>, %arg4 = %arg1 : tensor<8xf32>, %arg5 = %arg2 : tensor<8xf32>) -> tensor<16x8x196xf32> {
    %1 = metaop.fused(%arg6 = %arg3 : tensor<16x8x196xf32>) -> tensor<8xf32> schedule(#metaop.schedule<[block(1), step(0, 8), step(2, 256), thread(0), thread(2, 4)], tile = [2: 8], lanes = 2: 4, place = [registers]>) {
      %4 = metaop.reindex_reduce add %arg6 map affine_map<(d0, d1, d2) -> (d1)> : tensor<16x8x196xf32> -> tensor<8xf32>
      metaop.yield %4 : tensor<8xf32>
    }
    %2 = metaop.fused(%arg6 = %1 : tensor<8xf32>, %arg7 = %arg3 : tensor<16x8x196xf32>) -> tensor<8xf32> schedule(#metaop.schedule<[block(1), step(0, 8), step(2, 256), thread(0), thread(2, 4)], tile = [2: 8], lanes = 2: 4, place = [registers], shared = 1>) {
      %4 = metaop.reindex %arg6 map affine_map<(d0, d1, d2) -> (d1)> fill 0.000000e+00 : f32 : tensor<8xf32> -> tensor<16x8x196xf32>
      %5 = metaop.constant dense<3.18877544E-4> : tensor<16x8x196xf32>
      %6 = metaop.mul %4, %5 : tensor<16x8x196xf32>
      %7 = metaop.sub %arg7, %6 : tensor<16x8x196xf32>
      %8 = metaop.mul %7, %7 : tensor<16x8x196xf32>
      %9 = metaop.reindex_reduce add %8 map affine_map<(d0, d1, d2) -> (d1)> : tensor<16x8x196xf32> -> tensor<8xf32>
      metaop.yield %9 : tensor<8xf32>
    }
    %3 = metaop.fused(%arg6 = %2 : tensor<8xf32>, %arg7 = %arg4 : tensor<8xf32>, %arg8 = %arg5 : tensor<8xf32>, %arg9 = %1 : tensor<8xf32>, %arg10 = %arg3 : tensor<16x8x196xf32>) -> tensor<16x8x196xf32> schedule(#metaop.schedule<[block(1), step(0, 8), step(2, 256), thread(0), thread(2, 4)], tile = [2: 8], lanes = 2: 4, shared = 1>) {
      %4 = metaop.reindex %arg9 map affine_map<(d0, d1, d2) -> (d1)> fill 0.000000e+00 : f32 : tensor<8xf32> -> tensor<16x8x196xf32>
      %5 = metaop.constant dense<3.18877544E-4> : tensor<16x8x196xf32>
      %6 = metaop.mul %4, %5 : tensor<16x8x196xf32>
      %7 = metaop.sub %arg10, %6 : tensor<16x8x196xf32>
      %8 = metaop.reindex %arg6 map affine_map<(d0, d1, d2) -> (d1)> fill 0.000000e+00 : f32 : tensor<8xf32> -> tensor<16x8x196xf32>
      %9 = metaop.mul %8, %5 : tensor<16x8x196xf32>
      %10 = metaop.rsqrt %9 : tensor<16x8x196xf32>
      %11 = metaop.reindex %arg7 map affine_map<(d0, d1, d2) -> (d1)> fill 0.000000e+00 : f32 : tensor<8xf32> -> tensor<16x8x196xf32>
      %12 = metaop.mul %11, %10 : tensor<16x8x196xf32>
      %13 = metaop.reindex %arg8 map affine_map<(d0, d1, d2) -> (d1)> fill 0.000000e+00 : f32 : tensor<8xf32> -> tensor<16x8x196xf32>
      %14 = metaop.mul %7, %12 : tensor<16x8x196xf32>
      %15 = metaop.add %14, %13 : tensor<16x8x196xf32>
      metaop.yield %15 : tensor<16x8x196xf32>
    }
    metaop.yield %3 : tensor<16x8x196xf32>
  }
  return %0 : tensor<16x8x196xf32>
}

func.func private @batch_norm_short(%arg0: tensor<64x300x9xf32>, %arg1: tensor<300xf32>, %arg2: tensor<300xf32>) -> tensor<64x300x9xf32> {
  %0 = metaop.kernel(%arg3 = %arg0 : tensor<64x300x9xf32>, %arg4 = %arg1 : tensor<300xf32>, %arg5 = %arg2 : tensor<300xf32>) -> tensor<64x300x9xf32> {
    %1 = metaop.fused(%arg6 = %arg3 : tensor<64x300x9xf32>) -> tensor<300xf32> schedule(#metaop.schedule<[block(1), step(0, 16), step(2, 16), thread(0), thread(2)], place = [registers]>) {
      %4 = metaop.reindex_reduce add %arg6 map affine_map<(d0, d1, d2) -> (d1)> : tensor<64x300x9xf32> -> tensor<300xf32>
      metaop.yield %4 : tensor<300xf32>
    }
    %2 = metaop.fused(%arg6 = %1 : tensor<300xf32>, %arg7 = %arg3 : tensor<64x300x9xf32>) -> tensor<300xf32> schedule(#metaop.schedule<[block(1), step(0, 16), step(2, 16), thread(0), thread(2)], place = [registers], shared = 1>) {
      %4 = metaop.reindex %arg6 map affine_map<(d0, d1, d2) -> (d1)> fill 0.000000e+00 : f32 : tensor<300xf32> -> tensor<64x300x9xf32>
      %5 = metaop.constant dense<0.00173611112> : tensor<64x300x9xf32>
      %6 = metaop.mul %4, %5 : tensor<64x300x9xf32>
      %7 = metaop.sub %arg7, %6 : tensor<64x300x9xf32>
      %8 = metaop.mul %7, %7 : tensor<64x300x9xf32>
      %9 = metaop.reindex_reduce add %8 map affine_map<(d0, d1, d2) -> (d1)> : tensor<64x300x9xf32> -> tensor<300xf32>
      metaop.yield %9 : tensor<300xf32>
    }
    %3 = metaop.fused(%arg6 = %2 : tensor<300xf32>, %arg7 = %arg4 : tensor<300xf32>, %arg8 = %arg5 : tensor<300xf32>, %arg9 = %1 : tensor<300xf32>, %arg10 = %arg3 : tensor<64x300x9xf32>) -> tensor<64x300x9xf32> schedule(#metaop.schedule<[block(1), step(0, 16), step(2, 16), thread(0), thread(2)], shared = 1>) {
      %4 = metaop.reindex %arg9 map affine_map<(d0, d1, d2) -> (d1)> fill 0.000000e+00 : f32 : tensor<300xf32> -> tensor<64x300x9xf32>
      %5 = metaop.constant dense<0.00173611112> : tensor<64x300x9xf32>
      %6 = metaop.mul %4, %5 : tensor<64x300x9xf32>
      %7 = metaop.sub %arg10, %6 : tensor<64x300x9xf32>
      %8 = metaop.reindex %arg6 map affine_map<(d0, d1, d2) -> (d1)> fill 0.000000e+00 : f32 : tensor<300xf32> -> tensor<64x300x9xf32>
      %9 = metaop.mul %8, %5 : tensor<64x300x9xf32>
      %10 = metaop.rsqrt %9 : tensor<64x300x9xf32>
      %11 = metaop.reindex %arg7 map affine_map<(d0, d1, d2) -> (d1)> fill 0.000000e+00 : f32 : tensor<300xf32> -> tensor<64x300x9xf32>
      %12 = metaop.mul %11, %10 : tensor<64x300x9xf32>
      %13 = metaop.reindex %arg8 map affine_map<(d0, d1, d2) -> (d1)> fill 0.000000e+00 : f32 : tensor<300xf32> -> tensor<64x300x9xf32>
      %14 = metaop.mul %7, %12 : tensor<64x300x9xf32>
      %15 = metaop.add %14, %13 : tensor<64x300x9xf32>
      metaop.yield %15 : tensor<64x300x9xf32>
    }
    metaop.yield %3 : tensor<64x300x9xf32>
  }
  return %0 : tensor<64x300x9xf32>
}

func.func private @centred_columns(%arg0: tensor<100x4096xf32>) -> tensor<100x4096xf32> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<100x4096xf32>) -> tensor<100x4096xf32> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<100x4096xf32>) -> tensor<4096xf32> schedule(#metaop.schedule<[block(1, 32), step(0, 112), thread(0), thread(1)], tile = [0: 7], place = [registers]>) {
      %3 = metaop.reindex_reduce add %arg2 map affine_map<(d0, d1) -> (d1)> : tensor<100x4096xf32> -> tensor<4096xf32>
      metaop.yield %3 : tensor<4096xf32>
    }
    %2 = metaop.fused(%arg2 = %1 : tensor<4096xf32>, %arg3 = %arg1 : tensor<100x4096xf32>) -> tensor<100x4096xf32> schedule(#metaop.schedule<[block(1, 32), step(0, 112), thread(0), thread(1)], tile = [0: 7], shared = 1>) {
      %3 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d1)> fill 0.000000e+00 : f32 : tensor<4096xf32> -> tensor<100x4096xf32>
      %4 = metaop.sub %arg3, %3 : tensor<100x4096xf32>
      metaop.yield %4 : tensor<100x4096xf32>
    }
    metaop.yield %2 : tensor<100x4096xf32>
  }
  return %0 : tensor<100x4096xf32>
}

func.func private @cross_entropy(%arg0: tensor<40x1200xf32>, %arg1: tensor<40x1200xf32>) -> tensor<40xf32> attributes {test.tolerance = 1.000000e-05 : f64} {
  %0 = metaop.kernel(%arg2 = %arg0 : tensor<40x1200xf32>, %arg3 = %arg1 : tensor<40x1200xf32>) -> tensor<40xf32> {
    %1 = metaop.fused(%arg4 = %arg2 : tensor<40x1200xf32>) -> tensor<40xf32> schedule(#metaop.schedule<[block(0), step(1, 1536), thread(1, 4)], tile = [1: 12], lanes = 1: 4, place = [registers]>) {
      %4 = metaop.reindex_reduce max %arg4 map affine_map<(d0, d1) -> (d0)> : tensor<40x1200xf32> -> tensor<40xf32>
      metaop.yield %4 : tensor<40xf32>
    }
    %2 = metaop.fused(%arg4 = %1 : tensor<40xf32>, %arg5 = %arg2 : tensor<40x1200xf32>) -> tensor<40xf32> schedule(#metaop.schedule<[block(0), step(1, 1536), thread(1, 4)], tile = [1: 12], lanes = 1: 4, place = [registers], shared = 1>) {
      %4 = metaop.reindex %arg4 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<40xf32> -> tensor<40x1200xf32>
      %5 = metaop.sub %arg5, %4 : tensor<40x1200xf32>
      %6 = metaop.exp %5 : tensor<40x1200xf32>
      %7 = metaop.reindex_reduce add %6 map affine_map<(d0, d1) -> (d0)> : tensor<40x1200xf32> -> tensor<40xf32>
      metaop.yield %7 : tensor<40xf32>
    }
    %3 = metaop.fused(%arg4 = %2 : tensor<40xf32>, %arg5 = %arg3 : tensor<40x1200xf32>, %arg6 = %1 : tensor<40xf32>, %arg7 = %arg2 : tensor<40x1200xf32>) -> tensor<40xf32> schedule(#metaop.schedule<[block(0), step(1, 1536), thread(1, 4)], tile = [1: 12], lanes = 1: 4, shared = 1>) {
      %4 = metaop.reindex %arg6 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<40xf32> -> tensor<40x1200xf32>
      %5 = metaop.sub %arg7, %4 : tensor<40x1200xf32>
      %6 = metaop.reindex %arg4 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : f32 : tensor<40xf32> -> tensor<40x1200xf32>
      %7 = metaop.log %6 : tensor<40x1200xf32>
      %8 = metaop.sub %5, %7 : tensor<40x1200xf32>
      %9 = metaop.mul %8, %arg5 : tensor<40x1200xf32>
      %10 = metaop.reindex_reduce add %9 map affine_map<(d0, d1) -> (d0)> : tensor<40x1200xf32> -> tensor<40xf32>
      metaop.yield %10 : tensor<40xf32>
    }
    metaop.yield %3 : tensor<40xf32>
  }
  return %0 : tensor<40xf32>
}
