// RUN: metaop-opt %s -split-input-file -metaop-schedule -convert-metaop-to-vector | FileCheck %s

// A buffer ends with the last row. Rows are walked apart, read and written.
// CHECK-LABEL: func @kernel(
// CHECK-SAME:    memref<96xf32>, %{{[^:]*}}: memref<128xf32>, %[[OUT:[^:]*]]: memref<232xf32>
// CHECK:         scf.for %[[ROW:[^ ]*]] =
// CHECK:           scf.for %[[I:[^ ]*]] =
// CHECK:             %[[IN:.*]] = arith.muli %[[ROW]], %c48
// CHECK:             %[[PITCH:.*]] = arith.muli %[[ROW]], %c100
// CHECK:             %[[TO:.*]] = arith.addi %[[PITCH]], %[[I]]
// CHECK:             vector.store %{{.*}}, %[[OUT]][%[[TO]]]
func.func @kernel(%x: tensor<3x32xf32>, %y: tensor<3x32xf32>) -> tensor<3x32xf32> {
  %0 = metaop.kernel(%a = %x : tensor<3x32xf32>, %b = %y : tensor<3x32xf32>) -> tensor<3x32xf32> {
    %1 = metaop.fused(%c = %a : tensor<3x32xf32>, %d = %b : tensor<3x32xf32>) -> tensor<3x32xf32>
        attributes {input_rows = [unit, #metaop.rows<32, pitch = 48>], result_rows = [#metaop.rows<32, pitch = 100>]} {
      %2 = metaop.mul %c, %d : tensor<3x32xf32>
      metaop.yield %2 : tensor<3x32xf32>
    }
    metaop.yield %1 : tensor<3x32xf32>
  }
  return %0 : tensor<3x32xf32>
}

// -----

// A result that is added to in memory is set to zero row by row, and so is one
// of a stage without iterations: nothing between the rows is written.
// CHECK-LABEL: func @scatter(
// CHECK-SAME:    memref<35xi64>, %[[OUT:[^:]*]]: memref<27xf32>
// CHECK:         scf.for %[[I:[^ ]*]] = %c0{{.*}} to %c3
// CHECK:           %[[ROW:.*]] = arith.muli %[[I]], %c10
// CHECK:           %[[BASE:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK:           scf.for %[[J:[^ ]*]] = %c0{{.*}} to %c7
// CHECK:             %[[AT:.*]] = arith.muli %[[J]], %c1
// CHECK:             %[[TO:.*]] = arith.addi %[[BASE]], %[[AT]]
// CHECK:             memref.store %{{.*}}, %[[OUT]][%[[TO]]]
func.func @scatter(%x: tensor<5x7xf32>, %i: tensor<5x7xi64>) -> tensor<3x7xf32> {
  %0 = metaop.kernel(%a = %x : tensor<5x7xf32>, %b = %i : tensor<5x7xi64>) -> tensor<3x7xf32> {
    %1 = metaop.fused(%c = %a : tensor<5x7xf32>, %d = %b : tensor<5x7xi64>) -> tensor<3x7xf32>
        attributes {result_rows = [#metaop.rows<7, pitch = 10>]} {
      %2 = metaop.scatter add %c[%d] map affine_map<(i, j)[s] -> (s, j)> : (tensor<5x7xf32>, tensor<5x7xi64>) -> tensor<3x7xf32>
      metaop.yield %2 : tensor<3x7xf32>
    }
    metaop.yield %1 : tensor<3x7xf32>
  }
  return %0 : tensor<3x7xf32>
}

// -----

// CHECK-LABEL: func @empty(
// CHECK:         scf.for %[[I:[^ ]*]] = %c0{{.*}} to %c3
// CHECK:           %[[ROW:.*]] = arith.muli %[[I]], %c10
// CHECK:           scf.for %[[J:[^ ]*]] = %c0{{.*}} to %c7
// CHECK:             memref.store
func.func @empty(%x: tensor<3x0x7xf32>) -> tensor<3x7xf32> {
  %0 = metaop.kernel(%a = %x : tensor<3x0x7xf32>) -> tensor<3x7xf32> {
    %1 = metaop.fused(%c = %a : tensor<3x0x7xf32>) -> tensor<3x7xf32>
        attributes {result_rows = [#metaop.rows<7, pitch = 10>]} {
      %2 = metaop.reindex_reduce add %c map affine_map<(i, j, k) -> (i, k)> : tensor<3x0x7xf32> -> tensor<3x7xf32>
      metaop.yield %2 : tensor<3x7xf32>
    }
    metaop.yield %1 : tensor<3x7xf32>
  }
  return %0 : tensor<3x7xf32>
}
