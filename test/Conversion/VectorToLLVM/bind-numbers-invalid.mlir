// RUN: metaop-opt %s -metaop-bind-numbers -split-input-file -verify-diagnostics
// RUN: not metaop-opt %s -metaop-abstract-numbers -split-input-file 2>&1 | FileCheck %s

// expected-error @below {{lists 3 numbers in metaop.numbers, but has not so many arguments of type index for them}}
func.func @too_many(%x: memref<?xf32>, %n0: index, %n1: index, %begin: index, %end: index)
    attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.kernel, metaop.numbers = array<i64: 1, 16, 1>} {
  return
}

// -----

// expected-error @below {{lists 9 numbers in metaop.numbers, but has not so many arguments of type index for them}}
func.func @far_too_many(%begin: index, %end: index)
    attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.kernel, metaop.numbers = array<i64: 1, 2, 3, 4, 5, 6, 7, 8, 9>} {
  return
}

// -----

// expected-error @below {{expects two bounds as last arguments of a kernel}}
func.func private @declared(memref<?xf32>, index, index, index)
    attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.kernel, metaop.numbers = array<i64: 1>}

// -----

// What a kernel's functions take, all of them take.
gpu.module @k {
  gpu.func @a(%x: memref<?xf32, 1>, %n: index) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.kernel, metaop.numbers = array<i64: 4>} {
    gpu.return
  }
  // CHECK: 'gpu.func' op has metaop.numbers, which other functions of its kernel lack
  gpu.func @b(%x: memref<64xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.kernel} {
    gpu.return
  }
}
