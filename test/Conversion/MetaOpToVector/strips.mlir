// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// An iteration of the parallel range is a strip of columns: its sums are set to zero,
// and rows are added to them. The last strip ends where the columns do.
// CHECK-LABEL: func @rest(
// CHECK-SAME:    %[[X:.*]]: memref<2000xf32>, %[[Y:.*]]: memref<100xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME:    range = 4
// CHECK:         scf.for %[[STRIP:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK:           %[[FIRST:.*]] = arith.muli %[[STRIP]], %c32
// CHECK:           %[[BEHIND:.*]] = arith.addi %[[FIRST]], %c32
// CHECK:           %[[LAST:.*]] = arith.minsi %[[BEHIND]], %c100
// CHECK:           scf.for %[[J:.*]] = %[[FIRST]] to %[[LAST]] step %c1
// CHECK-NEXT:        memref.store %{{.*}}, %[[Y]][%[[J]]]
// CHECK:           scf.for %{{.*}} = %c0 to %c20 step %c1
// CHECK:             %[[LENGTH:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK:             %[[LEFT:.*]] = arith.remsi %[[LENGTH]], %c8
// CHECK:             %[[WHOLE:.*]] = arith.subi %[[LAST]], %[[LEFT]]
// CHECK:             scf.for %[[AT:.*]] = %[[FIRST]] to %[[WHOLE]] step %c8
// CHECK:               vector.store %{{.*}}, %[[Y]][%[[AT]]]
// CHECK:             scf.for %[[AT:.*]] = %[[WHOLE]] to %[[LAST]] step %c8
// CHECK:               vector.maskedstore %[[Y]][%[[AT]]]
func.func private @rest(%x: tensor<20x100xf32>) -> tensor<100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<20x100xf32>) -> tensor<100xf32> {
    %r = metaop.fused(%bx = %kx : tensor<20x100xf32>) -> tensor<100xf32>
        schedule(#metaop.schedule<[parallel(1, 32), step(0), step(1, 8)], tile = [1: 8], lanes = 1: 8>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<20x100xf32> -> tensor<100xf32>
      metaop.yield %y : tensor<100xf32>
    }
    metaop.yield %r : tensor<100xf32>
  }
  return %k : tensor<100xf32>
}

// Strips that fill the row have a known length.
// CHECK-LABEL: func @whole(
// CHECK-SAME:    range = 3
// CHECK-NOT:     arith.minsi
// CHECK:         arith.addi %[[FIRST:.*]], %c32
// CHECK-NOT:     arith.minsi
// CHECK-NOT:     arith.remsi
// CHECK:         return
func.func private @whole(%x: tensor<20x96xf32>) -> tensor<96xf32> {
  %k = metaop.kernel(%kx = %x : tensor<20x96xf32>) -> tensor<96xf32> {
    %r = metaop.fused(%bx = %kx : tensor<20x96xf32>) -> tensor<96xf32>
        schedule(#metaop.schedule<[parallel(1, 32), step(0), step(1, 8)], tile = [1: 8], lanes = 1: 8>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<20x96xf32> -> tensor<96xf32>
      metaop.yield %y : tensor<96xf32>
    }
    metaop.yield %r : tensor<96xf32>
  }
  return %k : tensor<96xf32>
}

// Strips that no thread shares are a loop; all sums are set to zero before.
// CHECK-LABEL: func @in_order(
// CHECK-SAME:    range = 1
// CHECK:         scf.for %{{.*}} = %c0 to %c100 step %c1
// CHECK-NEXT:      memref.store
// CHECK:         scf.for %[[FIRST:.*]] = %c0 to %c100 step %c32
// CHECK:           %[[BEHIND:.*]] = arith.addi %[[FIRST]], %c32
// CHECK:           %[[LAST:.*]] = arith.minsi %[[BEHIND]], %c100
// CHECK:           scf.for %{{.*}} = %c0 to %c20 step %c1
// CHECK:             scf.for %{{.*}} = %[[FIRST]] to %[[LAST]] step %c1
func.func private @in_order(%x: tensor<20x100xf32>) -> tensor<100xf32> {
  %k = metaop.kernel(%kx = %x : tensor<20x100xf32>) -> tensor<100xf32> {
    %r = metaop.fused(%bx = %kx : tensor<20x100xf32>) -> tensor<100xf32>
        schedule(#metaop.schedule<[step(1, 32), step(0), step(1)]>) {
      %y = metaop.reduce add %bx dims = [0] : tensor<20x100xf32> -> tensor<100xf32>
      metaop.yield %y : tensor<100xf32>
    }
    metaop.yield %r : tensor<100xf32>
  }
  return %k : tensor<100xf32>
}

// Strips of two loops are blocks, numbered by the parallel range.
// CHECK-LABEL: func @blocks(
// CHECK-SAME:    range = 6
// CHECK:         scf.for %[[AT:.*]] =
// CHECK-DAG:       %[[COLUMN:.*]] = arith.remui %[[AT]], %c3
// CHECK-DAG:       %[[ROW:.*]] = arith.divui %[[AT]], %c3
// CHECK-DAG:       %[[J:.*]] = arith.muli %[[COLUMN]], %c4
// CHECK-DAG:       %[[I:.*]] = arith.muli %[[ROW]], %c6
// CHECK:           scf.for %{{.*}} = %[[J]] to
// CHECK:             scf.for %{{.*}} = %[[I]] to
func.func private @blocks(%x: tensor<9x10xf32>) -> tensor<10x9xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9x10xf32>) -> tensor<10x9xf32> {
    %r = metaop.fused(%bx = %kx : tensor<9x10xf32>) -> tensor<10x9xf32>
        schedule(#metaop.schedule<[parallel(1, 6), parallel(0, 4), step(0), step(1)]>) {
      %y = metaop.transpose %bx perm = [1, 0] : tensor<9x10xf32> -> tensor<10x9xf32>
      metaop.yield %y : tensor<10x9xf32>
    }
    metaop.yield %r : tensor<10x9xf32>
  }
  return %k : tensor<10x9xf32>
}

// A strip that is entered once is emitted alike whatever is left over.
// CHECK-LABEL: func @grain(
// CHECK-SAME:    range = 3
// CHECK:         %[[FIRST:.*]] = arith.muli %{{.*}}, %c32
// CHECK:         %[[BEHIND:.*]] = arith.addi %[[FIRST]], %c32 overflow<nsw>
// CHECK:         %[[LAST:.*]] = arith.minsi %[[BEHIND]], %c96
// CHECK:         %[[LENGTH:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK:         %[[LEFT:.*]] = arith.remsi %[[LENGTH]], %c8
// CHECK:         %[[WHOLE:.*]] = arith.subi %[[LAST]], %[[LEFT]]
// CHECK:         scf.for %{{.*}} = %[[FIRST]] to %[[WHOLE]] step %c8
// CHECK:         scf.for %{{.*}} = %[[WHOLE]] to %[[LAST]] step %c8
func.func private @grain(%x: tensor<96xf32>) -> tensor<96xf32> {
  %k = metaop.kernel(%kx = %x : tensor<96xf32>) -> tensor<96xf32> {
    %r = metaop.fused(%bx = %kx : tensor<96xf32>) -> tensor<96xf32>
        schedule(#metaop.schedule<[parallel(0, 32), step(0, 8)], tile = [0: 8], lanes = 0: 8>) {
      %y = metaop.neg %bx : tensor<96xf32>
      metaop.yield %y : tensor<96xf32>
    }
    metaop.yield %r : tensor<96xf32>
  }
  return %k : tensor<96xf32>
}
