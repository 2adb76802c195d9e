// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt | FileCheck %s

// Checks are printed and read: of integers of any type and shape, with and
// without what may be left out.

// CHECK-LABEL: @values
func.func @values(%i: tensor<4x?xi64>, %l: tensor<8xui8>, %n: tensor<i32>) -> (tensor<4x?xi64>, tensor<8xui8>, tensor<i32>) {
  // CHECK: metaop.check %{{.*}} extent = 10 negative dim = 1 : tensor<4x?xi64>
  %0 = metaop.check %i extent = 10 negative dim = 1 : tensor<4x?xi64>
  // CHECK: metaop.check %{{.*}} extent = 5 ignored = -100 : tensor<8xui8>
  %1 = metaop.check %l extent = 5 ignored = -100 : tensor<8xui8>
  // CHECK: metaop.check %{{.*}} extent = 0 : tensor<i32>
  %2 = metaop.check %n extent = 0 : tensor<i32>
  return %0, %1, %2 : tensor<4x?xi64>, tensor<8xui8>, tensor<i32>
}

// Numbers of trips.
// CHECK-LABEL: @trips
func.func @trips(%n: tensor<i64>) -> tensor<i64> {
  // CHECK: metaop.check %{{.*}} extent = 11 trips : tensor<i64>
  %0 = metaop.check %n extent = 11 trips : tensor<i64>
  // CHECK: metaop.check_range %{{.*}}, %{{.*}} extent = 3 trips
  metaop.check_range %n, %n extent = 3 trips
  return %0 : tensor<i64>
}

// CHECK-LABEL: @numbers
func.func @numbers(%lowest: tensor<i64>, %highest: tensor<i64>) {
  // CHECK: metaop.check_range %{{.*}}, %{{.*}} extent = 10 negative dim = 0
  metaop.check_range %lowest, %highest extent = 10 negative dim = 0
  // CHECK: metaop.check_range %{{.*}}, %{{.*}} extent = 3{{$}}
  metaop.check_range %lowest, %highest extent = 3
  return
}
