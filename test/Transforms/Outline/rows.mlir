// RUN: metaop-opt %s -metaop-outline | FileCheck %s

// The rows of an operand that is merged with another go with it.
// CHECK:      func.func private @kernel_{{.*}}(%{{.*}}: tensor<4x4xf32>, %{{.*}}: tensor<4x4xf32>)
// CHECK:        metaop.fused({{.*}}) -> tensor<4x4xf32> attributes {input_rows = [#metaop.rows<4, pitch = 8>, unit]}
func.func @rows(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>, %b = %x : tensor<4x4xf32>, %c = %y : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = metaop.fused(%d = %a : tensor<4x4xf32>, %e = %b : tensor<4x4xf32>, %f = %c : tensor<4x4xf32>) -> tensor<4x4xf32>
        attributes {input_rows = [#metaop.rows<4, pitch = 8>, #metaop.rows<4, pitch = 8>, unit]} {
      %2 = metaop.mul %d, %e : tensor<4x4xf32>
      %3 = metaop.mul %2, %f : tensor<4x4xf32>
      metaop.yield %3 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}
