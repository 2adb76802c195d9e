// RUN: metaop-opt %s -metaop-read-before-inserts | FileCheck %s

// The part that is read at %i goes into a sum with what the insert has made.
// That at %k goes elsewhere.
// CHECK-LABEL: @both(
// CHECK:         metaop.scan 8
// CHECK:           %[[A:.*]] = metaop.slice %[[T:[a-z0-9]+]][
// CHECK-NEXT:      %[[P:.*]] = metaop.stop_fuse %[[A]]
// CHECK-NEXT:      %[[B:.*]] = metaop.slice %[[T]][
// CHECK-NEXT:      metaop.exp %[[B]]
// CHECK-NEXT:      %[[U:.*]] = metaop.insert none %{{.*}} into %[[T]]
// CHECK-NEXT:      %[[S:.*]] = metaop.slice %[[U]][
// CHECK-NEXT:      metaop.add %[[S]], %[[P]]
// CHECK-NOT:       metaop.stop_fuse
// CHECK:           metaop.scan_yield
func.func @both(%table: tensor<8x4xf32>, %z: tensor<1x4xf32>, %i: tensor<i64>, %j: tensor<i64>)
    -> (tensor<8x4xf32>, tensor<8x1x4xf32>) {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r:2 = metaop.scan 8 carries(%t = %table : tensor<8x4xf32>)
      -> (tensor<8x4xf32>, tensor<8x1x4xf32>) {
    %p = metaop.slice %t[%i, %zero] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
    %o = metaop.slice %t[%j, %zero] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
    %e = metaop.exp %o : tensor<1x4xf32>
    %u = metaop.insert none %z into %t[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    %s = metaop.slice %u[%j, %zero] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
    %q = metaop.add %s, %p : tensor<1x4xf32>
    %v = metaop.insert none %q into %u[%j, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    metaop.scan_yield %v, %e : tensor<8x4xf32>, tensor<1x4xf32>
  }
  return %r#0, %r#1 : tensor<8x4xf32>, tensor<8x1x4xf32>
}

// A part that only the insert is made of is read before that anyway.
// CHECK-LABEL: @recurrence(
// CHECK-NOT: metaop.stop_fuse
// CHECK: return
func.func @recurrence(%table: tensor<8x4xf32>, %i: tensor<i64>, %j: tensor<i64>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 8 carries(%t = %table : tensor<8x4xf32>) -> tensor<8x4xf32> {
    %p = metaop.slice %t[%i, %zero] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
    %q = metaop.tanh %p : tensor<1x4xf32>
    %u = metaop.insert none %q into %t[%j, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    metaop.scan_yield %u : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// So it is with a branch that inserts.
// CHECK-LABEL: @branch(
// CHECK:         metaop.scan 8
// CHECK:           %[[A:.*]] = metaop.slice %[[T:[a-z0-9]+]][
// CHECK-NEXT:      metaop.stop_fuse %[[A]]
// CHECK:           scf.if
func.func @branch(%table: tensor<8x4xf32>, %z: tensor<1x4xf32>, %i: tensor<i64>, %j: tensor<i64>, %p: tensor<i1>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %f = tensor.extract %p[] : tensor<i1>
  %r = metaop.scan 8 carries(%t = %table : tensor<8x4xf32>) -> tensor<8x4xf32> {
    %old = metaop.slice %t[%i, %zero] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
    %u = scf.if %f -> tensor<8x4xf32> {
      %n = metaop.insert none %z into %t[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
      scf.yield %n : tensor<8x4xf32>
    } else {
      scf.yield %t : tensor<8x4xf32>
    }
    %new = metaop.slice %u[%j, %zero] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
    %q = metaop.add %new, %old : tensor<1x4xf32>
    %v = metaop.insert none %q into %u[%j, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    metaop.scan_yield %v : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}
