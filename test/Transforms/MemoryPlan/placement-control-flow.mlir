// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=kernels processor=avx2" | FileCheck %s

// A part that a body makes for a concat that is a row lies in the row.
// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.arena_bytes = 0
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.rows = {{\[\[}}#metaop.slot<pointer, 0>, #metaop.slot<pointer, 0>], [#metaop.slot<pointer, [[P:[0-9]+]]>, #metaop.slot<result, 0>]]
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<pointer, [[P]]>]}
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<pointer, [[P]], offset = 64>]}
// CHECK: metaop.concat {{.*}} {metaop.slots = [#metaop.slot<pointer, [[P]]>]}
func.func @main(%xs: tensor<3x16xf32>) -> tensor<3x32xf32> {
  %ys = metaop.scan 3 unroll 1 rows(%x = %xs : tensor<3x16xf32>) -> tensor<3x32xf32> {
    %a = metaop.exp %x : tensor<16xf32>
    %b = metaop.stop_fuse %a : tensor<16xf32>
    %c = metaop.reindex %b map affine_map<(i) -> (15 - i)> fill 0.0 : f32 : tensor<16xf32> -> tensor<16xf32>
    %y = metaop.concat %b, %c dim = 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    metaop.scan_yield %y : tensor<32xf32>
  }
  return %ys : tensor<3x32xf32>
}

// -----

// So does what is made for the next carry, where the next trip expects it; that
// of this trip is in another place, from which it is read behind that.
// CHECK-LABEL: func.func @main
// CHECK: metaop.scan 3
// CHECK-SAME: metaop.carries = {{\[\[}}#metaop.slot<pointer, [[OWN:[0-9]+]]>, #metaop.slot<pointer, [[NEXT:[0-9]+]]>, #metaop.slot<result, 0>, #metaop.slot<arena, {{[0-9]+}}>]]
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<pointer, [[NEXT]]>]}
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<pointer, [[NEXT]], offset = 64>]}
// CHECK: metaop.concat {{.*}} {metaop.slots = [#metaop.slot<pointer, [[NEXT]]>]}
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %r = metaop.scan 3 unroll 1 carries(%c = %x : tensor<32xf32>) -> tensor<32xf32> {
    %first = metaop.reindex %c map affine_map<(i) -> (i)> fill 0.0 : f32 : tensor<32xf32> -> tensor<16xf32>
    %a = metaop.exp %first : tensor<16xf32>
    %b = metaop.stop_fuse %a : tensor<16xf32>
    %second = metaop.reindex %c map affine_map<(i) -> (31 - i)> fill 0.0 : f32 : tensor<32xf32> -> tensor<16xf32>
    %d = metaop.mul %b, %second : tensor<16xf32>
    %y = metaop.concat %b, %d dim = 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    metaop.scan_yield %y : tensor<32xf32>
  }
  return %r : tensor<32xf32>
}

// -----

// A part that is made outside of the block, or yielded by itself, is copied.
// CHECK-LABEL: func.func @main
// CHECK: scf.if
// CHECK: metaop.concat {{.*}} {metaop.slots = [#metaop.slot<arena, [[C:[0-9]+]]>]}
// CHECK: } else {
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<arena, [[C]]>]}
// CHECK: } {metaop.slots = [#metaop.slot<arena, [[C]]>
func.func @main(%x: tensor<16xf32>, %isLess: tensor<i1>) -> (tensor<32xf32>, tensor<16xf32>) {
  %c = tensor.extract %isLess[] : tensor<i1>
  %e = metaop.exp %x : tensor<16xf32>
  %outer = metaop.stop_fuse %e : tensor<16xf32>
  %r:2 = scf.if %c -> (tensor<32xf32>, tensor<16xf32>) {
    %a = metaop.reduce add %outer dims = [0] : tensor<16xf32> -> tensor<f32>
    %b = metaop.broadcast %a dims = [] : tensor<f32> -> tensor<16xf32>
    %d = metaop.stop_fuse %b : tensor<16xf32>
    %y = metaop.concat %outer, %d dim = 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    scf.yield %y, %d : tensor<32xf32>, tensor<16xf32>
  } else {
    %a = metaop.sin %x : tensor<16xf32>
    %y = metaop.concat %a, %a dim = 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    scf.yield %y, %x : tensor<32xf32>, tensor<16xf32>
  }
  %t = metaop.reindex %r#0 map affine_map<(i) -> (31 - i)> fill 0.0 : f32 : tensor<32xf32> -> tensor<32xf32>
  return %t, %r#1 : tensor<32xf32>, tensor<16xf32>
}
