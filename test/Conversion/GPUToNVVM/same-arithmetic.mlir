// RUN: metaop-opt %s -metaop-expand-math -o %t.cpu
// RUN: metaop-opt %s -metaop-expand-math=gpu=true -o %t.gpu
// RUN: diff %t.cpu %t.gpu
// RUN: FileCheck %s --input-file=%t.gpu

// Functions of f32 are the same arithmetic for GPUs as for CPUs, operation by
// operation, so that they have the same bits, and the errors that docs/Spec.md
// tells. tanh has a quotient that is other instructions (approximate.mlir).
// CHECK-LABEL: func @functions
// CHECK-NOT:     math.{{exp|log|erf|sin|cos|tan|asin|acos|atan|sinh|cosh|cbrt|pow}}
// CHECK:         return
func.func @functions(%x: vector<4xf32>, %y: f32) -> (vector<4xf32>, f32) {
  %0 = math.exp %x : vector<4xf32>
  %1 = math.exp2 %0 : vector<4xf32>
  %2 = math.expm1 %1 : vector<4xf32>
  %3 = math.log %2 : vector<4xf32>
  %4 = math.log2 %3 : vector<4xf32>
  %5 = math.log10 %4 : vector<4xf32>
  %6 = math.log1p %5 : vector<4xf32>
  %8 = math.erf %6 : vector<4xf32>
  %9 = math.erfc %8 : vector<4xf32>
  %10 = math.sin %9 : vector<4xf32>
  %11 = math.cos %10 : vector<4xf32>
  %12 = math.tan %11 : vector<4xf32>
  %13 = math.asin %12 : vector<4xf32>
  %14 = math.acos %13 : vector<4xf32>
  %15 = math.atan %14 : vector<4xf32>
  %16 = math.sinh %15 : vector<4xf32>
  %17 = math.cosh %16 : vector<4xf32>
  %18 = math.asinh %17 : vector<4xf32>
  %19 = math.acosh %18 : vector<4xf32>
  %20 = math.atanh %19 : vector<4xf32>
  %21 = math.cbrt %20 : vector<4xf32>
  %22 = math.atan2 %21, %x : vector<4xf32>
  %23 = math.powf %22, %x : vector<4xf32>
  %24 = math.exp %y : f32
  %25 = math.sin %24 : f32
  return %23, %25 : vector<4xf32>, f32
}
