// RUN: metaop-opt %s -split-input-file -metaop-plan-memory | FileCheck %s

// All arguments are donated here; each kernel reads them in a way that a write in
// place would spoil.

// A transposed read may come behind the write of the element.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%p: tensor<4x4xf32> {metaop.donatable}) -> tensor<4x4xf32> {
  %0 = call @k(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @k(%p: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = metaop.kernel(%kp = %p : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %r = metaop.fused(%bp = %kp : tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = metaop.transpose %bp perm = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
      %y = metaop.add %bp, %0 : tensor<4x4xf32>
      metaop.yield %y : tensor<4x4xf32>
    }
    metaop.yield %r : tensor<4x4xf32>
  }
  return %k : tensor<4x4xf32>
}

// -----

// So may a broadcast read: the first column is read in every step.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%p: tensor<4x4xf32> {metaop.donatable}) -> tensor<4x4xf32> {
  %0 = call @k(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @k(%p: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = metaop.kernel(%kp = %p : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %r = metaop.fused(%bp = %kp : tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = metaop.reindex %bp map affine_map<(i, j) -> (i, 0)> fill 0.0 : f32 : tensor<4x4xf32> -> tensor<4x4xf32>
      %y = metaop.add %bp, %0 : tensor<4x4xf32>
      metaop.yield %y : tensor<4x4xf32>
    }
    metaop.yield %r : tensor<4x4xf32>
  }
  return %k : tensor<4x4xf32>
}

// -----

// And a shifted one.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%p: tensor<4x4xf32> {metaop.donatable}) -> tensor<4x4xf32> {
  %0 = call @k(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @k(%p: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = metaop.kernel(%kp = %p : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %r = metaop.fused(%bp = %kp : tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = metaop.reindex %bp map affine_map<(i, j) -> (i - 1, j)> fill 0.0 : f32 : tensor<4x4xf32> -> tensor<4x4xf32>
      %y = metaop.add %bp, %0 : tensor<4x4xf32>
      metaop.yield %y : tensor<4x4xf32>
    }
    metaop.yield %r : tensor<4x4xf32>
  }
  return %k : tensor<4x4xf32>
}

// -----

// A reduction writes before it has read all.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%p: tensor<4x1xf32> {metaop.donatable}) -> tensor<4xf32> {
  %0 = call @k(%p) : (tensor<4x1xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @k(%p: tensor<4x1xf32>) -> tensor<4xf32> {
  %k = metaop.kernel(%kp = %p : tensor<4x1xf32>) -> tensor<4xf32> {
    %r = metaop.fused(%bp = %kp : tensor<4x1xf32>) -> tensor<4xf32> {
      %y = metaop.reduce add %bp dims = [1] : tensor<4x1xf32> -> tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    metaop.yield %r : tensor<4xf32>
  }
  return %k : tensor<4xf32>
}

// -----

// Elements of another size: the write of element i is over what element 2 i is
// read from.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%p: tensor<8xf32> {metaop.donatable}) -> tensor<4xf64> {
  %0 = call @k(%p) : (tensor<8xf32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
func.func private @k(%p: tensor<8xf32>) -> tensor<4xf64> {
  %k = metaop.kernel(%kp = %p : tensor<8xf32>) -> tensor<4xf64> {
    %r = metaop.fused(%bp = %kp : tensor<8xf32>) -> tensor<4xf64> {
      %0 = metaop.reindex %bp map affine_map<(i) -> (i)> fill 0.0 : f32 : tensor<8xf32> -> tensor<4xf32>
      %y = metaop.cast %0 : tensor<4xf32> -> tensor<4xf64>
      metaop.yield %y : tensor<4xf64>
    }
    metaop.yield %r : tensor<4xf64>
  }
  return %k : tensor<4xf64>
}

// -----

// Another number of elements.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%p: tensor<4x4xf32> {metaop.donatable}) -> tensor<4xf32> {
  %0 = call @k(%p) : (tensor<4x4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @k(%p: tensor<4x4xf32>) -> tensor<4xf32> {
  %k = metaop.kernel(%kp = %p : tensor<4x4xf32>) -> tensor<4xf32> {
    %r = metaop.fused(%bp = %kp : tensor<4x4xf32>) -> tensor<4xf32> {
      %y = metaop.reindex %bp map affine_map<(i) -> (0, i)> fill 0.0 : f32 : tensor<4x4xf32> -> tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    metaop.yield %r : tensor<4xf32>
  }
  return %k : tensor<4xf32>
}

// -----

// The start of a slice is read before the loops of each call, and threads call one
// after another.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%s: tensor<i64> {metaop.donatable}, %x: tensor<1xi64>) -> tensor<1xi64> {
  %0 = call @k(%x, %s) : (tensor<1xi64>, tensor<i64>) -> tensor<1xi64>
  return %0 : tensor<1xi64>
}
func.func private @k(%x: tensor<1xi64>, %s: tensor<i64>) -> tensor<1xi64> {
  %k = metaop.kernel(%kx = %x : tensor<1xi64>, %ks = %s : tensor<i64>) -> tensor<1xi64> {
    %r = metaop.fused(%bx = %kx : tensor<1xi64>, %bs = %ks : tensor<i64>) -> tensor<1xi64> {
      %0 = metaop.slice %bx[%bs] strides = [1] : tensor<1xi64> -> tensor<1xi64>
      %y = metaop.neg %0 : tensor<1xi64>
      metaop.yield %y : tensor<1xi64>
    }
    metaop.yield %r : tensor<1xi64>
  }
  return %k : tensor<1xi64>
}

// -----

// So are the key and the counter of random numbers.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%s: tensor<i64> {metaop.donatable}) -> tensor<2xf32> {
  %0 = call @k(%s) : (tensor<i64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @k(%s: tensor<i64>) -> tensor<2xf32> {
  %k = metaop.kernel(%ks = %s : tensor<i64>) -> tensor<2xf32> {
    %r = metaop.fused(%bs = %ks : tensor<i64>) -> tensor<2xf32> {
      %y = metaop.random %bs, %bs : tensor<2xf32>
      metaop.yield %y : tensor<2xf32>
    }
    metaop.yield %r : tensor<2xf32>
  }
  return %k : tensor<2xf32>
}

// -----

// An earlier stage that shares a loop reads on while this one writes.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%p: tensor<4x4xf32> {metaop.donatable}) -> tensor<4x4xf32> {
  %0 = call @k(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @k(%p: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = metaop.kernel(%kp = %p : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %m = metaop.fused(%b = %kp : tensor<4x4xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %y = metaop.reindex_reduce add %b map affine_map<(i, j) -> (i)> : tensor<4x4xf32> -> tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    %r = metaop.fused(%b = %kp : tensor<4x4xf32>, %c = %m : tensor<4xf32>) -> tensor<4x4xf32>
        schedule(#metaop.schedule<[step(0), step(1)], shared = 1>) {
      %0 = metaop.broadcast %c dims = [0] : tensor<4xf32> -> tensor<4x4xf32>
      %y = metaop.sub %b, %0 : tensor<4x4xf32>
      metaop.yield %y : tensor<4x4xf32>
    }
    metaop.yield %r : tensor<4x4xf32>
  }
  return %k : tensor<4x4xf32>
}

// -----

// A later stage still reads the argument; the last one may write over it.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>, #metaop.slot<argument, 0>]}
func.func @main(%p: tensor<4x4xf32> {metaop.donatable}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0:2 = call @k(%p) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @k(%p: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %k:2 = metaop.kernel(%kp = %p : tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %r = metaop.fused(%b = %kp : tensor<4x4xf32>) -> tensor<4x4xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.exp %b : tensor<4x4xf32>
      metaop.yield %y : tensor<4x4xf32>
    }
    %s = metaop.fused(%b = %kp : tensor<4x4xf32>) -> tensor<4x4xf32>
        schedule(#metaop.schedule<[step(0)]>) {
      %y = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %y : tensor<4x4xf32>
    }
    metaop.yield %r, %s : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %k#0, %k#1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A later call reads the argument; that one may write over it.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<argument, 0>]}
func.func @main(%p: tensor<4x4xf32> {metaop.donatable}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = call @k(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @k(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @k(%p: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = metaop.kernel(%kp = %p : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %r = metaop.fused(%bp = %kp : tensor<4x4xf32>) -> tensor<4x4xf32> {
      %y = metaop.neg %bp : tensor<4x4xf32>
      metaop.yield %y : tensor<4x4xf32>
    }
    metaop.yield %r : tensor<4x4xf32>
  }
  return %k : tensor<4x4xf32>
}

// -----

// Through a view, a later call reads it as well.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%p: tensor<16xf32> {metaop.donatable}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %v = metaop.reshape %p : tensor<16xf32> -> tensor<4x4xf32>
  %w = metaop.reshape %p : tensor<16xf32> -> tensor<4x4xf32>
  %0 = call @k(%v) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @k(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @k(%p: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = metaop.kernel(%kp = %p : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %r = metaop.fused(%bp = %kp : tensor<4x4xf32>) -> tensor<4x4xf32> {
      %y = metaop.neg %bp : tensor<4x4xf32>
      metaop.yield %y : tensor<4x4xf32>
    }
    metaop.yield %r : tensor<4x4xf32>
  }
  return %k : tensor<4x4xf32>
}

// -----

// The argument is returned, in another shape.
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.results = [#metaop.slot<result, 0>, #metaop.slot<argument, 0>]
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%p: tensor<4x4xf32> {metaop.donatable}) -> (tensor<4x4xf32>, tensor<16xf32>) {
  %0 = call @k(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = metaop.reshape %p : tensor<4x4xf32> -> tensor<16xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<16xf32>
}
func.func private @k(%p: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = metaop.kernel(%kp = %p : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %r = metaop.fused(%bp = %kp : tensor<4x4xf32>) -> tensor<4x4xf32> {
      %y = metaop.neg %bp : tensor<4x4xf32>
      metaop.yield %y : tensor<4x4xf32>
    }
    metaop.yield %r : tensor<4x4xf32>
  }
  return %k : tensor<4x4xf32>
}

// -----

// One buffer under two names, of which one is read transposed.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%p: tensor<4x4xf32> {metaop.donatable}) -> tensor<4x4xf32> {
  %0 = call @k(%p, %p) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @k(%p: tensor<4x4xf32>, %q: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = metaop.kernel(%kp = %p : tensor<4x4xf32>, %kq = %q : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %r = metaop.fused(%bp = %kp : tensor<4x4xf32>, %bq = %kq : tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = metaop.transpose %bq perm = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
      %y = metaop.add %bp, %0 : tensor<4x4xf32>
      metaop.yield %y : tensor<4x4xf32>
    }
    metaop.yield %r : tensor<4x4xf32>
  }
  return %k : tensor<4x4xf32>
}

// -----

// Two results do not write over one argument.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<argument, 0>, #metaop.slot<result, 1>]}
func.func @main(%p: tensor<4xf32> {metaop.donatable}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = call @k(%p) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @k(%p: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %k:2 = metaop.kernel(%kp = %p : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %r:2 = metaop.fused(%b = %kp : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = metaop.exp %b : tensor<4xf32>
      %1 = metaop.neg %b : tensor<4xf32>
      metaop.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
    }
    metaop.yield %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
  }
  return %k#0, %k#1 : tensor<4xf32>, tensor<4xf32>
}
