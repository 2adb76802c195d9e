// RUN: metaop-opt %s -convert-metaop-to-vector -split-input-file -verify-diagnostics

// What the function of a kernel has to be.

// Each result is a buffer that one stage writes.
func.func private @yields_twice(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  // expected-error @below {{yields one value twice}}
  %k:2 = metaop.kernel(%kx = %x : tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
    %r = metaop.fused(%a = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r, %r : tensor<12xf32>, tensor<12xf32>
  }
  return %k#0, %k#1 : tensor<12xf32>, tensor<12xf32>
}

// -----

// The caller's buffers are the kernel's results.
// expected-error @below {{expects to return the results of its kernel in order}}
func.func private @swapped(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
    %r = metaop.fused(%a = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %a : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    %s = metaop.fused(%a = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.neg %a : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r, %s : tensor<12xf32>, tensor<12xf32>
  }
  return %k#1, %k#0 : tensor<12xf32>, tensor<12xf32>
}

// -----

// Numbers are passed as 0-d tensors.
// expected-error @below {{expects arguments that are tensors or of type index, given 'f32'}}
func.func private @number(%x: tensor<12xf32>, %n: f32) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12xf32>) -> tensor<12xf32> {
    %r = metaop.fused(%bx = %kx : tensor<12xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %bx : tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}
