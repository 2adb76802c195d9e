// RUN: metaop-opt %s -convert-metaop-to-gpu -canonicalize -cse | FileCheck %s

// A box of 32 x 32 goes through shared memory, in rows of 33: it is read and
// written along neighbours.
// CHECK-LABEL: gpu.func @transpose(
// CHECK-SAME:    %[[X:.*]]: memref<7000xf32, 1>{{.*}}, %[[Y:.*]]: memref<7000xf32, 1>)
// CHECK-SAME:    workgroup(%[[BOX:.*]] : memref<1056xf32, 3>
// CHECK:         %[[COLUMN:.*]] = arith.remui %{{.*}}, %c32
// CHECK-COUNT-4: memref.load %[[X]]
// CHECK-COUNT-4: memref.store %{{.*}}, %[[BOX]]
// CHECK:         gpu.barrier
// CHECK:         memref.load %[[BOX]]
// CHECK:         memref.store %{{.*}}, %[[Y]]
func.func private @transpose(%x: tensor<70x100xf32>) -> tensor<100x70xf32> {
  %0 = metaop.kernel(%a = %x : tensor<70x100xf32>) -> tensor<100x70xf32> {
    %1 = metaop.fused(%c = %a : tensor<70x100xf32>) -> tensor<100x70xf32> schedule(#metaop.schedule<[block(0, 32), block(1, 32), thread(0), thread(1)], tile = [0: 4], staged = [0: 1]>) {
      %2 = metaop.reindex %c map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32 : tensor<70x100xf32> -> tensor<100x70xf32>
      metaop.yield %2 : tensor<100x70xf32>
    }
    metaop.yield %1 : tensor<100x70xf32>
  }
  return %0 : tensor<100x70xf32>
}

// Two rows of 16 fill the banks once, so they share an unused element behind them.
// CHECK-LABEL: gpu.func @short_rows(
// CHECK-SAME:    workgroup(%[[BOX:.*]] : memref<528xf32, 3>
// CHECK:         %[[PADDING:.*]] = arith.divui %[[NUMBER:.*]], %c32
// CHECK:         %[[PLACE:.*]] = arith.addi %[[NUMBER]], %[[PADDING]]
// CHECK:         memref.store %{{.*}}, %[[BOX]][%[[PLACE]]]
// CHECK:         gpu.barrier
// CHECK:         %[[UNUSED:.*]] = arith.floordivsi %{{.*}}, %c2
// CHECK:         %[[AT:.*]] = arith.addi %{{.*}}, %[[UNUSED]]
// CHECK:         memref.load %[[BOX]][%[[AT]]]
func.func private @short_rows(%x: tensor<70x16xf32>) -> tensor<16x70xf32> {
  %0 = metaop.kernel(%a = %x : tensor<70x16xf32>) -> tensor<16x70xf32> {
    %1 = metaop.fused(%c = %a : tensor<70x16xf32>) -> tensor<16x70xf32> schedule(#metaop.schedule<[block(0, 16), block(1, 32), thread(0), thread(1)], tile = [0: 2], staged = [0: 1]>) {
      %2 = metaop.reindex %c map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32 : tensor<70x16xf32> -> tensor<16x70xf32>
      metaop.yield %2 : tensor<16x70xf32>
    }
    metaop.yield %1 : tensor<16x70xf32>
  }
  return %0 : tensor<16x70xf32>
}

// Both operands of a product, a part of the reduced dimension at a time. What
// is outside of a tensor is zero in its box. The steps of a part may be unrolled,
// but not the parts.
// CHECK-LABEL: gpu.func @product(
// CHECK-SAME:    workgroup(%[[A:.*]] : memref<1056xf32, 3> {{.*}}, %[[B:.*]] : memref<1040xf32, 3>
// CHECK:         %[[SUMS:.*]]:16 = scf.for %[[K:.*]] = %c0 to %c50 step %c16
// CHECK:           gpu.barrier
// CHECK:           memref.store %{{.*}}, %[[A]]
// CHECK:           memref.store %{{.*}}, %[[B]]
// CHECK:           gpu.barrier
// CHECK:           scf.for
// CHECK-NOT:         scf.if
// CHECK-COUNT-4:     memref.load %[[A]]
// CHECK-COUNT-4:     memref.load %[[B]]
// CHECK:             arith.mulf
// CHECK:             scf.yield
// CHECK-NEXT:      }{{$}}
// CHECK:           scf.yield
// CHECK-NEXT:    } {loop_annotation = #loop_annotation}
func.func private @product(%x: tensor<70x50xf32>, %y: tensor<50x90xf32>) -> tensor<70x90xf32> {
  %0 = metaop.kernel(%a = %x : tensor<70x50xf32>, %b = %y : tensor<50x90xf32>) -> tensor<70x90xf32> {
    %1 = metaop.fused(%c = %a : tensor<70x50xf32>, %d = %b : tensor<50x90xf32>) -> tensor<70x90xf32> schedule(#metaop.schedule<[block(0, 64), block(2, 64), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4, 2: 4], staged = [0: 1, 1: 1]>) {
      %2 = metaop.reindex %c map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.0 : f32 : tensor<70x50xf32> -> tensor<70x50x90xf32>
      %3 = metaop.reindex %d map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.0 : f32 : tensor<50x90xf32> -> tensor<70x50x90xf32>
      %4 = metaop.mul %2, %3 : tensor<70x50x90xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<70x50x90xf32> -> tensor<70x90xf32>
      metaop.yield %5 : tensor<70x90xf32>
    }
    metaop.yield %1 : tensor<70x90xf32>
  }
  return %0 : tensor<70x90xf32>
}
