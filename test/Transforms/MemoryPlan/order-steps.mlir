// RUN: metaop-opt %s -split-input-file -metaop-order-steps | FileCheck %s

// Panels of weights are packed where they are read (sinking).
// CHECK-LABEL: func @main
// CHECK:         %[[P:.*]] = call @pack(%{{.*}})
// CHECK-NEXT:    %[[Y:.*]] = call @product(%{{.*}}, %[[P]])
// CHECK-NEXT:    %[[Q:.*]] = call @pack(%{{.*}})
// CHECK-NEXT:    %[[Z:.*]] = call @product(%[[Y]], %[[Q]])
// CHECK-NEXT:    return %[[Z]]
func.func @main(%x: tensor<1x512xf32>, %v: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<1x512xf32> {
  %0 = call @pack(%v) : (tensor<512x512xf32>) -> tensor<16x512x32xf32>
  %1 = call @pack(%w) : (tensor<512x512xf32>) -> tensor<16x512x32xf32>
  %2 = call @product(%x, %0) : (tensor<1x512xf32>, tensor<16x512x32xf32>) -> tensor<1x512xf32>
  %3 = call @product(%2, %1) : (tensor<1x512xf32>, tensor<16x512x32xf32>) -> tensor<1x512xf32>
  return %3 : tensor<1x512xf32>
}
func.func private @pack(tensor<512x512xf32>) -> tensor<16x512x32xf32>
func.func private @product(tensor<1x512xf32>, tensor<16x512x32xf32>) -> tensor<1x512xf32>

// -----

// Gradients by weights come as soon as they are known, and with them the updates
// that free them (hoisting). An update waits for what reads its weight.
// CHECK-LABEL: func @main
// CHECK:         call @forward
// CHECK-NEXT:    %[[A:.*]] = call @back(%arg3, %{{.*}})
// CHECK-NEXT:    %[[B:.*]] = call @back(%arg2, %[[A]])
// CHECK-NEXT:    %[[G:.*]] = call @weight(%[[A]], %{{.*}})
// CHECK-NEXT:    call @update(%arg3, %[[G]])
// CHECK-NEXT:    %[[C:.*]] = call @back(%arg1, %[[B]])
// CHECK-NEXT:    %[[H:.*]] = call @weight(%[[B]], %{{.*}})
// CHECK-NEXT:    call @update(%arg2, %[[H]])
// CHECK-NEXT:    %[[I:.*]] = call @weight(%[[C]], %{{.*}})
// CHECK-NEXT:    call @update(%arg1, %[[I]])
func.func @main(%x: tensor<256x256xf32>, %u: tensor<256x256xf32> {metaop.donatable}, %v: tensor<256x256xf32> {metaop.donatable},
                %w: tensor<256x256xf32> {metaop.donatable})
    -> (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) {
  %f = call @forward(%x) : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %a = call @back(%w, %f) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %b = call @back(%v, %a) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = call @back(%u, %b) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %0 = call @weight(%a, %x) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = call @weight(%b, %x) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %2 = call @weight(%c, %x) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %3 = call @update(%w, %0) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %4 = call @update(%v, %1) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %5 = call @update(%u, %2) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %3, %4, %5 : tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>
}
func.func private @forward(tensor<256x256xf32>) -> tensor<256x256xf32>
func.func private @back(tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
func.func private @weight(tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
func.func private @update(tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>

// -----

// What comes before the last check stays.
// CHECK-LABEL: func @main
// CHECK:         call @pack
// CHECK-NEXT:    call @pack
// CHECK-NEXT:    metaop.check_range
// CHECK-NEXT:    call @product
// CHECK-NEXT:    call @product
func.func @main(%x: tensor<1x512xf32>, %v: tensor<512x512xf32>, %w: tensor<512x512xf32>, %i: tensor<i64>) -> tensor<1x512xf32> {
  %0 = call @pack(%v) : (tensor<512x512xf32>) -> tensor<16x512x32xf32>
  %1 = call @pack(%w) : (tensor<512x512xf32>) -> tensor<16x512x32xf32>
  metaop.check_range %i, %i extent = 8
  %2 = call @product(%x, %0) : (tensor<1x512xf32>, tensor<16x512x32xf32>) -> tensor<1x512xf32>
  %3 = call @product(%2, %1) : (tensor<1x512xf32>, tensor<16x512x32xf32>) -> tensor<1x512xf32>
  return %3 : tensor<1x512xf32>
}
func.func private @pack(tensor<512x512xf32>) -> tensor<16x512x32xf32>
func.func private @product(tensor<1x512xf32>, tensor<16x512x32xf32>) -> tensor<1x512xf32>

// -----

// So does all of a program of little memory.
// CHECK-LABEL: func @main
// CHECK:         call @pack
// CHECK-NEXT:    call @pack
func.func @main(%x: tensor<1x32xf32>, %v: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<1x32xf32> {
  %0 = call @pack(%v) : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
  %1 = call @pack(%w) : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
  %2 = call @product(%x, %0) : (tensor<1x32xf32>, tensor<1x32x32xf32>) -> tensor<1x32xf32>
  %3 = call @product(%2, %1) : (tensor<1x32xf32>, tensor<1x32x32xf32>) -> tensor<1x32xf32>
  return %3 : tensor<1x32xf32>
}
func.func private @pack(tensor<32x32xf32>) -> tensor<1x32x32xf32>
func.func private @product(tensor<1x32xf32>, tensor<1x32x32xf32>) -> tensor<1x32xf32>

// -----

// A branch is a step, which reads what its blocks read.
// CHECK-LABEL: func @main
// CHECK:         %[[P:.*]] = call @pack
// CHECK:         call @product(%{{.*}}, %[[P]])
// CHECK:         %[[Q:.*]] = call @pack
// CHECK:         scf.if
// CHECK-NEXT:      func.call @product(%{{.*}}, %[[Q]])
func.func @main(%x: tensor<1x512xf32>, %v: tensor<512x512xf32>, %w: tensor<512x512xf32>, %b: tensor<i1>) -> tensor<1x512xf32> {
  %0 = call @pack(%v) : (tensor<512x512xf32>) -> tensor<16x512x32xf32>
  %1 = call @pack(%w) : (tensor<512x512xf32>) -> tensor<16x512x32xf32>
  %2 = call @product(%x, %0) : (tensor<1x512xf32>, tensor<16x512x32xf32>) -> tensor<1x512xf32>
  %c = tensor.extract %b[] : tensor<i1>
  %3 = scf.if %c -> tensor<1x512xf32> {
    %4 = func.call @product(%2, %1) : (tensor<1x512xf32>, tensor<16x512x32xf32>) -> tensor<1x512xf32>
    scf.yield %4 : tensor<1x512xf32>
  } else {
    scf.yield %2 : tensor<1x512xf32>
  }
  return %3 : tensor<1x512xf32>
}
func.func private @pack(tensor<512x512xf32>) -> tensor<16x512x32xf32>
func.func private @product(tensor<1x512xf32>, tensor<16x512x32xf32>) -> tensor<1x512xf32>

// -----

// An update before the last check waits for no reader behind it: there, nothing is
// written over.
// CHECK-LABEL: func @main
// CHECK:         %[[N:.*]] = call @update(%arg0,
// CHECK-NEXT:    metaop.check_range
// CHECK:         call @update(%arg0,
// CHECK:         return %[[N]]
func.func @main(%t: tensor<256x256xf32> {metaop.donatable}, %x: tensor<256x256xf32>, %i: tensor<i64>)
    -> (tensor<256x256xf32>, tensor<256x256xf32>) {
  %n = call @update(%t, %x) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  metaop.check_range %i, %i extent = 8
  %a = call @forward(%x) : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %b = call @forward(%x) : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = call @forward(%x) : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %0 = call @update(%t, %a) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = call @update(%0, %b) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %2 = call @update(%1, %c) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %n, %2 : tensor<256x256xf32>, tensor<256x256xf32>
}
func.func private @forward(tensor<256x256xf32>) -> tensor<256x256xf32>
func.func private @update(tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>

// -----

// In a loop an insert comes behind what reads the tensor that it writes over.
// CHECK-LABEL: func @main
// CHECK:         metaop.scan 8
// CHECK:           %[[ROW:.*]] = func.call @row(%[[TABLE:[a-z0-9]+]], %[[PART:[a-z0-9]+]])
// CHECK-NEXT:      %[[NEXT:.*]] = metaop.insert none %[[PART]] into %[[TABLE]]
// CHECK-NEXT:      metaop.scan_yield %[[NEXT]], %[[ROW]]
func.func @main(%table: tensor<8x4xf32>, %parts: tensor<8x1x4xf32>, %i: tensor<i64>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %r:2 = metaop.scan 8 carries(%t = %table : tensor<8x4xf32>)
      rows(%p = %parts : tensor<8x1x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
    %n = metaop.insert none %p into %t[%i, %i] : tensor<1x4xf32> into tensor<8x4xf32>
    %row = func.call @row(%t, %p) : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<4xf32>
    metaop.scan_yield %n, %row : tensor<8x4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<8x4xf32>, tensor<8x4xf32>
}
func.func private @row(tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<4xf32>

// -----

// So does a branch with an insert, with what the read needs before it, and a
// check in it. What is made of the branch's result stays behind it.
// CHECK-LABEL: func @main
// CHECK:         metaop.scan 8
// CHECK-SAME:      carries(%[[TABLE:[a-z0-9]+]] =
// CHECK-NEXT:      tensor.extract
// CHECK-NEXT:      %[[OTHER:.*]] = func.call @other
// CHECK-NEXT:      func.call @row(%[[TABLE]], %[[OTHER]])
// CHECK-NEXT:      %[[NEXT:.*]] = scf.if
// CHECK:           metaop.check_range
// CHECK:           func.call @row(%[[NEXT]],
// CHECK-NEXT:      metaop.scan_yield
func.func @main(%table: tensor<8x4xf32>, %parts: tensor<8x1x4xf32>, %i: tensor<i64>, %puts: tensor<8xi1>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %r:3 = metaop.scan 8 carries(%t = %table : tensor<8x4xf32>)
      rows(%p = %parts : tensor<8x1x4xf32>, %put = %puts : tensor<8xi1>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
    %f = tensor.extract %put[] : tensor<i1>
    %n = scf.if %f -> tensor<8x4xf32> {
      metaop.check_range %i, %i extent = 8
      %m = metaop.insert none %p into %t[%i, %i] : tensor<1x4xf32> into tensor<8x4xf32>
      scf.yield %m : tensor<8x4xf32>
    } else {
      scf.yield %t : tensor<8x4xf32>
    }
    %new = func.call @row(%n, %p) : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<4xf32>
    %q = func.call @other(%p) : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %old = func.call @row(%t, %q) : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<4xf32>
    metaop.scan_yield %n, %old, %new : tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
func.func private @row(tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<4xf32>
func.func private @other(tensor<1x4xf32>) -> tensor<1x4xf32>

// -----

// What may refuse something stays behind the checks before it: which index is
// told first does not change.
// CHECK-LABEL: func @main
// CHECK:         metaop.scan 8
// CHECK:           metaop.insert
// CHECK:           metaop.check_range %{{.*}} extent = 7
// CHECK:           scf.if
// CHECK-NEXT:        metaop.check_range %{{.*}} extent = 12
func.func @main(%table: tensor<12x4xf32>, %part: tensor<1x4xf32>, %i: tensor<i64>, %j: tensor<i64>, %row: tensor<4xf32>, %p: tensor<i1>)
    -> (tensor<12x4xf32>, tensor<4xf32>) {
  %r:2 = metaop.scan 8 carries(%t = %table : tensor<12x4xf32>, %last = %row : tensor<4xf32>)
      -> (tensor<12x4xf32>, tensor<4xf32>) {
    %n = metaop.insert none %part into %t[%i, %i] : tensor<1x4xf32> into tensor<12x4xf32>
    %k = func.call @number(%n) : (tensor<12x4xf32>) -> tensor<i64>
    metaop.check_range %k, %k extent = 7 dim = 0
    %f = tensor.extract %p[] : tensor<i1>
    %y = scf.if %f -> tensor<4xf32> {
      metaop.check_range %j, %j extent = 12 dim = 0
      %q = func.call @row(%t) : (tensor<12x4xf32>) -> tensor<4xf32>
      scf.yield %q : tensor<4xf32>
    } else {
      scf.yield %last : tensor<4xf32>
    }
    metaop.scan_yield %n, %y : tensor<12x4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<12x4xf32>, tensor<4xf32>
}
func.func private @row(tensor<12x4xf32>) -> tensor<4xf32>
func.func private @number(tensor<12x4xf32>) -> tensor<i64>

// -----

// Readers of results of a barrier wait for all of its operands, and what makes
// one of these comes when the others are there.
// CHECK-LABEL: func @main
// CHECK-SAME:    (%[[X:.*]]: tensor<512x512xf32>, %[[W:.*]]: tensor<512x512xf32>)
// CHECK-NEXT:    %[[Q:.*]] = call @pack(%[[X]])
// CHECK-NEXT:    %[[S:.*]] = call @sum(%[[Q]])
// CHECK-NEXT:    %[[P:.*]] = call @pack(%[[W]])
// CHECK-NEXT:    %[[B:.*]]:2 = metaop.barrier %[[P]], %[[S]]
// CHECK-NEXT:    %[[T:.*]] = call @sum(%[[B]]#0)
// CHECK-NEXT:    call @join(%[[T]], %[[B]]#1)
func.func @main(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<f32> {
  %0 = call @pack(%w) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %1 = call @pack(%x) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = call @sum(%1) : (tensor<512x512xf32>) -> tensor<f32>
  %3:2 = metaop.barrier %0, %2 : tensor<512x512xf32>, tensor<f32> -> tensor<512x512xf32>, tensor<f32>
  %4 = call @sum(%3#0) : (tensor<512x512xf32>) -> tensor<f32>
  %5 = call @join(%4, %3#1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %5 : tensor<f32>
}
func.func private @pack(tensor<512x512xf32>) -> tensor<512x512xf32>
func.func private @sum(tensor<512x512xf32>) -> tensor<f32>
func.func private @join(tensor<f32>, tensor<f32>) -> tensor<f32>
