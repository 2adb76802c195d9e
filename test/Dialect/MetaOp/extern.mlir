// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --cse | FileCheck %s --check-prefix=CSE

// Optional parts are printed where they are there.
// CHECK-LABEL: func @forms
func.func @forms(%x: tensor<4x8xf32>, %n: tensor<i64>) -> (tensor<4x8xf32>, tensor<3xi1>) {
  // CHECK: metaop.extern "code.1"(%{{.*}}) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = metaop.extern "code.1" (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: metaop.extern "code.2"(%{{.*}}, %{{.*}}) parallel = 2 : (tensor<4x8xf32>, tensor<i64>) -> (tensor<4x8xf32>, tensor<3xi1>)
  %1, %2 = metaop.extern "code.2" (%0, %n) parallel = 2
      : (tensor<4x8xf32>, tensor<i64>) -> (tensor<4x8xf32>, tensor<3xi1>)
  // CHECK: metaop.extern "code.3"() leading = 0 : () -> tensor<3xi1>
  %3 = metaop.extern "code.3" () leading = 0 : () -> tensor<3xi1>
  %4 = metaop.and %2, %3 : tensor<3xi1>
  return %1, %4 : tensor<4x8xf32>, tensor<3xi1>
}

// Equal calls are one, others stay, and one that nobody reads goes.
// CSE-LABEL: func @merged
func.func @merged(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CSE-NEXT: %[[A:.*]] = metaop.extern "code.1"(%{{.*}})
  // CSE-NEXT: %[[B:.*]] = metaop.extern "code.2"(%{{.*}})
  // CSE-NEXT: %[[SUM:.*]] = metaop.add %[[A]], %[[A]]
  // CSE-NEXT: return %[[SUM]], %[[B]]
  %0 = metaop.extern "code.1" (%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = metaop.extern "code.1" (%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = metaop.extern "code.2" (%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = metaop.extern "code.3" (%x) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = metaop.add %0, %1 : tensor<4xf32>
  return %4, %2 : tensor<4xf32>, tensor<4xf32>
}
