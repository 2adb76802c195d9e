// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// Each vector in the whole part of the loop asks for the one so many steps later; the rest asks
// for nothing.
// CHECK-LABEL: func @neg
// CHECK:       scf.for %[[I:.*]] = %c0 to %c992 step %c16
// CHECK:         vector.load %[[X:.*]][%[[I]]]
// CHECK:         %[[AHEAD:.*]] = arith.addi %[[I]], %c64
// CHECK:         memref.prefetch %[[X]][%[[AHEAD]]], read, locality<3>, data
// CHECK:         vector.store
// CHECK:       vector.maskedload
// CHECK-NOT:   prefetch
// CHECK:       return
func.func @neg(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %k = metaop.kernel(%kx = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %r = metaop.fused(%a = %kx : tensor<1000xf32>) -> tensor<1000xf32>
        schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16, prefetch = 4>) {
      %1 = metaop.neg %a : tensor<1000xf32>
      metaop.yield %1 : tensor<1000xf32>
    }
    metaop.yield %r : tensor<1000xf32>
  }
  return %k : tensor<1000xf32>
}

// Vectors of half a line ask for it once, those of two lines for both.
// CHECK-LABEL: func @lines
// CHECK:         memref.prefetch %{{.*}} : memref<1000xf16>
// CHECK-NOT:     memref<1000xf16>
// CHECK-COUNT-2: memref.prefetch %{{.*}} : memref<1000xf64>
// CHECK-NOT:     memref.prefetch
// CHECK:       return
func.func @lines(%x: tensor<1000xf64>, %h: tensor<1000xf16>) -> tensor<1000xf64> {
  %k = metaop.kernel(%kx = %x : tensor<1000xf64>, %kh = %h : tensor<1000xf16>) -> tensor<1000xf64> {
    %r = metaop.fused(%a = %kx : tensor<1000xf64>, %b = %kh : tensor<1000xf16>) -> tensor<1000xf64>
        schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16, prefetch = 4>) {
      %1 = metaop.cast %b : tensor<1000xf16> -> tensor<1000xf64>
      %2 = metaop.add %a, %1 : tensor<1000xf64>
      metaop.yield %2 : tensor<1000xf64>
    }
    metaop.yield %r : tensor<1000xf64>
  }
  return %k : tensor<1000xf64>
}
