// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=kernels processor=avx2" | FileCheck %s

// A program that fails a check leaves its arguments as they were: what does not
// depend on the check comes behind it, and is written over the argument.

// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.results = [#metaop.slot<argument, 0>]
// CHECK-NEXT: %[[ENDS:.*]]:2 = call
// CHECK-NEXT: metaop.check_range %[[ENDS]]#0, %[[ENDS]]#1 extent = 64 dim = 0
// CHECK: call {{.*}} {metaop.slots = [#metaop.slot<argument, 0>]}
// CHECK: return
func.func @main(%w: tensor<8x64xf32> {metaop.donatable}, %i: tensor<64xi64>) -> tensor<8x64xf32> {
  %c = metaop.check %i extent = 64 dim = 0 : tensor<64xi64>
  %f = metaop.cast %c : tensor<64xi64> -> tensor<64xf32>
  %g = metaop.broadcast %f dims = [1] : tensor<64xf32> -> tensor<8x64xf32>
  %y = metaop.sub %w, %g : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// Where the check is of what is computed from the new value, that is not.
// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.results = [#metaop.slot<result, 0>, #metaop.slot<result, 1>]
// CHECK-NEXT: %[[NEW:.*]] = call {{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
// CHECK: metaop.check_range
// CHECK: return
func.func @main(%w: tensor<64xf32> {metaop.donatable}, %g: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xi64>) {
  %new = metaop.sub %w, %g : tensor<64xf32>
  %y = metaop.stop_fuse %new : tensor<64xf32>
  %i = metaop.cast %y : tensor<64xf32> -> tensor<64xi64>
  %c = metaop.check %i extent = 8 dim = 0 : tensor<64xi64>
  return %new, %c : tensor<64xf32>, tensor<64xi64>
}

// -----

// The last check may be inside of a loop, whose trips come before what does not
// depend on it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.results = [#metaop.slot<argument, 0>, {{.*}}]
// CHECK: scf.while
// CHECK: } do {
// CHECK: metaop.check_range
// CHECK: call {{.*}} {metaop.slots = [#metaop.slot<argument, 0>]}
// CHECK-NEXT: return
func.func @main(%w: tensor<64xf32> {metaop.donatable}, %n: tensor<i64>) -> (tensor<64xf32>, tensor<i64>) {
  %new = metaop.exp %w : tensor<64xf32>
  %one = metaop.constant dense<1> : tensor<i64>
  %r = scf.while (%k = %n) : (tensor<i64>) -> tensor<i64> {
    %end = metaop.constant dense<9> : tensor<i64>
    %less = metaop.cmp lt %k, %end : tensor<i64> -> tensor<i1>
    %c = tensor.extract %less[] : tensor<i1>
    scf.condition(%c) %k : tensor<i64>
  } do {
  ^bb0(%k: tensor<i64>):
    %checked = metaop.check %k extent = 8 dim = 0 : tensor<i64>
    %next = metaop.add %checked, %one : tensor<i64>
    scf.yield %next : tensor<i64>
  }
  return %new, %r : tensor<64xf32>, tensor<i64>
}

// -----

// What such a loop reads is there for all of its trips, and what it carries is
// not carried in an argument.
// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.results = [#metaop.slot<result, 0>, #metaop.slot<result, 1>]
// CHECK: %[[NEW:.*]] = call {{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
// CHECK: scf.while
// CHECK-NOT: slot<argument
// CHECK: return
func.func @main(%w: tensor<4xi64> {metaop.donatable}) -> (tensor<4xi64>, tensor<4xi64>) {
  %one = metaop.constant dense<1> : tensor<4xi64>
  %new = metaop.add %w, %one : tensor<4xi64>
  %r = scf.while (%k = %new) : (tensor<4xi64>) -> tensor<4xi64> {
    %end = metaop.constant dense<9> : tensor<i64>
    %largest = metaop.reduce max %k dims = [0] : tensor<4xi64> -> tensor<i64>
    %less = metaop.cmp lt %largest, %end : tensor<i64> -> tensor<i1>
    %c = tensor.extract %less[] : tensor<i1>
    scf.condition(%c) %k : tensor<4xi64>
  } do {
  ^bb0(%k: tensor<4xi64>):
    %checked = metaop.check %k extent = 8 dim = 0 : tensor<4xi64>
    %next = metaop.add %checked, %one : tensor<4xi64>
    scf.yield %next : tensor<4xi64>
  }
  return %new, %r : tensor<4xi64>, tensor<4xi64>
}

// -----

// A loop without checks inserts into a donated argument where that is; one with
// a check, or whose argument is read behind it, into a copy.
// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.results = [#metaop.slot<argument, 0>]
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<argument, 0>]]
// CHECK: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<argument, 0>]
func.func @main(%cache: tensor<8x4xf32> {metaop.donatable}, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %cache : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>) -> tensor<8x4xf32> {
    %n = metaop.insert none %x into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    metaop.scan_yield %n : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<result, 0>]]
func.func @main(%cache: tensor<8x4xf32> {metaop.donatable}, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %cache : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>) -> tensor<8x4xf32> {
    %checked = metaop.check %i extent = 8 dim = 0 : tensor<i64>
    %n = metaop.insert none %x into %c[%checked, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    metaop.scan_yield %n : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<result, 0>]]
func.func @main(%cache: tensor<8x4xf32> {metaop.donatable}, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %cache : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>) -> tensor<8x4xf32> {
    %n = metaop.insert none %x into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    metaop.scan_yield %n : tensor<8x4xf32>
  }
  %both = metaop.mul %r, %cache : tensor<8x4xf32>
  %s = metaop.reduce add %both dims = [0] : tensor<8x4xf32> -> tensor<4xf32>
  return %r, %s : tensor<8x4xf32>, tensor<4xf32>
}
