// RUN: metaop-opt %s -split-input-file -metaop-plan-memory | FileCheck %s

// What kernels make lies in its place in the result; the argument is copied.
// Offsets are in bytes.
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.arena_bytes = 0 : i64, metaop.results = [#metaop.slot<result, 0>]
// CHECK-NEXT:    call @reverse{{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
// CHECK-NEXT:    call @reverse{{.*}} {metaop.slots = [#metaop.slot<result, 0, offset = 80>]}
// CHECK-NEXT:    metaop.concat {{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<10xf32>) -> tensor<30xf32> {
  %0 = call @reverse(%x) : (tensor<10xf32>) -> tensor<10xf32>
  %1 = call @reverse(%0) : (tensor<10xf32>) -> tensor<10xf32>
  %2 = metaop.concat %0, %x, %1 dim = 0 : (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) -> tensor<30xf32>
  return %2 : tensor<30xf32>
}

func.func private @reverse(%x: tensor<10xf32>) -> tensor<10xf32> {
  %0 = metaop.kernel(%a = %x : tensor<10xf32>) -> tensor<10xf32> {
    %1 = metaop.fused(%b = %a : tensor<10xf32>) -> tensor<10xf32> {
      %2 = metaop.reindex %b map affine_map<(i) -> (9 - i)> fill 0.0 : f32 : tensor<10xf32> -> tensor<10xf32>
      metaop.yield %2 : tensor<10xf32>
    }
    metaop.yield %1 : tensor<10xf32>
  }
  return %0 : tensor<10xf32>
}

// -----

