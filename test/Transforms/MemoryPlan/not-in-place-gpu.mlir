// RUN: metaop-opt %s -split-input-file -metaop-plan-memory | FileCheck %s

// On a GPU a result may be written over an input where each element is read by
// the thread alone that writes it.

// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<argument, 0>]}
func.func @main(%p: tensor<64xf32> {metaop.donatable}) -> tensor<64xf32> {
  %0 = call @k(%p) : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @k(%p: tensor<64xf32>) -> tensor<64xf32> {
  %k = metaop.kernel(%kp = %p : tensor<64xf32>) -> tensor<64xf32> {
    %r = metaop.fused(%bp = %kp : tensor<64xf32>) -> tensor<64xf32> schedule(#metaop.schedule<[block(0, 32), thread(0)]>) {
      %y = metaop.exp %bp : tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %r : tensor<64xf32>
  }
  return %k : tensor<64xf32>
}

// -----

// The threads that have summed a row all read its element of %p.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<64x32xf32>, %p: tensor<64xf32> {metaop.donatable}) -> tensor<64xf32> {
  %0 = call @k(%x, %p) : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @k(%x: tensor<64x32xf32>, %p: tensor<64xf32>) -> tensor<64xf32> {
  %k = metaop.kernel(%kx = %x : tensor<64x32xf32>, %kp = %p : tensor<64xf32>) -> tensor<64xf32> {
    %s = metaop.fused(%bx = %kx : tensor<64x32xf32>) -> tensor<64xf32> schedule(#metaop.schedule<[block(0), step(1, 32), thread(1)], place = [registers]>) {
      %0 = metaop.reindex_reduce add %bx map affine_map<(i, j) -> (i)> : tensor<64x32xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    %r = metaop.fused(%bs = %s : tensor<64xf32>, %bp = %kp : tensor<64xf32>) -> tensor<64xf32> schedule(#metaop.schedule<[block(0)], shared = 1>) {
      %y = metaop.add %bs, %bp : tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %r : tensor<64xf32>
  }
  return %k : tensor<64xf32>
}

// -----

// No block knows that the first stage is over in another one.
// CHECK-LABEL: func @main
// CHECK:         call @k({{.*}}) {metaop.slots = [#metaop.slot<result, 0>, #metaop.slot<result, 1>]}
func.func @main(%p: tensor<64xf32> {metaop.donatable}) -> (tensor<64xf32>, tensor<64xf32>) {
  %0:2 = call @k(%p) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xf32>
}
func.func private @k(%p: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %k:2 = metaop.kernel(%kp = %p : tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %r = metaop.fused(%bp = %kp : tensor<64xf32>) -> tensor<64xf32> schedule(#metaop.schedule<[block(0, 32), thread(0)]>) {
      %0 = metaop.reindex %bp map affine_map<(i) -> (-i + 63)> fill 0.0 : f32 : tensor<64xf32> -> tensor<64xf32>
      metaop.yield %0 : tensor<64xf32>
    }
    %s = metaop.fused(%bp = %kp : tensor<64xf32>) -> tensor<64xf32> schedule(#metaop.schedule<[block(0, 32), thread(0)]>) {
      %y = metaop.exp %bp : tensor<64xf32>
      metaop.yield %y : tensor<64xf32>
    }
    metaop.yield %r, %s : tensor<64xf32>, tensor<64xf32>
  }
  return %k#0, %k#1 : tensor<64xf32>, tensor<64xf32>
}
