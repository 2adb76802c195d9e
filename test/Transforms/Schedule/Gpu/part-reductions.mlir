// RUN: metaop-opt %s -metaop-part-reductions | FileCheck %s
// RUN: metaop-opt %s -metaop-part-reductions=report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: metaop-opt %s -metaop-pipeline="from=fused to=scheduled target=cuda" | FileCheck %s --check-prefix=SCHEDULED

// Sums of rows and of columns, and the elements: each kernel reads what it needs.
// CHECK-LABEL: func @main
// CHECK:       %[[A:.*]]:2 = metaop.kernel(%{{.*}} = %arg0 : tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64xf32>)
// CHECK:         metaop.exp
// CHECK:         metaop.reduce add %{{.*}} dims = [1]
// CHECK:       %[[B:.*]] = metaop.kernel(%{{.*}} = %arg0 : tensor<64x128xf32>, %{{.*}} = %arg1 : tensor<64x128xf32>) -> tensor<128xf32>
// CHECK:         metaop.mul
// CHECK:         metaop.reduce add %{{.*}} dims = [0]
// CHECK:       return %[[A]]#0, %[[A]]#1, %[[B]]
// REPORT: remark: has reductions over 2 sets of loops, which become as many kernels
// SCHEDULED-COUNT-2: schedule(
// SCHEDULED-NOT: schedule(
func.func @main(%x: tensor<64x128xf32>, %z: tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64xf32>, tensor<128xf32>) {
  %r:3 = metaop.kernel(%a = %x : tensor<64x128xf32>, %b = %z : tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64xf32>, tensor<128xf32>) {
    %s:3 = metaop.fused(%c = %a : tensor<64x128xf32>, %d = %b : tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64xf32>, tensor<128xf32>) {
      %e = metaop.exp %c : tensor<64x128xf32>
      %rows = metaop.reduce add %e dims = [1] : tensor<64x128xf32> -> tensor<64xf32>
      %m = metaop.mul %e, %d : tensor<64x128xf32>
      %columns = metaop.reduce add %m dims = [0] : tensor<64x128xf32> -> tensor<128xf32>
      metaop.yield %e, %rows, %columns : tensor<64x128xf32>, tensor<64xf32>, tensor<128xf32>
    }
    metaop.yield %s#0, %s#1, %s#2 : tensor<64x128xf32>, tensor<64xf32>, tensor<128xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<64x128xf32>, tensor<64xf32>, tensor<128xf32>
}
