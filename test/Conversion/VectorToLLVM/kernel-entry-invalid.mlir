// RUN: metaop-opt %s -metaop-kernel-entry -split-input-file -verify-diagnostics

// expected-error @below {{'func.func' op expects 1-d buffers and numbers and two bounds as arguments of a kernel, and no result}}
func.func @no_bounds() attributes {metaop.kernel} {
  return
}

// -----

// expected-error @below {{expects 1-d buffers and numbers and two bounds}}
func.func @matrix(%x: memref<2x2xf32>, %begin: index, %end: index) attributes {metaop.kernel} {
  return
}

// -----

// expected-error @below {{expects 1-d buffers and numbers and two bounds}}
func.func @buffer_as_bound(%begin: index, %x: memref<2xf32>) attributes {metaop.kernel} {
  return
}

// -----

// expected-error @below {{expects 1-d buffers and numbers and two bounds}}
func.func @result(%begin: index, %end: index) -> index attributes {metaop.kernel} {
  return %begin : index
}
