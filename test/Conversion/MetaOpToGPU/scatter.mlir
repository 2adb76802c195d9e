// RUN: metaop-opt %s -convert-metaop-to-gpu -canonicalize -cse | FileCheck %s

// Floats that are summed in any order are integers of a unit that a pass before
// finds: 40 exponents of 32 bits lie in front of 40 sums of 64.
// CHECK-LABEL: gpu.module @sums
// CHECK:         gpu.func @sums_fill(%{{.*}}: memref<1000xf32, 1>{{.*}}, %[[Y:.*]]: memref<40xf32, 1>, %[[WORDS:.*]]: memref<60xi64, 1>)
// CHECK-SAME:      scratch = [60]
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NEXT:      memref.store %{{.*}}, %[[Y]][%[[I]]]
// CHECK:         scf.for %[[J:.*]] =
// CHECK-NEXT:      memref.store %{{.*}}, %[[WORDS]][%[[J]]]
// CHECK:         gpu.func @sums_scale(
// CHECK:           %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK:           %[[FIELD:.*]] = arith.shrui %[[BITS]]
// CHECK:           %[[EXPONENT:.*]] = arith.andi %[[FIELD]]
// CHECK:           llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
// CHECK:           llvm.load %{{.*}} atomic syncscope("device") monotonic
// CHECK:           llvm.atomicrmw max %{{.*}}, %[[EXPONENT]] syncscope("device") monotonic : !llvm.ptr<1>, i32
// CHECK-NOT:       llvm.atomicrmw add
// CHECK:         gpu.func @sums(
// CHECK:           arith.fptosi %{{.*}} : f64 to i64
// CHECK:           llvm.atomicrmw add %{{.*}} : !llvm.ptr<1>, i64
// CHECK:         } else {
// CHECK:           llvm.atomicrmw fadd %{{.*}} : !llvm.ptr<1>, f32
// CHECK:         gpu.func @sums_sums(
// CHECK:           %[[WORD:.*]] = memref.load %{{.*}} : memref<60xi64, 1>
// CHECK:           arith.sitofp %{{.*}} : i64 to f64
// CHECK:           arith.truncf %{{.*}} : f64 to f32
func.func private @sums(%x: tensor<1000xf32>) -> tensor<40xf32> {
  %k = metaop.kernel(%kx = %x : tensor<1000xf32>) -> tensor<40xf32> {
    %r = metaop.fused(%bx = %kx : tensor<1000xf32>) -> tensor<40xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], tile = [0: 2]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i) -> (i mod 37)> : tensor<1000xf32> -> tensor<40xf32>
      metaop.yield %y : tensor<40xf32>
    }
    metaop.yield %r : tensor<40xf32>
  }
  return %k : tensor<40xf32>
}

// Where the kernel allows it, they are added as they are.
// CHECK-LABEL: gpu.module @float_atomics
// CHECK:         gpu.func @float_atomics_fill(
// CHECK-NOT:     scratch =
// CHECK:         gpu.func @float_atomics(
// CHECK:           llvm.atomicrmw fadd %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, f32
func.func private @float_atomics(%x: tensor<1000xf32>) -> tensor<40xf32> {
  %k = metaop.kernel(%kx = %x : tensor<1000xf32>) -> tensor<40xf32> attributes {float_atomics} {
    %r = metaop.fused(%bx = %kx : tensor<1000xf32>) -> tensor<40xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)], tile = [0: 2]>) {
      %y = metaop.reindex_reduce add %bx map affine_map<(i) -> (i mod 37)> : tensor<1000xf32> -> tensor<40xf32>
      metaop.yield %y : tensor<40xf32>
    }
    metaop.yield %r : tensor<40xf32>
  }
  return %k : tensor<40xf32>
}

// The order of floats is that of integers, backwards where they are negative.
// CHECK-LABEL: gpu.module @largest
// CHECK:         gpu.func @largest_fill(
// CHECK:           memref.store %{{.*}} : memref<40xf32, 1>
// CHECK:         gpu.func @largest(
// CHECK:           %[[NAN:.*]] = arith.cmpf uno, %[[X:.*]], %[[X]] : f32
// CHECK:           %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK:           %[[ORDERED:.*]] = arith.select %[[NAN]], %c2147483647_i32, %[[BITS]]
// CHECK:           %[[NEGATIVE:.*]] = arith.cmpi slt, %[[ORDERED]], %c0_i32
// CHECK:           scf.if %[[NEGATIVE]] {
// CHECK-NEXT:        llvm.atomicrmw umin %{{.*}}, %[[ORDERED]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        llvm.atomicrmw max %{{.*}}, %[[ORDERED]]
func.func private @largest(%x: tensor<1000xf32>) -> tensor<40xf32> {
  %k = metaop.kernel(%kx = %x : tensor<1000xf32>) -> tensor<40xf32> {
    %r = metaop.fused(%bx = %kx : tensor<1000xf32>) -> tensor<40xf32>
        schedule(#metaop.schedule<[block(0, 256), thread(0)]>) {
      %y = metaop.reindex_reduce max %bx map affine_map<(i) -> (i mod 37)> : tensor<1000xf32> -> tensor<40xf32>
      metaop.yield %y : tensor<40xf32>
    }
    metaop.yield %r : tensor<40xf32>
  }
  return %k : tensor<40xf32>
}

// What has no instruction compares and swaps.
// CHECK-LABEL: gpu.func @products(
// CHECK:         %[[FIRST:.*]] = llvm.load %[[AT:.*]] atomic
// CHECK:         scf.while (%[[SEEN:.*]] = %[[FIRST]]) : (i32) -> i32 {
// CHECK-NEXT:      %[[WANTED:.*]] = arith.muli %[[SEEN]], %{{.*}} : i32
// CHECK-NEXT:      llvm.cmpxchg %[[AT]], %[[SEEN]], %[[WANTED]] syncscope("device") monotonic monotonic
// CHECK:           scf.condition
func.func private @products(%x: tensor<100xi32>) -> tensor<7xi32> {
  %k = metaop.kernel(%kx = %x : tensor<100xi32>) -> tensor<7xi32> {
    %r = metaop.fused(%bx = %kx : tensor<100xi32>) -> tensor<7xi32>
        schedule(#metaop.schedule<[block(0, 64), thread(0)]>) {
      %y = metaop.reindex_reduce mul %bx map affine_map<(i) -> (i mod 7)> : tensor<100xi32> -> tensor<7xi32>
      metaop.yield %y : tensor<7xi32>
    }
    metaop.yield %r : tensor<7xi32>
  }
  return %k : tensor<7xi32>
}
