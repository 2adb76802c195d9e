// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// Lanes and steps of a reduced vector loop are summed in a register. The lanes
// behind the end leave it as it was; at the end the lanes are combined.
// CHECK-LABEL: func @rows(
// CHECK-SAME:    range = 12, work_per_step = 5200
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK:         scf.for %[[ROW:.*]] =
// CHECK:           %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (vector<8xf32>)
// CHECK:             %[[V:.*]] = vector.load
// CHECK:             arith.addf %[[ACC]], %[[V]] fastmath<contract>
// CHECK:           %[[MASK:.*]] = vector.constant_mask [4] : vector<8xi1>
// CHECK:           %[[TAIL:.*]] = vector.maskedload {{.*}}, %[[MASK]]
// CHECK:           %[[MORE:.*]] = arith.addf %[[SUM]], %[[TAIL]]
// CHECK:           %[[ALL:.*]] = arith.select %[[MASK]], %[[MORE]], %[[SUM]]
// CHECK:           %[[R:.*]] = vector.reduction <add>, %[[ALL]] fastmath<reassoc> : vector<8xf32> into f32
// CHECK:           memref.store %[[R]], %{{.*}}[%[[ROW]]]
func.func private @rows(%x: tensor<12x100xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x100xf32>) -> tensor<12xf32> {
    %r = metaop.fused(%bx = %kx : tensor<12x100xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 8)], tile = [1: 8], lanes = 1: 8>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<12x100xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// A kept vector loop: each lane has its own sum, and nothing crosses lanes.
// CHECK-LABEL: func @columns(
// CHECK:         scf.for {{.*}} step %c8
// CHECK:           %[[SUM:.*]] = scf.for {{.*}} iter_args
// CHECK:             vector.load
// CHECK-NOT:       vector.reduction
// CHECK:           vector.store %[[SUM]]
func.func private @columns(%x: tensor<20x64xf32>) -> tensor<64xf32> {
  %k = metaop.kernel(%kx = %x : tensor<20x64xf32>) -> tensor<64xf32> {
    %r = metaop.fused(%bx = %kx : tensor<20x64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[step(1, 8), step(0)], tile = [1: 8], lanes = 1: 8>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<20x64xf32> -> tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %r : tensor<64xf32>
  }
  return %k : tensor<64xf32>
}

// A kept loop inside of a reduced one: the results are set to the identity, then
// combined in memory.
// CHECK-LABEL: func @in_memory(
// CHECK:         %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK:         scf.for %[[J:.*]] = %c0 to %c12
// CHECK-NEXT:      memref.store %[[LOWEST]], %[[Y:.*]][%[[J]]]
// CHECK:         scf.for
// CHECK:           scf.for %[[I:.*]] = %c0 to %c12 step %c4
// CHECK:             %[[NEW:.*]] = vector.gather
// CHECK:             %[[OLD:.*]] = vector.load %[[Y]][%[[I]]]
// CHECK:             %[[BOTH:.*]] = arith.maximumf %[[OLD]], %[[NEW]]
// CHECK:             vector.store %[[BOTH]], %[[Y]][%[[I]]]
func.func private @in_memory(%x: tensor<12x100xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x100xf32>) -> tensor<12xf32> {
    %r = metaop.fused(%bx = %kx : tensor<12x100xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(1), step(0, 4)], tile = [0: 4], lanes = 0: 4>) {
      %y = metaop.reduce max %bx dims = [1] : tensor<12x100xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}

// In strips that threads share, each sets its own part.
// CHECK-LABEL: func @in_memory_in_blocks(
// CHECK-SAME:    range = 3
// CHECK:         scf.for %[[BLOCK:.*]] =
// CHECK:           %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c4096
// CHECK:           %[[LAST:.*]] = arith.minsi
// CHECK:           scf.for %[[I:.*]] = %[[FIRST]] to %[[LAST]]
// CHECK:             memref.store
func.func private @in_memory_in_blocks(%x: tensor<8x10000xf32>) -> tensor<4x10000xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x10000xf32>) -> tensor<4x10000xf32> {
    %r = metaop.fused(%bx = %kx : tensor<8x10000xf32>) -> tensor<4x10000xf32>
        schedule(#metaop.schedule<[parallel(1, 4096), step(1, 8), step(0)], tile = [1: 8], lanes = 1: 8>) {
      %y = metaop.reindex_reduce max %bx map affine_map<(h, w) -> (h floordiv 2, w)> : tensor<8x10000xf32> -> tensor<4x10000xf32>
      metaop.yield %y : tensor<4x10000xf32>
    }
    metaop.yield %r : tensor<4x10000xf32>
  }
  return %k : tensor<4x10000xf32>
}

