// RUN: metaop-opt %s --metaop-verify-closure --split-input-file --verify-diagnostics

func.func @other_dialect(%x: f32) -> f32 {
  // expected-error @below {{'arith.addf' is not a meta-operator, so the function cannot be differentiated again}}
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}

// -----

func.func @extents(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %0 = metaop.iota dim = 0 extents(%n) : tensor<?xf32>
  return %0 : tensor<?xf32>
}
