// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-mark-kept
// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-plan-memory

func.func @main(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  // expected-error @+1 {{'scf.if' op memory is planned for programs whose steps are known before they run, without branches, loops and numbers out of tensors}}
  %r = scf.if %c -> (tensor<8xf32>) {
    scf.yield %x : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%n: tensor<i64>) -> tensor<i64> {
  // expected-error @+1 {{'tensor.extract' op memory is planned for programs whose steps are known before they run}}
  %0 = tensor.extract %n[] : tensor<i64>
  return %n : tensor<i64>
}
