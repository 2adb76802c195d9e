// What metaop-run --compare says, and when it fails.

// RUN: split-file %s %t

// Every public function by default:
// RUN: metaop-run %t/main.mlir --compare=1e-3 | FileCheck %s --check-prefix=ALL
// ALL:     exact: 2 results agree, largest difference 0; 2 kernels, work for 1 thread{{$}}
// ALL-NOT: hidden
// ALL:     rounded: 1 results agree, largest difference {{[0-9.e-]*[1-9]}}

// RUN: metaop-run %t/main.mlir --compare --entry=exact | FileCheck %s --check-prefix=ONE
// ONE:      exact: 2 results agree
// ONE-NOT:  rounded

// A tolerance that no sum keeps; both numbers may be given.
// RUN: not metaop-run %t/main.mlir --compare=0 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: not metaop-run %t/main.mlir --compare=0,1e-30 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND-DAG: exact: 2 results agree
// BEYOND-DAG: rounded: result 0 differs in {{[0-9]+}} of 64 elements, most at [{{[0-9]+}}]: compiled {{.*}}, interpreted {{.*}}
// BEYOND-DAG: error: 1 of 2 functions do not agree

// RUN: not metaop-run %t/main.mlir --compare=loose 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not metaop-run %t/main.mlir --compare=1,2,3 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not metaop-run %t/main.mlir --compare=-1 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not metaop-run %t/main.mlir --compare=nan 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: --compare={{.*}}: expected a relative and an absolute tolerance, as in --compare=1e-5,1e-6

// RUN: not metaop-run %t/main.mlir --compare --interpret 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not metaop-run %t/main.mlir --compare --output=%t/y.npy 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: --compare runs both ways and keeps no results, so --interpret, --output and --print cannot be given

// RUN: not metaop-run %t/main.mlir --compare --entry=absent 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: there is no function 'absent'; there is exact, rounded, hidden

// A function that cannot be run is told, and the others are compared all the same.
// RUN: not metaop-run %t/dynamic.mlir --compare 2>&1 | FileCheck %t/dynamic.mlir
// RUN: not metaop-run %t/dynamic.mlir --compare --shape=0:3 2>&1 | FileCheck %t/dynamic.mlir --check-prefix=SHAPE
// RUN: not metaop-run %t/empty.mlir --compare 2>&1 | FileCheck %t/empty.mlir

//--- main.mlir
func.func @exact(%x: tensor<50xi32>, %y: tensor<50xf32>) -> (tensor<50xi32>, tensor<50xf32>) {
  %0 = metaop.mul %x, %x : tensor<50xi32>
  %1 = metaop.neg %y : tensor<50xf32>
  return %0, %1 : tensor<50xi32>, tensor<50xf32>
}

func.func @rounded(%x: tensor<64x1000xf32>) -> tensor<64xf32> {
  %0 = metaop.exp %x : tensor<64x1000xf32>
  %1 = metaop.reduce add %0 dims = [1] : tensor<64x1000xf32> -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

func.func private @hidden(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

//--- dynamic.mlir
// CHECK: dynamic: error: argument 0 has dynamic extents: give --shape=0:... or --input
// CHECK: static: 1 results agree
// CHECK: error: 1 of 2 functions do not agree
// SHAPE: dynamic: error: programs are compiled for tensors of static shape, but argument 0 is tensor<?xf32>
func.func @dynamic(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = metaop.reduce add %x dims = [0] : tensor<?xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @static(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = metaop.neg %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}

//--- empty.mlir
// CHECK: error: there is no public function to compare
module {}
