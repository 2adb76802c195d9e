// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=kernels processor=avx2" | FileCheck %s

// A body reads its row where it is, and makes its own where it is to be; what
// it carries is the row that it made before. The last one is copied.
// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.arena_bytes = 0
// CHECK: metaop.scan 8 unroll 1
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<pointer, 2>, #metaop.slot<pointer, 1>, #metaop.slot<result, 0>]]
// CHECK-SAME: metaop.rows = {{\[\[}}#metaop.slot<pointer, 0>, #metaop.slot<pointer, 0>], [#metaop.slot<pointer, 1>, #metaop.slot<result, 1>]]
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<pointer, 1>]}
func.func @main(%init: tensor<4xf32>, %xs: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %h, %ys = metaop.scan 8 unroll 1 carries(%c = %init : tensor<4xf32>) rows(%x = %xs : tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
    %next = metaop.add %c, %x : tensor<4xf32>
    metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %h, %ys : tensor<4xf32>, tensor<8x4xf32>
}

// -----

// What a body inserts into is in one place, that of the result.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3 unroll 1
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<result, 0>]]
// CHECK: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<result, 0>]
func.func @main(%cache: tensor<8x4xf32>, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %cache : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>) -> tensor<8x4xf32> {
    %n = metaop.insert none %x into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
    metaop.scan_yield %n : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// So is what it computes element by element of a value that nothing else reads;
// but not if something reads the value of a trip behind that.
// CHECK-LABEL: func.func @main
// CHECK: call @kernel_0({{.*}}) {metaop.slots = [#metaop.slot<arena, [[A:[0-9]+]]>
// CHECK: metaop.scan 3 unroll 1
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<arena, [[A]]>]]
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<arena, [[A]]>]}
// CHECK: metaop.scan 3 unroll 1
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<pointer, {{[0-9]+}}>, #metaop.slot<pointer, {{[0-9]+}}>, #metaop.slot<arena, {{[0-9]+}}>, #metaop.slot<arena, {{[0-9]+}}>]]
func.func @main(%x: tensor<64xf32>) -> (tensor<f32>, tensor<f32>, tensor<3xf32>) {
  %a = metaop.exp %x : tensor<64xf32>
  %r = metaop.scan 3 unroll 1 carries(%c = %a : tensor<64xf32>) -> tensor<64xf32> {
    %n = metaop.add %c, %x : tensor<64xf32>
    metaop.scan_yield %n : tensor<64xf32>
  }
  %b = metaop.log %x : tensor<64xf32>
  %s:2 = metaop.scan 3 unroll 1 carries(%c = %b : tensor<64xf32>) -> (tensor<64xf32>, tensor<3xf32>) {
    %n = metaop.add %c, %x : tensor<64xf32>
    %apart = metaop.stop_fuse %n : tensor<64xf32>
    %m = metaop.mul %apart, %c : tensor<64xf32>
    %sum = metaop.reduce add %m dims = [0] : tensor<64xf32> -> tensor<f32>
    metaop.scan_yield %n, %sum : tensor<64xf32>, tensor<f32>
  }
  %rs = metaop.reduce add %r dims = [0] : tensor<64xf32> -> tensor<f32>
  %ss = metaop.reduce add %s#0 dims = [0] : tensor<64xf32> -> tensor<f32>
  return %rs, %ss, %s#1 : tensor<f32>, tensor<f32>, tensor<3xf32>
}

// -----

// A branch that inserts, or leaves what is carried as it is, does that in one
// place.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<result, 0>]]
// CHECK: scf.if
// CHECK: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<result, 0>]
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%cache: tensor<8x4xf32>, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>, %puts: tensor<3xi1>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %cache : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>, %put = %puts : tensor<3xi1>) -> tensor<8x4xf32> {
    %f = tensor.extract %put[] : tensor<i1>
    %n = scf.if %f -> (tensor<8x4xf32>) {
      %m = metaop.insert none %x into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
      scf.yield %m : tensor<8x4xf32>
    } else {
      scf.yield %c : tensor<8x4xf32>
    }
    metaop.scan_yield %n : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// Not so if what is carried is read behind the branch.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<pointer, {{[0-9]+}}>, #metaop.slot<pointer, {{[0-9]+}}>, #metaop.slot<result, 0>, #metaop.slot<arena, {{[0-9]+}}>]]
func.func @main(%cache: tensor<8x4xf32>, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>, %puts: tensor<3xi1>) -> (tensor<8x4xf32>, tensor<3xf32>) {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r:2 = metaop.scan 3 unroll 1 carries(%c = %cache : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>, %put = %puts : tensor<3xi1>) -> (tensor<8x4xf32>, tensor<3xf32>) {
    %f = tensor.extract %put[] : tensor<i1>
    %n = scf.if %f -> (tensor<8x4xf32>) {
      %m = metaop.insert none %x into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
      scf.yield %m : tensor<8x4xf32>
    } else {
      scf.yield %c : tensor<8x4xf32>
    }
    %both = metaop.mul %n, %c : tensor<8x4xf32>
    %sum = metaop.reduce add %both dims = [0, 1] : tensor<8x4xf32> -> tensor<f32>
    metaop.scan_yield %n, %sum : tensor<8x4xf32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<8x4xf32>, tensor<3xf32>
}

// -----

// Both blocks may insert, and inner branches; the other block may read.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<result, 0>]]
// CHECK-COUNT-2: metaop.insert none {{.*}}metaop.slots = [#metaop.slot<result, 0>]
func.func @main(%cache: tensor<8x4xf32>, %xs: tensor<3x1x4xf32>, %at: tensor<3xi64>, %puts: tensor<3xi1>) -> tensor<8x4xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 3 unroll 1 carries(%c = %cache : tensor<8x4xf32>) rows(%x = %xs : tensor<3x1x4xf32>, %i = %at : tensor<3xi64>, %put = %puts : tensor<3xi1>) -> tensor<8x4xf32> {
    %f = tensor.extract %put[] : tensor<i1>
    %n = scf.if %f -> (tensor<8x4xf32>) {
      %m = metaop.insert none %x into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
      scf.yield %m : tensor<8x4xf32>
    } else {
      %sum = metaop.reduce add %c dims = [0, 1] : tensor<8x4xf32> -> tensor<f32>
      %isLarge = metaop.cmp gt %sum, %sum : tensor<f32> -> tensor<i1>
      %g = tensor.extract %isLarge[] : tensor<i1>
      %k = scf.if %g -> (tensor<8x4xf32>) {
        scf.yield %c : tensor<8x4xf32>
      } else {
        %row = metaop.broadcast %sum dims = [] : tensor<f32> -> tensor<1x4xf32>
        %m = metaop.insert none %row into %c[%i, %zero] : tensor<1x4xf32> into tensor<8x4xf32>
        scf.yield %m : tensor<8x4xf32>
      }
      scf.yield %k : tensor<8x4xf32>
    }
    metaop.scan_yield %n : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}