// Copies of a reduced vector loop hide the latency of the sum; a long loop is
// summed pairwise, in blocks of blocks of 32 steps, each from 0.
// CHECK-LABEL: func @long(
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK:         scf.for {{.*}} step %c16384 iter_args(%[[A0:.*]] = %[[ZERO]], %[[A1:.*]] = %[[ZERO]])
// CHECK:           scf.for {{.*}} step %c512 iter_args(%{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK:             scf.for {{.*}} step %c16 iter_args(%{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK-COUNT-2:       vector.load
// CHECK:         %[[S:.*]] = arith.addf
// CHECK:         vector.reduction <add>
func.func private @long(%x: tensor<100000xf32>) -> tensor<f32> {
  %k = metaop.kernel(%kx = %x : tensor<100000xf32>) -> tensor<f32> {
    %r = metaop.fused(%bx = %kx : tensor<100000xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 8, pairwise = 32>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<100000xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}

// Without the field it is one sum,
// CHECK-LABEL: func @running_sum(
// CHECK-COUNT-1: scf.for {{.*}} step %c8 iter_args
// CHECK-NOT:     iter_args
func.func private @running_sum(%x: tensor<100000xf32>) -> tensor<f32> {
  %k = metaop.kernel(%kx = %x : tensor<100000xf32>) -> tensor<f32> {
    %r = metaop.fused(%bx = %kx : tensor<100000xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<100000xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}

// and with another number there are other blocks: 64 steps are whole where two
// blocks are as long, and 65 are three.
// CHECK-LABEL: func @other_blocks(
// CHECK:         scf.for {{.*}} = %c0 to %c65 step %c32 iter_args
// CHECK-NEXT:      arith.addi {{.*}}, %c32
// CHECK:           scf.for {{.*}} step %c1 iter_args
// CHECK-LABEL: func @two_blocks(
// CHECK:         scf.for {{.*}} = %c0 to %c64 step %c1 iter_args
// CHECK-NOT:     iter_args
func.func private @other_blocks(%x: tensor<65xf32>) -> tensor<f32> {
  %k = metaop.kernel(%kx = %x : tensor<65xf32>) -> tensor<f32> {
    %r = metaop.fused(%bx = %kx : tensor<65xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[step(0)], pairwise = 32>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<65xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}
func.func private @two_blocks(%x: tensor<64xf32>) -> tensor<f32> {
  %k = metaop.kernel(%kx = %x : tensor<64xf32>) -> tensor<f32> {
    %r = metaop.fused(%bx = %kx : tensor<64xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[step(0)], pairwise = 32>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<64xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}

// What is exact in any order is one loop.
// CHECK-LABEL: func @long_maximum(
// CHECK-COUNT-1: scf.for {{.*}} iter_args
// CHECK-NOT:     iter_args
func.func private @long_maximum(%x: tensor<100000xf32>) -> tensor<f32> {
  %k = metaop.kernel(%kx = %x : tensor<100000xf32>) -> tensor<f32> {
    %r = metaop.fused(%bx = %kx : tensor<100000xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reduce max %bx dims = [0] : tensor<100000xf32> -> tensor<f32>
      metaop.yield %y : tensor<f32>
    }
    metaop.yield %r : tensor<f32>
  }
  return %k : tensor<f32>
}

// A matrix product, two rows side by side: each vector of the second factor is
// read once for both.
// CHECK-LABEL: func @matmul(
// CHECK-SAME:    range = 4
// CHECK:         %[[SUMS:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK-COUNT-2:   memref.load
// CHECK-COUNT-1:   %[[V:.*]] = vector.load
// CHECK-NOT:       vector.load
// CHECK:           arith.mulf %{{.*}}, %[[V]]
// CHECK:           arith.mulf %{{.*}}, %[[V]]
// CHECK:         vector.store %[[SUMS]]#0
// CHECK:         vector.store %[[SUMS]]#1
func.func private @matmul(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x16xf32>, %kw = %w : tensor<16x8xf32>) -> tensor<8x8xf32> {
    %r = metaop.fused(%bx = %kx : tensor<8x16xf32>, %bw = %kw : tensor<16x8xf32>) -> tensor<8x8xf32>
        schedule(#metaop.schedule<[parallel(0, 2), step(2, 8), step(1)], tile = [0: 2, 2: 8], lanes = 2: 8>) {
      %1 = metaop.broadcast %bx dims = [0, 1] : tensor<8x16xf32> -> tensor<8x16x8xf32>
      %2 = metaop.broadcast %bw dims = [1, 2] : tensor<16x8xf32> -> tensor<8x16x8xf32>
      %3 = metaop.mul %1, %2 : tensor<8x16x8xf32>
      %y = metaop.reduce add %3 dims = [1] : tensor<8x16x8xf32> -> tensor<8x8xf32>
      metaop.yield %y : tensor<8x8xf32>
    }
    metaop.yield %r : tensor<8x8xf32>
  }
  return %k : tensor<8x8xf32>
}

// Seven rows by three: the last step does row 6 three times and stores it once.
// CHECK-LABEL: func @unrolled_rest(
// CHECK:         scf.for %[[I:.*]] = %c0 to %c7 step %c3
// CHECK:           %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK:           %[[ROW:.*]] = arith.minsi %[[NEXT]], %c6
// CHECK:           memref.store %{{.*}}, %[[Y:.*]][%[[I]]]
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, %[[NEXT]], %c7
// CHECK-NEXT:      scf.if %[[INSIDE]]
// CHECK-NEXT:        memref.store %{{.*}}, %[[Y]][%[[ROW]]]
// CHECK:           scf.if
// CHECK-NEXT:        memref.store
// CHECK-NOT:     memref.store
func.func private @unrolled_rest(%x: tensor<7x4xf32>) -> tensor<7xf32> {
  %k = metaop.kernel(%kx = %x : tensor<7x4xf32>) -> tensor<7xf32> {
    %r = metaop.fused(%bx = %kx : tensor<7x4xf32>) -> tensor<7xf32>
        schedule(#metaop.schedule<[step(0, 3), step(1, 4)], tile = [0: 3, 1: 4], lanes = 1: 4>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<7x4xf32> -> tensor<7xf32>
      metaop.yield %y : tensor<7xf32>
    }
    metaop.yield %r : tensor<7xf32>
  }
  return %k : tensor<7xf32>
}

// f16 and bf16 are summed as f32 and rounded once.
// CHECK-LABEL: func @half(
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<8xf32>)
// CHECK:           arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK:         vector.reduction <add>, {{.*}} into f32
// CHECK:         arith.truncf {{.*}} : f32 to f16
func.func private @half(%x: tensor<64xf16>) -> tensor<f16> {
  %k = metaop.kernel(%kx = %x : tensor<64xf16>) -> tensor<f16> {
    %r = metaop.fused(%bx = %kx : tensor<64xf16>) -> tensor<f16>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<64xf16> -> tensor<f16>
      metaop.yield %y : tensor<f16>
    }
    metaop.yield %r : tensor<f16>
  }
  return %k : tensor<f16>
}

// Identities and operations of the other kinds.
// CHECK-LABEL: func @unsigned(
// CHECK-DAG:     arith.constant dense<0> : vector<8xi8>
// CHECK:         arith.maxui
// CHECK:         vector.reduction <maxui>
func.func private @unsigned(%x: tensor<64xui8>) -> tensor<ui8> {
  %k = metaop.kernel(%kx = %x : tensor<64xui8>) -> tensor<ui8> {
    %r = metaop.fused(%bx = %kx : tensor<64xui8>) -> tensor<ui8>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reduce max %bx dims = [0] : tensor<64xui8> -> tensor<ui8>
      metaop.yield %y : tensor<ui8>
    }
    metaop.yield %r : tensor<ui8>
  }
  return %k : tensor<ui8>
}

// CHECK-LABEL: func @signed(
// CHECK-DAG:     arith.constant dense<127> : vector<8xi8>
// CHECK:         arith.minsi
// CHECK:         vector.reduction <minsi>
func.func private @signed(%x: tensor<64xi8>) -> tensor<i8> {
  %k = metaop.kernel(%kx = %x : tensor<64xi8>) -> tensor<i8> {
    %r = metaop.fused(%bx = %kx : tensor<64xi8>) -> tensor<i8>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reduce min %bx dims = [0] : tensor<64xi8> -> tensor<i8>
      metaop.yield %y : tensor<i8>
    }
    metaop.yield %r : tensor<i8>
  }
  return %k : tensor<i8>
}

// CHECK-LABEL: func @all(
// CHECK-DAG:     arith.constant dense<true> : vector<8xi1>
// CHECK:         arith.andi {{.*}} : vector<8xi1>
// CHECK:         vector.reduction <and>, {{.*}} : vector<8xi1> into i1
// CHECK:         arith.extui {{.*}} : i1 to i8
func.func private @all(%x: tensor<64xi1>) -> tensor<i1> {
  %k = metaop.kernel(%kx = %x : tensor<64xi1>) -> tensor<i1> {
    %r = metaop.fused(%bx = %kx : tensor<64xi1>) -> tensor<i1>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reduce and %bx dims = [0] : tensor<64xi1> -> tensor<i1>
      metaop.yield %y : tensor<i1>
    }
    metaop.yield %r : tensor<i1>
  }
  return %k : tensor<i1>
}
