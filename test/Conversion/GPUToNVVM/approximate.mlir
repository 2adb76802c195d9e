// RUN: metaop-opt %s -metaop-expand-math=gpu=true | FileCheck %s
// RUN: metaop-opt %s -metaop-expand-math | FileCheck %s --check-prefix=CPU

// What is only rounded to halves is approximated on GPUs, each lane by itself.
// CPU-NOT: {{call_intrinsic|afn}}

// CHECK-LABEL: func @exp
// CHECK-SAME:    (%[[X:.*]]: vector<2xf32>)
// CHECK:         %[[T:.*]] = arith.mulf %[[X]], %{{.*}} : vector<2xf32>
// CHECK:         %[[LANES:.*]]:2 = vector.to_elements %[[T]]
// CHECK:         %[[A:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"(%[[LANES]]#0)
// CHECK:         %[[B:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"(%[[LANES]]#1)
// CHECK:         %[[R:.*]] = vector.from_elements %[[A]], %[[B]] : vector<2xf32>
// CHECK:         arith.truncf %[[R]] : vector<2xf32> to vector<2xf16>
func.func @exp(%x: vector<2xf32>) -> vector<2xf16> {
  %0 = math.exp %x fastmath<afn> : vector<2xf32>
  %1 = arith.truncf %0 : vector<2xf32> to vector<2xf16>
  return %1 : vector<2xf16>
}

// CHECK-LABEL: func @functions
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"
// CHECK-NEXT:    arith.truncf
// CHECK:         %[[LOG2:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
// CHECK-NEXT:    arith.mulf %[[LOG2]], %{{.*}} : f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
// CHECK-NEXT:    arith.truncf
// CHECK:         llvm.call_intrinsic "llvm.nvvm.sqrt.approx.f"
// CHECK:         llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
// CHECK:         llvm.call_intrinsic "llvm.nvvm.div.full"
// CHECK-NOT:     math.
// CHECK:         return
func.func @functions(%x: f32, %y: f32) -> (bf16, bf16, bf16, bf16, bf16, bf16) {
  %0 = math.exp2 %x fastmath<afn> : f32
  %1 = arith.truncf %0 : f32 to bf16
  %2 = math.log %x fastmath<afn> : f32
  %3 = arith.truncf %2 : f32 to bf16
  %4 = math.log2 %x fastmath<afn> : f32
  %5 = arith.truncf %4 : f32 to bf16
  %6 = math.sqrt %x fastmath<afn> : f32
  %7 = arith.truncf %6 : f32 to bf16
  %8 = math.rsqrt %x fastmath<afn> : f32
  %9 = arith.truncf %8 : f32 to bf16
  %10 = arith.divf %x, %y fastmath<afn> : f32
  %11 = arith.truncf %10 : f32 to bf16
  return %1, %3, %5, %7, %9, %11 : bf16, bf16, bf16, bf16, bf16, bf16
}

// Small numbers, where the difference from 1 would cancel, have a polynomial.
// CHECK-LABEL: func @tanh
// CHECK-SAME:    (%[[X:.*]]: f32)
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-COUNT-3: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:         %[[NEAR:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK:         llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK:         %[[SMALL:.*]] = arith.cmpf olt
// CHECK:         %[[FAR:.*]] = math.copysign %{{.*}}, %[[X]] : f32
// CHECK:         arith.select %[[SMALL]], %[[NEAR]], %[[FAR]] : f32
func.func @tanh(%x: f32) -> bf16 {
  %0 = math.tanh %x fastmath<afn> : f32
  %1 = arith.truncf %0 : f32 to bf16
  return %1 : bf16
}

// CHECK-LABEL: func @erf
// CHECK-SAME:    (%[[X:.*]]: f32)
// CHECK:         arith.mulf %[[X]], %[[X]] : f32
// CHECK-COUNT-3: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:         %[[NEAR:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK:         %[[FAR:.*]] = math.copysign %{{.*}}, %[[X]] : f32
// CHECK:         arith.select %{{.*}}, %[[NEAR]], %[[FAR]] : f32
func.func @erf(%x: f32) -> bf16 {
  %0 = math.erf %x fastmath<afn> : f32
  %1 = arith.truncf %0 : f32 to bf16
  return %1 : bf16
}

// Neither what has other readers, nor what is not marked, nor what is not rounded
// to halves; and a logarithm next to 1 has too few digits for f16. No mark is left
// for LLVM.
// CHECK-LABEL: func @all_digits
// CHECK-NOT:     {{call_intrinsic|afn}}
// CHECK:         return
func.func @all_digits(%x: f32, %y: f64)
    -> (bf16, f32, bf16, f32, f16, bf16, f32, bf16, f32) {
  %0 = math.exp %x fastmath<afn> : f32
  %1 = arith.truncf %0 : f32 to bf16
  %2 = math.exp2 %x : f32
  %3 = arith.truncf %2 : f32 to bf16
  %4 = arith.divf %y, %y fastmath<afn> : f64
  %5 = arith.truncf %4 : f64 to f32
  %6 = math.log %x fastmath<afn> : f32
  %7 = arith.truncf %6 : f32 to f16
  %8 = arith.divf %x, %0 fastmath<afn> : f32
  %9 = arith.truncf %8 : f32 to bf16
  %10 = math.sqrt %x fastmath<afn> : f32
  %11 = arith.truncf %10 : f32 to bf16
  return %1, %0, %3, %5, %7, %9, %8, %11, %10
      : bf16, f32, bf16, f32, f16, bf16, f32, bf16, f32
}

// The quotient of tanh in f32 is rounded to nearest, as a division.
// CHECK-LABEL: func @tanh_of_f32
// CHECK-NOT:     arith.divf
// CHECK:         %[[INVERSE:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[D:.*]]) :
// CHECK:         %[[E:.*]] = math.fma %[[MINUS:.*]], %[[INVERSE]], %{{.*}} : f32
// CHECK:         %[[I:.*]] = math.fma %[[E]], %[[INVERSE]], %[[INVERSE]] : f32
// CHECK:         %[[Q:.*]] = arith.mulf %[[N:.*]], %[[I]] : f32
// CHECK:         %[[R:.*]] = math.fma %[[MINUS]], %[[Q]], %[[N]] : f32
// CHECK:         %[[Q1:.*]] = math.fma %[[R]], %[[I]], %[[Q]] : f32
// CHECK:         %[[R1:.*]] = math.fma %[[MINUS]], %[[Q1]], %[[N]] : f32
// CHECK:         math.fma %[[R1]], %[[I]], %[[Q1]] : f32
// CHECK:         return
func.func @tanh_of_f32(%x: f32) -> f32 {
  %0 = math.tanh %x : f32
  return %0 : f32
}

// CHECK-LABEL: func @tanh_of_vectors
// CHECK:         %[[LANES:.*]]:2 = vector.to_elements
// CHECK:         %[[A:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[LANES]]#0)
// CHECK:         %[[B:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[LANES]]#1)
// CHECK:         vector.from_elements %[[A]], %[[B]] : vector<2xf32>
func.func @tanh_of_vectors(%x: vector<2xf32>) -> vector<2xf32> {
  %0 = math.tanh %x : vector<2xf32>
  return %0 : vector<2xf32>
}
