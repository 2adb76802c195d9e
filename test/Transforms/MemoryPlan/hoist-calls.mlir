// RUN: metaop-opt %s -metaop-hoist-calls | FileCheck %s

// Calls and views of what is around leave the loop, those of its values stay,
// and so does one whose result lies in the rows of a concat.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[V:.*]] = metaop.reshape %arg1
// CHECK-NEXT: %[[P:.*]] = call @kernel(%[[V]])
// CHECK-NEXT: metaop.scan 8 carries(%[[C:.*]] = %arg0
// CHECK-NEXT: func.call @in_rows(%arg1)
// CHECK-NEXT: %[[N:.*]] = func.call @add(%[[C]], %[[P]])
// CHECK-NEXT: metaop.scan_yield %[[N]]
func.func @main(%x: tensor<4xf32>, %w: tensor<2x2xf32>) -> tensor<4xf32> {
  %r = metaop.scan 8 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    %v = metaop.reshape %w : tensor<2x2xf32> -> tensor<4xf32>
    %p = func.call @kernel(%v) : (tensor<4xf32>) -> tensor<4xf32>
    %q = func.call @in_rows(%w) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %n = func.call @add(%c, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    metaop.scan_yield %n : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = metaop.fused(%b = %a : tensor<4xf32>) -> tensor<4xf32> {
      %2 = metaop.exp %b : tensor<4xf32>
      metaop.yield %2 : tensor<4xf32>
    }
    metaop.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
func.func private @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> tensor<4xf32> {
    %1 = metaop.fused(%c = %a : tensor<4xf32>, %d = %b : tensor<4xf32>) -> tensor<4xf32> {
      %2 = metaop.add %c, %d : tensor<4xf32>
      metaop.yield %2 : tensor<4xf32>
    }
    metaop.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
func.func private @in_rows(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = metaop.kernel(%a = %x : tensor<2x2xf32>) -> tensor<2x2xf32> {
    %1 = metaop.fused(%b = %a : tensor<2x2xf32>) -> tensor<2x2xf32>
        attributes {result_rows = [#metaop.rows<2, pitch = 4>]} {
      %2 = metaop.exp %b : tensor<2x2xf32>
      metaop.yield %2 : tensor<2x2xf32>
    }
    metaop.yield %1 : tensor<2x2xf32>
  }
  return %0 : tensor<2x2xf32>
}
