// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// CHECK: memref.global "private" constant @[[TABLE:.*]] : memref<4xf32> = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> {alignment = 64 : i64}

// A step of 8 elements from lane to lane is a gather from constant offsets.
// CHECK-LABEL: func @transposed(
// CHECK:         %[[OFFSETS:.*]] = arith.constant dense<[0, 8, 16, 24]> : vector<4xi32>
// CHECK:         vector.gather %{{.*}}[%{{.*}}] [%[[OFFSETS]]], %{{.*}} : memref<96xf32>, vector<4xi32>
// CHECK:         vector.store
func.func private @transposed(%x: tensor<12x8xf32>) -> tensor<8x12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<8x12xf32> {
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[step(0), step(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<12x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    metaop.yield %r : tensor<8x12xf32>
  }
  return %k : tensor<8x12xf32>
}

// Across the step of the result it is a scatter.
// CHECK-LABEL: func @transposed_result(
// CHECK:         %[[OFFSETS:.*]] = arith.constant dense<[0, 12, 24, 36]> : vector<4xi32>
// CHECK:         vector.load
// CHECK:         vector.scatter %{{.*}}[%{{.*}}] [%[[OFFSETS]]]
func.func private @transposed_result(%x: tensor<12x8xf32>) -> tensor<8x12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x8xf32>) -> tensor<8x12xf32> {
    %r = metaop.fused(%bx = %kx : tensor<12x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[step(1), step(0, 4)], tile = [0: 4], lanes = 0: 4>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<12x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    metaop.yield %r : tensor<8x12xf32>
  }
  return %k : tensor<8x12xf32>
}

// What the lanes share is read once, outside of the vector loop.
// CHECK-LABEL: func @broadcast(
// CHECK:         scf.for %[[I:.*]] = %c0 to %c12
// CHECK:           %[[S:.*]] = memref.load %{{.*}}[%[[I]]] : memref<12xf32>
// CHECK:           %[[E:.*]] = math.exp %[[S]] {{.*}}: f32
// CHECK:           scf.for
// CHECK:             %[[V:.*]] = vector.broadcast %[[E]] : f32 to vector<4xf32>
// CHECK:             vector.store %[[V]]
func.func private @broadcast(%x: tensor<12xf32>) -> tensor<12x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12xf32>) -> tensor<12x8xf32> {
    %r = metaop.fused(%bx = %kx : tensor<12xf32>) -> tensor<12x8xf32>
        schedule(#metaop.schedule<[step(0), step(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %1 = metaop.broadcast %bx dims = [0] : tensor<12xf32> -> tensor<12x8xf32>
      %y = metaop.exp %1 : tensor<12x8xf32>
      metaop.yield %y : tensor<12x8xf32>
    }
    metaop.yield %r : tensor<12x8xf32>
  }
  return %k : tensor<12x8xf32>
}

// A border: the guard of the rows is a scalar, that of the columns a comparison
// of lane numbers with bounds. No other lane is read.
// CHECK-LABEL: func @border(
// CHECK-DAG:     %[[FILL:.*]] = arith.constant dense<5.000000e+00> : vector<4xf32>
// CHECK-DAG:     %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
// CHECK:         %[[ROWS:.*]] = arith.andi {{.*}} : i1
// CHECK:         arith.cmpi sle, %{{.*}}, %[[LANES]]
// CHECK:         arith.cmpi sge, %{{.*}}, %[[LANES]]
// CHECK:         %[[COLUMNS:.*]] = arith.andi {{.*}} : vector<4xi1>
// CHECK:         scf.if %[[ROWS]] -> (vector<4xf32>) {
// CHECK:           vector.maskedload %{{.*}}[%{{.*}}], %[[COLUMNS]], %[[FILL]]
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %[[FILL]]
func.func private @border(%x: tensor<6x8xf32>) -> tensor<8x12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6x8xf32>) -> tensor<8x12xf32> {
    %r = metaop.fused(%bx = %kx : tensor<6x8xf32>) -> tensor<8x12xf32>
        schedule(#metaop.schedule<[step(0), step(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %y = metaop.pad %bx low = [1, 2] high = [1, 2] fill 5.0 : f32 : tensor<6x8xf32> -> tensor<8x12xf32>
      metaop.yield %y : tensor<8x12xf32>
    }
    metaop.yield %r : tensor<8x12xf32>
  }
  return %k : tensor<8x12xf32>
}