// A part that is returned, or a part twice, is copied once more; a concat in a
// concat lies in it. The arena holds the returned value's reader only.
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.results = [#metaop.slot<result, 0>, #metaop.slot<result, 1>]
// CHECK-NEXT:    call @negate{{.*}} {metaop.slots = [#metaop.slot<result, 1>]}
// CHECK-NEXT:    call @negate{{.*}} {metaop.slots = [#metaop.slot<result, 0, offset = 64>]}
// CHECK-NEXT:    metaop.concat {{.*}} {metaop.slots = [#metaop.slot<result, 0, offset = 64>]}
// CHECK-NEXT:    metaop.reshape
// CHECK-NEXT:    metaop.reshape
// CHECK-NEXT:    metaop.concat {{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<16xf32>) -> (tensor<3x4x4xf32>, tensor<16xf32>) {
  %0 = call @negate(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %1 = call @negate(%0) : (tensor<16xf32>) -> tensor<16xf32>
  %2 = metaop.concat %1, %1 dim = 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  %3 = metaop.reshape %2 : tensor<32xf32> -> tensor<2x4x4xf32>
  %4 = metaop.reshape %0 : tensor<16xf32> -> tensor<1x4x4xf32>
  %5 = metaop.concat %4, %3 dim = 0 : (tensor<1x4x4xf32>, tensor<2x4x4xf32>) -> tensor<3x4x4xf32>
  return %5, %0 : tensor<3x4x4xf32>, tensor<16xf32>
}

func.func private @negate(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = metaop.kernel(%a = %x : tensor<16xf32>) -> tensor<16xf32> {
    %1 = metaop.fused(%b = %a : tensor<16xf32>) -> tensor<16xf32> {
      %2 = metaop.neg %b : tensor<16xf32>
      metaop.yield %2 : tensor<16xf32>
    }
    metaop.yield %1 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
}

// -----

// Columns that no kernel writes as rows are copied, and the kernel writes over its
// input. The arena holds both parts until then.
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.arena_bytes = 128 : i64
// CHECK-NEXT:    call @negate{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK-NEXT:    call @negate{{.*}} {metaop.slots = [#metaop.slot<arena, 64>]}
// CHECK-NEXT:    metaop.concat {{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x8xf32> {
  %0 = call @negate(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @negate(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = metaop.concat %0, %1 dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

func.func private @negate(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> {
      %2 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %2 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// Inserts write over what dies: a donated argument, and each other. The argument
// that may not be overwritten is copied.
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.results = [#metaop.slot<argument, 0>, #metaop.slot<result, 1>]
// CHECK-NEXT:    metaop.insert none {{.*}} {metaop.slots = [#metaop.slot<argument, 0>]}
// CHECK-NEXT:    metaop.insert none {{.*}} {metaop.slots = [#metaop.slot<argument, 0>]}
// CHECK-NEXT:    metaop.insert none {{.*}} {metaop.slots = [#metaop.slot<result, 1>]}
func.func @main(%x: tensor<10xf32> {metaop.donatable}, %y: tensor<10xf32>, %p: tensor<3xf32>, %i: tensor<i64>) -> (tensor<10xf32>, tensor<10xf32>) {
  %0 = metaop.insert none %p into %x[%i] : tensor<3xf32> into tensor<10xf32>
  %1 = metaop.insert none %p into %0[%i] : tensor<3xf32> into tensor<10xf32>
  %2 = metaop.insert none %p into %y[%i] : tensor<3xf32> into tensor<10xf32>
  return %1, %2 : tensor<10xf32>, tensor<10xf32>
}

// -----

// What kernels write in rows lies in them, as part of a concat in a concat too.
// The kernel that reads the part reads these rows.
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.arena_bytes = 0 : i64, metaop.results = [#metaop.slot<result, 0>, #metaop.slot<result, 1>]
// CHECK-NEXT:    call @rows{{.*}} {metaop.slots = [#metaop.slot<result, 0, offset = 64, row = 16, pitch = 32>]}
// CHECK-NEXT:    call @sum{{.*}} {metaop.slots = [#metaop.slot<result, 1>]}
// CHECK-NEXT:    metaop.reshape
// CHECK-NEXT:    call @rows{{.*}} {metaop.slots = [#metaop.slot<result, 0, offset = 80, row = 16, pitch = 32>]}
// CHECK-NEXT:    metaop.reshape
// CHECK-NEXT:    metaop.concat {{.*}} {metaop.slots = [#metaop.slot<result, 0, offset = 64>]}
// CHECK-NEXT:    metaop.concat {{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<2x2x4xf32>, %y: tensor<2x8xf32>) -> (tensor<6x8xf32>, tensor<2x2xf32>) {
  %0 = call @rows(%x) : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  %1 = call @sum(%0) : (tensor<2x2x4xf32>) -> tensor<2x2xf32>
  %2 = metaop.reshape %0 : tensor<2x2x4xf32> -> tensor<4x4xf32>
  %3 = call @rows(%x) : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  %4 = metaop.reshape %3 : tensor<2x2x4xf32> -> tensor<4x4xf32>
  %5 = metaop.concat %2, %4 dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %6 = metaop.concat %y, %5 dim = 0 : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  return %6, %1 : tensor<6x8xf32>, tensor<2x2xf32>
}

func.func private @rows(%x: tensor<2x2x4xf32>) -> tensor<2x2x4xf32> {
  %0 = metaop.kernel(%a = %x : tensor<2x2x4xf32>) -> tensor<2x2x4xf32> {
    %1 = metaop.fused(%b = %a : tensor<2x2x4xf32>) -> tensor<2x2x4xf32> attributes {result_rows = [#metaop.rows<4, pitch = 8>]} {
      %2 = metaop.neg %b : tensor<2x2x4xf32>
      metaop.yield %2 : tensor<2x2x4xf32>
    }
    metaop.yield %1 : tensor<2x2x4xf32>
  }
  return %0 : tensor<2x2x4xf32>
}

func.func private @sum(%x: tensor<2x2x4xf32>) -> tensor<2x2xf32> {
  %0 = metaop.kernel(%a = %x : tensor<2x2x4xf32>) -> tensor<2x2xf32> {
    %1 = metaop.fused(%b = %a : tensor<2x2x4xf32>) -> tensor<2x2xf32> attributes {input_rows = [#metaop.rows<4, pitch = 8>]} {
      %2 = metaop.reindex_reduce add %b map affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x2x4xf32> -> tensor<2x2xf32>
      metaop.yield %2 : tensor<2x2xf32>
    }
    metaop.yield %1 : tensor<2x2xf32>
  }
  return %0 : tensor<2x2xf32>
}
