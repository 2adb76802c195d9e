// Gradients of values of which slices are read.
// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s

// Slices that tile a value: what they contribute is put together.
// CHECK-LABEL: @tiles(
// CHECK-NOT: metaop.reindex_reduce
// CHECK: %[[G:.*]] = metaop.concat %{{.*}}, %{{.*}} dim = 1 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: return %{{.*}}, %[[G]]
func.func @tiles(%x: tensor<4x5xf32>) -> tensor<f32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %two = metaop.constant dense<2> : tensor<i64>
  %0 = metaop.slice %x[%zero, %two] strides = [1, 1] : tensor<4x5xf32> -> tensor<4x3xf32>
  %1 = metaop.slice %x[%zero, %zero] strides = [1, 1] : tensor<4x5xf32> -> tensor<4x2xf32>
  %2 = metaop.mul %0, %0 : tensor<4x3xf32>
  %3 = metaop.mul %1, %1 : tensor<4x2xf32>
  %4 = metaop.reduce add %2 dims = [0, 1] : tensor<4x3xf32> -> tensor<f32>
  %5 = metaop.reduce mul %3 dims = [0, 1] : tensor<4x2xf32> -> tensor<f32>
  %6 = metaop.add %4, %5 : tensor<f32>
  return %6 : tensor<f32>
}

// A gap, an overlap, or a start that is not known: nothing is put together. Few
// windows are added as they are, and one that begins somewhere is inserted.
// CHECK-LABEL: @few(
// CHECK: metaop.concat
// CHECK-NOT: metaop.concat
// CHECK: metaop.reindex_reduce add
// CHECK-NOT: metaop.reindex_reduce
// CHECK: metaop.insert add
// CHECK-NOT: metaop.concat
// CHECK: return
func.func @few(%x: tensor<5xf32>, %i: tensor<i64>) -> tensor<5xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %0 = metaop.slice %x[%i] strides = [1] : tensor<5xf32> -> tensor<3xf32>
  %1 = metaop.slice %x[%zero] strides = [1] : tensor<5xf32> -> tensor<2xf32>
  %2 = metaop.concat %0, %1 dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  return %2 : tensor<5xf32>
}

// Many windows are inserted into the rest of the sum.
// CHECK-LABEL: @many(
// CHECK-COUNT-9: metaop.insert add
// CHECK-NOT: metaop.insert
// CHECK: return
func.func @many(%x: tensor<9xf32>, %i: tensor<i64>) -> tensor<9xf32> {
  %0 = metaop.slice %x[%i] strides = [1] : tensor<9xf32> -> tensor<2xf32>
  %1 = metaop.slice %x[%i] strides = [1] : tensor<9xf32> -> tensor<2xf32>
  %2 = metaop.slice %x[%i] strides = [1] : tensor<9xf32> -> tensor<2xf32>
  %3 = metaop.slice %x[%i] strides = [1] : tensor<9xf32> -> tensor<2xf32>
  %4 = metaop.slice %x[%i] strides = [1] : tensor<9xf32> -> tensor<2xf32>
  %5 = metaop.slice %x[%i] strides = [1] : tensor<9xf32> -> tensor<2xf32>
  %6 = metaop.slice %x[%i] strides = [1] : tensor<9xf32> -> tensor<2xf32>
  %7 = metaop.slice %x[%i] strides = [1] : tensor<9xf32> -> tensor<2xf32>
  %8 = metaop.slice %x[%i] strides = [1] : tensor<9xf32> -> tensor<2xf32>
  %c = metaop.concat %0, %1, %2, %3, %4, %5, %6, %7, %8 dim = 0
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
         tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<18xf32>
  %s = metaop.slice %c[%i] strides = [2] : tensor<18xf32> -> tensor<9xf32>
  return %s : tensor<9xf32>
}

// CHECK-LABEL: @concat(
// CHECK: %[[G:.*]] = metaop.constant dense<1.000000e+00> : tensor<7xf32>
// CHECK-DAG: %[[ZERO:.*]] = metaop.constant dense<0> : tensor<i64>
// CHECK-DAG: %[[THREE:.*]] = metaop.constant dense<3> : tensor<i64>
// CHECK-DAG: %[[A:.*]] = metaop.slice %[[G]][%[[ZERO]]] strides = [1] : tensor<7xf32> -> tensor<3xf32>
// CHECK-DAG: %[[B:.*]] = metaop.slice %[[G]][%[[THREE]]] strides = [1] : tensor<7xf32> -> tensor<4xf32>
// CHECK: return %{{.*}}, %[[A]], %[[B]]
func.func @concat(%a: tensor<3xf32>, %b: tensor<4xf32>) -> tensor<7xf32> {
  %0 = metaop.concat %a, %b dim = 0 : (tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// What is overwritten gets nothing; what is added to gets the cotangent itself.
// CHECK-LABEL: @insert(
// CHECK-SAME: %{{.*}}: tensor<3xf32>, %{{.*}}: tensor<7xf32>, %[[I:.*]]: tensor<i64>)
// CHECK: %[[G:.*]] = metaop.constant dense<1.000000e+00> : tensor<7xf32>
// CHECK: %[[P:.*]] = metaop.slice %[[G]][%[[I]]]
// CHECK: %[[Z:.*]] = metaop.constant dense<0.000000e+00> : tensor<3xf32>
// CHECK: %[[D:.*]] = metaop.insert none %[[Z]] into %[[G]][%[[I]]]
// CHECK: return %{{.*}}, %[[P]], %[[D]]
func.func @insert(%p: tensor<3xf32>, %x: tensor<7xf32>, %i: tensor<i64>) -> tensor<7xf32> {
  %0 = metaop.insert none %p into %x[%i] : tensor<3xf32> into tensor<7xf32>
  return %0 : tensor<7xf32>
}

// CHECK-LABEL: @insert_add(
// CHECK: %[[G:.*]] = metaop.constant dense<1.000000e+00> : tensor<7xf32>
// CHECK-NEXT: %[[P:.*]] = metaop.slice %[[G]]
// CHECK-NEXT: return %{{.*}}, %[[P]], %[[G]]
func.func @insert_add(%p: tensor<3xf32>, %x: tensor<7xf32>, %i: tensor<i64>) -> tensor<7xf32> {
  %0 = metaop.insert add %p into %x[%i] : tensor<3xf32> into tensor<7xf32>
  return %0 : tensor<7xf32>
}