// The same for one element at a time is a branch.
// CHECK-LABEL: func @scalar_border(
// CHECK:         scf.if %{{.*}} -> (f32)
// CHECK-NEXT:      memref.load
// CHECK:         else
// CHECK:           scf.yield %[[FILL:.*]] : f32
func.func private @scalar_border(%x: tensor<6xf32>) -> tensor<8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<6xf32>) -> tensor<8xf32> {
    %r = metaop.fused(%bx = %kx : tensor<6xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.pad %bx low = [1] high = [1] fill 5.0 : f32 : tensor<6xf32> -> tensor<8xf32>
      metaop.yield %y : tensor<8xf32>
    }
    metaop.yield %r : tensor<8xf32>
  }
  return %k : tensor<8xf32>
}

// No check is made where none is needed.
// CHECK-LABEL: func @inside(
// CHECK-NOT:     arith.cmpi
// CHECK:         vector.load
// CHECK-NOT:     arith.cmpi
// CHECK:         return
func.func private @inside(%x: tensor<40xf32>) -> tensor<8x4xf32> {
  %k = metaop.kernel(%kx = %x : tensor<40xf32>) -> tensor<8x4xf32> {
    %r = metaop.fused(%bx = %kx : tensor<40xf32>) -> tensor<8x4xf32>
        schedule(#metaop.schedule<[step(0, 4)], tile = [0: 4], lanes = 0: 4>) {
      %y = metaop.reindex %bx map affine_map<(i, j) -> (i * 4 + j + 3)> fill 0.0 : f32 : tensor<40xf32> -> tensor<8x4xf32>
      metaop.yield %y : tensor<8x4xf32>
    }
    metaop.yield %r : tensor<8x4xf32>
  }
  return %k : tensor<8x4xf32>
}

// The start of a slice is read once, before the loops. A guard that is the same
// for all lanes is a branch, since a mask without lanes is slow on memory that is
// not there.
// CHECK-LABEL: func @start(
// CHECK-SAME:    %{{.*}}: memref<120xf32>, %[[S:.*]]: memref<1xi64>,
// CHECK:         %[[N:.*]] = memref.load %[[S]][%c0] : memref<1xi64>
// CHECK-NEXT:    %[[START:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK:         scf.for
// CHECK:           %[[LOW:.*]] = arith.cmpi sge, %[[START]], %c0
// CHECK:           %[[INSIDE:.*]] = arith.andi %[[LOW]], %{{.*}} : i1
// CHECK-NEXT:      scf.if %[[INSIDE]] -> (vector<8xf32>) {
// CHECK-NOT:         vector.maskedload
// CHECK:             vector.load
func.func private @start(%x: tensor<10x12xf32>, %s: tensor<i64>) -> tensor<8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<10x12xf32>, %ks = %s : tensor<i64>) -> tensor<8xf32> {
    %r = metaop.fused(%bx = %kx : tensor<10x12xf32>, %bs = %ks : tensor<i64>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reindex %bx symbols(%bs) map affine_map<(i)[s] -> (s, i)> fill 0.0 : f32 : tensor<10x12xf32> -> tensor<8xf32>
      metaop.yield %y : tensor<8xf32>
    }
    metaop.yield %r : tensor<8xf32>
  }
  return %k : tensor<8xf32>
}

// A condition on other lanes than the place is a choice between the value, read
// once, and the fill.
// CHECK-LABEL: func @condition(
// CHECK:         %[[S:.*]] = memref.load
// CHECK:         arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xf32>
func.func private @condition(%x: tensor<9xf32>) -> tensor<9x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9xf32>) -> tensor<9x8xf32> {
    %r = metaop.fused(%bx = %kx : tensor<9xf32>) -> tensor<9x8xf32>
        schedule(#metaop.schedule<[step(0), step(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %y = metaop.reindex %bx map affine_map<(a, b) -> (a)> where affine_set<(a, b) : (b - a * 2 >= 0)> fill 2.5 : f32 : tensor<9xf32> -> tensor<9x8xf32>
      metaop.yield %y : tensor<9x8xf32>
    }
    metaop.yield %r : tensor<9x8xf32>
  }
  return %k : tensor<9x8xf32>
}

