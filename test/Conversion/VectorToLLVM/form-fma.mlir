// RUN: metaop-opt %s -metaop-form-fma | FileCheck %s
// RUN: metaop-opt %s -metaop-form-fma=has-fma=false | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: @sum
// CHECK-SAME: (%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32)
// CHECK-NEXT: %[[S:.*]] = math.fma %[[A]], %[[B]], %[[C]] : f32
// CHECK-NEXT: return %[[S]]
// NONE-LABEL: @sum
// NONE-NEXT: arith.mulf %{{.*}}, %{{.*}} : f32
// NONE-NEXT: arith.addf %{{.*}}, %{{.*}} : f32
func.func @sum(%a: f32, %b: f32, %c: f32) -> f32 {
  %p = arith.mulf %a, %b fastmath<contract> : f32
  %s = arith.addf %c, %p fastmath<contract> : f32
  return %s : f32
}

// The first of two products.
// CHECK-LABEL: @products
// CHECK-SAME: (%[[A:.*]]: f64, %[[B:.*]]: f64, %[[C:.*]]: f64)
// CHECK-NEXT: %[[Q:.*]] = arith.mulf %[[B]], %[[C]] : f64
// CHECK-NEXT: math.fma %[[A]], %[[B]], %[[Q]] : f64
func.func @products(%a: f64, %b: f64, %c: f64) -> f64 {
  %p = arith.mulf %a, %b fastmath<contract> : f64
  %q = arith.mulf %b, %c fastmath<contract> : f64
  %s = arith.addf %p, %q fastmath<contract> : f64
  return %s : f64
}

// CHECK-LABEL: @difference
// CHECK-SAME: (%[[A:.*]]: vector<16xf32>, %[[B:.*]]: vector<16xf32>, %[[C:.*]]: vector<16xf32>)
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[C]]
// CHECK-NEXT: math.fma %[[A]], %[[B]], %[[N]] : vector<16xf32>
// CHECK: %[[M:.*]] = arith.negf %[[A]]
// CHECK-NEXT: math.fma %[[M]], %[[B]], %[[C]] : vector<16xf32>
func.func @difference(%a: vector<16xf32>, %b: vector<16xf32>, %c: vector<16xf32>)
    -> (vector<16xf32>, vector<16xf32>) {
  %p = arith.mulf %a, %b fastmath<contract> : vector<16xf32>
  %s = arith.subf %p, %c fastmath<contract> : vector<16xf32>
  %q = arith.mulf %a, %b fastmath<contract> : vector<16xf32>
  %t = arith.subf %c, %q fastmath<contract> : vector<16xf32>
  return %s, %t : vector<16xf32>, vector<16xf32>
}

// A product that is needed as such, one of another block, one without the
// permission, and halves stay.
// CHECK-LABEL: @left_alone
// CHECK-NOT: math.fma
// CHECK-NOT: fastmath
func.func @left_alone(%a: f32, %b: f32, %h: f16, %begin: index, %end: index) -> (f32, f32, f32, f32, f16) {
  %p = arith.mulf %a, %b fastmath<contract> : f32
  %s = arith.addf %p, %a fastmath<contract> : f32
  %q = arith.mulf %a, %a fastmath<contract> : f32
  %l = scf.for %i = %begin to %end step %end iter_args(%x = %a) -> f32 {
    %y = arith.addf %q, %x fastmath<contract> : f32
    scf.yield %y : f32
  }
  %r = arith.mulf %a, %b : f32
  %t = arith.addf %r, %b fastmath<contract> : f32
  %u = arith.mulf %h, %h fastmath<contract> : f16
  %v = arith.addf %u, %h fastmath<contract> : f16
  return %p, %s, %l, %t, %v : f32, f32, f32, f32, f16
}
