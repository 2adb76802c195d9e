// RUN: metaop-opt %s --canonicalize --cse | FileCheck %s

// What is known to be in range is not checked; nor is what has been checked.

// CHECK-LABEL: @known
// CHECK-NOT: metaop.check
// CHECK: return
func.func @known() -> (tensor<4xi64>, tensor<2xui8>, tensor<3xi32>) {
  %i = metaop.constant dense<[0, -10, 9, 3]> : tensor<4xi64>
  %0 = metaop.check %i extent = 10 negative dim = 0 : tensor<4xi64>
  %l = metaop.constant dense<255> : tensor<2xui8>
  %1 = metaop.check %l extent = 256 : tensor<2xui8>
  %m = metaop.constant dense<[2, -7, 0]> : tensor<3xi32>
  %2 = metaop.check %m extent = 3 ignored = -7 : tensor<3xi32>
  return %0, %1, %2 : tensor<4xi64>, tensor<2xui8>, tensor<3xi32>
}

// CHECK-LABEL: @known_outside
func.func @known_outside() -> (tensor<2xi64>, tensor<2xi8>) {
  %i = metaop.constant dense<[0, -1]> : tensor<2xi64>
  // CHECK: metaop.check {{.*}}tensor<2xi64>
  %0 = metaop.check %i extent = 10 : tensor<2xi64>
  // CHECK: metaop.check {{.*}}tensor<2xi8>
  %m = metaop.constant dense<-1> : tensor<2xi8>
  %1 = metaop.check %m extent = 256 : tensor<2xi8>
  return %0, %1 : tensor<2xi64>, tensor<2xi8>
}

// CHECK-LABEL: @nothing
// CHECK-NEXT: return
func.func @nothing(%i: tensor<0x?xi64>) -> tensor<0x?xi64> {
  %0 = metaop.check %i extent = 0 : tensor<0x?xi64>
  return %0 : tensor<0x?xi64>
}

// Once, where the range is the same.
// CHECK-LABEL: @again
// CHECK-SAME: %[[I:.*]]: tensor<4xi64>
func.func @again(%i: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>) {
  // CHECK-NEXT: %[[C:.*]] = metaop.check %[[I]] extent = 10
  %0 = metaop.check %i extent = 10 : tensor<4xi64>
  %1 = metaop.check %0 extent = 10 : tensor<4xi64>
  %2 = metaop.check %i extent = 10 : tensor<4xi64>
  // CHECK-NEXT: %[[D:.*]] = metaop.check %[[C]] extent = 9
  %3 = metaop.check %2 extent = 9 : tensor<4xi64>
  // CHECK-NEXT: return %[[C]], %[[C]], %[[D]]
  return %1, %2, %3 : tensor<4xi64>, tensor<4xi64>, tensor<4xi64>
}

// Nobody reads the value.
// CHECK-LABEL: @unused
// CHECK-NEXT: return
func.func @unused(%i: tensor<4xi64>) {
  %0 = metaop.check %i extent = 10 : tensor<4xi64>
  return
}

// CHECK-LABEL: @ranges
// CHECK-SAME: %[[A:.*]]: tensor<i64>, %[[B:.*]]: tensor<i64>
func.func @ranges(%a: tensor<i64>, %b: tensor<i64>) {
  %low = metaop.constant dense<-3> : tensor<i64>
  %high = metaop.constant dense<2> : tensor<i64>
  metaop.check_range %low, %high extent = 3 negative
  // CHECK: metaop.check_range %{{.*}}, %{{.*}} extent = 2 negative
  metaop.check_range %low, %high extent = 2 negative
  // CHECK-NEXT: metaop.check_range %[[A]], %[[B]] extent = 4
  metaop.check_range %a, %b extent = 4
  metaop.check_range %a, %b extent = 4
  // CHECK-NEXT: metaop.check_range %[[B]], %[[A]] extent = 4
  metaop.check_range %b, %a extent = 4
  // CHECK-NEXT: metaop.check_range %[[A]], %[[B]] extent = 4 dim = 0
  metaop.check_range %a, %b extent = 4 dim = 0
  // CHECK-NEXT: return
  return
}

// Numbers of a loop's trips are known.
// CHECK-LABEL: @trips
// CHECK:         metaop.scan 8
// CHECK-NOT:       metaop.check
// CHECK:         metaop.scan 8
// CHECK:           metaop.check
func.func @trips(%x: tensor<8xi64>) -> (tensor<8xi64>, tensor<8xi64>) {
  %numbers = metaop.iota dim = 0 : tensor<8xi64>
  %0 = metaop.scan 8 unroll 1 rows(%i = %numbers : tensor<8xi64>) -> tensor<8xi64> {
    %c = metaop.check %i extent = 8 dim = 0 : tensor<i64>
    %y = metaop.add %c, %c : tensor<i64>
    metaop.scan_yield %y : tensor<i64>
  }
  %1 = metaop.scan 8 unroll 1 rows(%i = %numbers : tensor<8xi64>) -> tensor<8xi64> {
    %c = metaop.check %i extent = 7 dim = 0 : tensor<i64>
    %y = metaop.add %c, %c : tensor<i64>
    metaop.scan_yield %y : tensor<i64>
  }
  return %0, %1 : tensor<8xi64>, tensor<8xi64>
}
