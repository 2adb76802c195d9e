// RUN: metaop-opt %s -metaop-abstract-numbers -split-input-file -verify-diagnostics

// expected-error @below {{expects two bounds as last arguments of a kernel}}
func.func @no_bounds(%x: memref<4xf32>) attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.kernel} {
  return
}

// -----

// expected-error @below {{expects two bounds as last arguments of a kernel}}
func.func private @declared(memref<4xf32>, index, index) attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.kernel}