// An index that is not linear in the vector loop is computed in all lanes.
// CHECK-LABEL: func @modulo(
// CHECK:         vector.step : vector<8xindex>
// CHECK:         arith.remsi {{.*}} : vector<8xindex>
// CHECK:         vector.gather %{{.*}}[%c0] [%{{.*}}], {{.*}} vector<8xindex>
func.func private @modulo(%x: tensor<3xf32>) -> tensor<16xf32> {
  %k = metaop.kernel(%kx = %x : tensor<3xf32>) -> tensor<16xf32> {
    %r = metaop.fused(%bx = %kx : tensor<3xf32>) -> tensor<16xf32>
        schedule(#metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.reindex %bx map affine_map<(i) -> (i mod 3)> fill 0.0 : f32 : tensor<3xf32> -> tensor<16xf32>
      metaop.yield %y : tensor<16xf32>
    }
    metaop.yield %r : tensor<16xf32>
  }
  return %k : tensor<16xf32>
}

// Several numbers are a table in memory, one number is in the code.
// CHECK-LABEL: func @numbers(
// CHECK:         %[[ONE:.*]] = arith.constant dense<5.000000e-01> : vector<4xf32>
// CHECK:         %[[T:.*]] = memref.get_global @[[TABLE]]
// CHECK:         vector.load %[[T]]
// CHECK:         arith.mulf %{{.*}}, %[[ONE]]
func.func private @numbers(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %k = metaop.kernel(%kx = %x : tensor<2x2xf32>) -> tensor<2x2xf32> {
    %r = metaop.fused(%bx = %kx : tensor<2x2xf32>) -> tensor<2x2xf32>
        schedule(#metaop.schedule<[step(0, 4)], tile = [0: 4], lanes = 0: 4>) {
      %1 = metaop.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
      %2 = metaop.constant dense<0.5> : tensor<2x2xf32>
      %3 = metaop.add %bx, %1 : tensor<2x2xf32>
      %y = metaop.mul %3, %2 : tensor<2x2xf32>
      metaop.yield %y : tensor<2x2xf32>
    }
    metaop.yield %r : tensor<2x2xf32>
  }
  return %k : tensor<2x2xf32>
}

// Indices themselves: the loops are not collapsed, and an index is computed in
// its own loop.
// CHECK-LABEL: func @iota(
// CHECK:         scf.for %[[I:.*]] = %c0 to %c4
// CHECK:           %[[INDEX:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK:           vector.broadcast %[[INDEX]] : i64 to vector<8xi64>
func.func private @iota(%x: tensor<4x8xi64>) -> tensor<4x8xi64> {
  %k = metaop.kernel(%kx = %x : tensor<4x8xi64>) -> tensor<4x8xi64> {
    %r = metaop.fused(%bx = %kx : tensor<4x8xi64>) -> tensor<4x8xi64>
        schedule(#metaop.schedule<[step(0), step(1, 8)], tile = [1: 8], lanes = 1: 8>) {
      %1 = metaop.iota dim = 0 : tensor<4x8xi64>
      %y = metaop.add %bx, %1 : tensor<4x8xi64>
      metaop.yield %y : tensor<4x8xi64>
    }
    metaop.yield %r : tensor<4x8xi64>
  }
  return %k : tensor<4x8xi64>
}

// A row of a table is read by a vector, and its number once for the row.
// CHECK-LABEL: func @rows(
// CHECK-SAME:    %[[X:.*]]: memref<72xf32>, %[[R:.*]]: memref<4xi64>,
// CHECK:         scf.for %[[I:.*]] = %c0 to %c4
// CHECK-NEXT:      %[[N:.*]] = memref.load %[[R]][%[[I]]] : memref<4xi64>
// CHECK:           %[[ROW:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK:           scf.if
// CHECK:             %[[BASE:.*]] = arith.muli %[[ROW]], %c8
// CHECK-NEXT:        vector.load %[[X]][%[[BASE]]] : memref<72xf32>, vector<8xf32>
func.func private @rows(%x: tensor<9x8xf32>, %i: tensor<4xi64>) -> tensor<4x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x8xf32>, %ki = %i : tensor<4xi64>) -> tensor<4x8xf32> {
    %r = metaop.fused(%bx = %kx : tensor<9x8xf32>, %bi = %ki : tensor<4xi64>) -> tensor<4x8xf32>
        schedule(#metaop.schedule<[step(0), step(1, 8)], tile = [1: 8], lanes = 1: 8>) {
      %0 = metaop.broadcast %bi dims = [0] : tensor<4xi64> -> tensor<4x8xi64>
      %y = metaop.gather %bx[%0] map affine_map<(d0, d1)[s0] -> (s0, d1)> fill 0.0 : f32
          : (tensor<9x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
      metaop.yield %y : tensor<4x8xf32>
    }
    metaop.yield %r : tensor<4x8xf32>
  }
  return %k : tensor<4x8xf32>
}
