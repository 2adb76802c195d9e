// RUN: metaop-opt %s --split-input-file --verify-diagnostics

func.func @types(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects results of the types of its operands, given 'tensor<2xf32>', 'tensor<4xf32>' for 'tensor<4xf32>', 'tensor<2xf32>'}}
  %0:2 = metaop.barrier %x, %y : tensor<4xf32>, tensor<2xf32> -> tensor<2xf32>, tensor<4xf32>
  return %0#1 : tensor<4xf32>
}

// -----

func.func @count(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects results of the types of its operands}}
  %0:2 = "metaop.barrier"(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// -----

func.func @place(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects `metaop.checkpoint` to be on an scf.execute_region}}
  %0 = metaop.exp %x {metaop.checkpoint} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @kind(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects `metaop.checkpoint` to be a unit attribute, or a number of results, of type i64, given 2 : i64}}
  %0 = scf.execute_region -> tensor<4xf32> no_inline {
    %1 = metaop.exp %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } {metaop.checkpoint = 2 : i64}
  return %0 : tensor<4xf32>
}
