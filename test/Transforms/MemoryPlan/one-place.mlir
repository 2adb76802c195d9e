// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=kernels processor=avx2" | FileCheck %s

// Inserts on top of each other are all made where the carry is, with reads
// between them.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<result, 0>]]
// CHECK: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<result, 0>]
// CHECK: func.call
// CHECK: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<result, 0>]
func.func @main(%table: tensor<8x4xf32>, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %table : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>) -> tensor<8x4xf32> {
    %n = metaop.insert none %x into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    %y = metaop.slice %n[%zero, %zero] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
    %e = metaop.exp %y : tensor<1x4xf32>
    %m = metaop.insert none %e into %n[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    metaop.scan_yield %m : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// So is what a branch puts on top of an insert, or leaves, and what is computed
// element by element of that.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<result, 0>]]
// CHECK: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<result, 0>]
// CHECK: scf.if
// CHECK: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<result, 0>]
// CHECK: } {metaop.slots = [#metaop.slot<result, 0>]}
// CHECK: call {{.*}}metaop.slots = [#metaop.slot<result, 0>]
func.func @main(%table: tensor<8x4xf32>, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>, %puts: tensor<3xi1>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %table : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>, %put = %puts : tensor<3xi1>) -> tensor<8x4xf32> {
    %f = tensor.extract %put[] : tensor<i1>
    %n = metaop.insert none %x into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    %k = scf.if %f -> (tensor<8x4xf32>) {
      %m = metaop.insert none %x into %n[%zero, %i] : tensor<1x4xf32> into tensor<8x4xf32>
      scf.yield %m : tensor<8x4xf32>
    } else {
      scf.yield %n : tensor<8x4xf32>
    }
    %e = metaop.tanh %k : tensor<8x4xf32>
    metaop.scan_yield %e : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// What a branch leaves has to be what its other block writes over.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<pointer, {{[0-9]+}}>, #metaop.slot<pointer, {{[0-9]+}}>, #metaop.slot<result, 0>, #metaop.slot<arena, {{[0-9]+}}>]]
func.func @main(%table: tensor<8x4xf32>, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>, %puts: tensor<3xi1>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %table : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>, %put = %puts : tensor<3xi1>) -> tensor<8x4xf32> {
    %f = tensor.extract %put[] : tensor<i1>
    %n = metaop.insert none %x into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    %s = metaop.reduce add %n dims = [0, 1] : tensor<8x4xf32> -> tensor<f32>
    %row = metaop.broadcast %s dims = [] : tensor<f32> -> tensor<1x4xf32>
    %k = scf.if %f -> (tensor<8x4xf32>) {
      %m = metaop.insert none %row into %n[%zero, %i] : tensor<1x4xf32> into tensor<8x4xf32>
      scf.yield %m : tensor<8x4xf32>
    } else {
      scf.yield %c : tensor<8x4xf32>
    }
    metaop.scan_yield %k : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// A loop inside has what it carries on in the place of the loop around it.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<result, 0>]]
// CHECK: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<result, 0>]
// CHECK: metaop.scan 5
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<result, 0>]]
// CHECK: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<result, 0>]
// CHECK: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<result, 0>]
func.func @main(%table: tensor<8x4xf32>, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>, %js: tensor<5xi64>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %table : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>) -> tensor<8x4xf32> {
    %n = metaop.insert none %x into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    %inner = metaop.scan 5 unroll 1 carries(%d = %n : tensor<8x4xf32>) rows(%j = %js : tensor<5xi64>) -> tensor<8x4xf32> {
      %y = metaop.slice %d[%j, %zero] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
      %e = metaop.exp %y : tensor<1x4xf32>
      %m = metaop.insert none %e into %d[%j, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
      metaop.scan_yield %m : tensor<8x4xf32>
    }
    %last = metaop.insert add %x into %inner[%zero, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    metaop.scan_yield %last : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// Not so if that reads what was given to it.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<pointer
// CHECK: metaop.scan 5
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<arena, {{[0-9]+}}>]]
func.func @main(%table: tensor<8x4xf32>, %at: tensor<3xi64>, %js: tensor<5xi64>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %table : tensor<8x4xf32>) rows(%i = %at : tensor<3xi64>) -> tensor<8x4xf32> {
    %inner = metaop.scan 5 unroll 1 carries(%d = %c : tensor<8x4xf32>) rows(%j = %js : tensor<5xi64>) -> tensor<8x4xf32> {
      %y = metaop.slice %c[%j, %zero] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
      %e = metaop.exp %y : tensor<1x4xf32>
      %m = metaop.insert none %e into %d[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
      metaop.scan_yield %m : tensor<8x4xf32>
    }
    metaop.scan_yield %inner : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// What loops within each other compute element by element is in one place, too.
// CHECK-LABEL: func.func @main
// CHECK: call @kernel_0({{.*}}) {metaop.slots = [#metaop.slot<arena, [[A:[0-9]+]]>
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<arena, [[A]]>]]
// CHECK: metaop.scan 5
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<arena, [[A]]>]]
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<arena, [[A]]>]}
func.func @main(%x: tensor<64xf32>, %ys: tensor<5x64xf32>) -> tensor<f32> {
  %a = metaop.exp %x : tensor<64xf32>
  %r = metaop.scan 3 unroll 1 carries(%c = %a : tensor<64xf32>) -> tensor<64xf32> {
    %inner = metaop.scan 5 unroll 1 carries(%d = %c : tensor<64xf32>) rows(%y = %ys : tensor<5x64xf32>) -> tensor<64xf32> {
      %n = metaop.mul %d, %y : tensor<64xf32>
      metaop.scan_yield %n : tensor<64xf32>
    }
    metaop.scan_yield %inner : tensor<64xf32>
  }
  %s = metaop.reduce add %r dims = [0] : tensor<64xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// -----

// Both blocks of a branch may compute it so.
// CHECK-LABEL: func.func @main
// CHECK: call @kernel_0({{.*}}) {metaop.slots = [#metaop.slot<arena, [[A:[0-9]+]]>
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<arena, [[A]]>]]
// CHECK: scf.if
// CHECK-COUNT-2: func.call {{.*}} {metaop.slots = [#metaop.slot<arena, [[A]]>]}
// CHECK: } {metaop.slots = [#metaop.slot<arena, [[A]]>]}
func.func @main(%x: tensor<64xf32>, %ys: tensor<3x64xf32>, %puts: tensor<3xi1>) -> tensor<f32> {
  %a = metaop.exp %x : tensor<64xf32>
  %r = metaop.scan 3 unroll 1 carries(%c = %a : tensor<64xf32>) rows(%y = %ys : tensor<3x64xf32>, %put = %puts : tensor<3xi1>) -> tensor<64xf32> {
    %f = tensor.extract %put[] : tensor<i1>
    %k = scf.if %f -> (tensor<64xf32>) {
      %n = metaop.mul %c, %y : tensor<64xf32>
      scf.yield %n : tensor<64xf32>
    } else {
      %n = metaop.tanh %c : tensor<64xf32>
      scf.yield %n : tensor<64xf32>
    }
    metaop.scan_yield %k : tensor<64xf32>
  }
  %s = metaop.reduce add %r dims = [0] : tensor<64xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// -----

// A kernel may not write over what a branch may have chosen for it to read.
// CHECK-LABEL: func.func @main
// CHECK: call @kernel_0({{.*}}) {metaop.slots = [#metaop.slot<arena, [[C:[0-9]+]]>]}
// CHECK: scf.if
// CHECK: } {metaop.slots = [#metaop.slot<pointer, 0>]}
// CHECK-NOT: call {{.*}} {metaop.slots = [#metaop.slot<arena, [[C]]>]}
// CHECK: return
func.func @main(%x: tensor<64x64xf32>, %d: tensor<64x64xf32>, %p: tensor<i1>) -> (tensor<64xf32>, tensor<64xf32>) {
  %exp = metaop.exp %x : tensor<64x64xf32>
  %c = metaop.stop_fuse %exp : tensor<64x64xf32>
  %log = metaop.log %d : tensor<64x64xf32>
  %e = metaop.stop_fuse %log : tensor<64x64xf32>
  %f = tensor.extract %p[] : tensor<i1>
  %s = scf.if %f -> (tensor<64x64xf32>) {
    scf.yield %c : tensor<64x64xf32>
  } else {
    scf.yield %e : tensor<64x64xf32>
  }
  %t = metaop.reindex %s map affine_map<(a, b) -> (b, a)> fill 0.000000e+00 : f32 : tensor<64x64xf32> -> tensor<64x64xf32>
  %y = metaop.add %c, %t : tensor<64x64xf32>
  %z = metaop.stop_fuse %y : tensor<64x64xf32>
  %r = metaop.reduce add %z dims = [0] : tensor<64x64xf32> -> tensor<64xf32>
  %q = metaop.reduce max %z dims = [1] : tensor<64x64xf32> -> tensor<64xf32>
  return %r, %q : tensor<64xf32>, tensor<64xf32>
}

// -----

// A condition is read where it decides: behind the kernel that makes the next.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<pointer
// CHECK: scf.if
func.func @main(%x: tensor<f32>, %ys: tensor<3x64xf32>) -> (tensor<64xf32>, tensor<f32>) {
  %one = metaop.constant dense<1.0> : tensor<f32>
  %a = metaop.cmp gt %x, %one : tensor<f32> -> tensor<i1>
  %init = metaop.constant dense<0.0> : tensor<64xf32>
  %r:2 = metaop.scan 3 unroll 1 carries(%c = %a : tensor<i1>, %h = %init : tensor<64xf32>) rows(%y = %ys : tensor<3x64xf32>) -> (tensor<i1>, tensor<64xf32>) {
    %f = tensor.extract %c[] : tensor<i1>
    %n = metaop.not %c : tensor<i1>
    %k = scf.if %f -> (tensor<64xf32>) {
      %m = metaop.mul %h, %y : tensor<64xf32>
      scf.yield %m : tensor<64xf32>
    } else {
      %m = metaop.add %h, %y : tensor<64xf32>
      scf.yield %m : tensor<64xf32>
    }
    metaop.scan_yield %n, %k : tensor<i1>, tensor<64xf32>
  }
  %g = metaop.cast %r#0 : tensor<i1> -> tensor<f32>
  return %r#1, %g : tensor<64xf32>, tensor<f32>
}
