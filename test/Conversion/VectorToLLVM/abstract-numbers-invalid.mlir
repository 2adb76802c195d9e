// RUN: metaop-opt %s -metaop-abstract-numbers -split-input-file -verify-diagnostics

// expected-error @below {{expects two bounds as last arguments of a kernel}}
func.func @no_bounds(%x: memref<4xf32>) attributes {metaop.num_buffers = 1 : i64} {
  return
}

// -----

// expected-error @below {{expects two bounds as last arguments of a kernel}}
func.func private @declared(memref<4xf32>, index, index) attributes {metaop.num_buffers = 1 : i64}
