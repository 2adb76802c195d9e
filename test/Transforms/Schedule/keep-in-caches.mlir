// RUN: metaop-opt %s -split-input-file -metaop-plan-memory -metaop-keep-in-caches --mlir-print-local-scope | FileCheck %s

// What every call of a kernel writes in place has just been read, and is stored
// as usual.
// CHECK-LABEL: func @main
// CHECK: call @once{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK: call @once{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK: call @always{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK: call @always{{.*}} {metaop.slots = [#metaop.slot<argument, 1>]}
// CHECK-LABEL: func private @once
// CHECK: stream = [0]
// CHECK-LABEL: func private @always
// CHECK-NOT: stream
// CHECK-LABEL: func private @last
// CHECK: stream = [0]
func.func @main(%x: tensor<64xf32>, %p: tensor<64xf32> {metaop.donatable})
    -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = call @once(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = call @once(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = call @always(%1) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = call @always(%p) : (tensor<64xf32>) -> tensor<64xf32>
  %4 = call @last(%2) : (tensor<64xf32>) -> tensor<64xf32>
  return %3, %4 : tensor<64xf32>, tensor<64xf32>
}
func.func private @once(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%b = %a : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %2 = metaop.exp %b : tensor<64xf32>
      metaop.yield %2 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
func.func private @always(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%b = %a : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %2 = metaop.log %b : tensor<64xf32>
      metaop.yield %2 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
func.func private @last(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%b = %a : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %2 = metaop.abs %b : tensor<64xf32>
      metaop.yield %2 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// -----

// Rows that begin inside of a line are not stored past the caches, whichever
// call it is whose rows do.
// CHECK-LABEL: func @main
// CHECK:         call @aligned{{.*}}offset = 256, row = 64, pitch = 320
// CHECK:         call @shared{{.*}}<result, 0, row = 64, pitch = 320>
// CHECK:         call @shared{{.*}}offset = 72, row = 64, pitch = 320
// CHECK-LABEL: func private @aligned
// CHECK:         stream = [0]
// CHECK-LABEL: func private @shared
// CHECK-NOT:     stream
func.func @main(%x: tensor<8x16xf32>, %y: tensor<8x2xf32>, %z: tensor<8x30xf32>) -> tensor<8x80xf32> {
  %0 = call @aligned(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = call @shared(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = call @shared(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = metaop.concat %1, %y, %2, %z, %0 dim = 1 : (tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x16xf32>, tensor<8x30xf32>, tensor<8x16xf32>) -> tensor<8x80xf32>
  return %3 : tensor<8x80xf32>
}

func.func private @aligned(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = metaop.kernel(%a = %x : tensor<8x16xf32>) -> tensor<8x16xf32> {
    %1 = metaop.fused(%b = %a : tensor<8x16xf32>) -> tensor<8x16xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, stream = [0]>)
        attributes {result_rows = [#metaop.rows<16, pitch = 80>]} {
      %2 = metaop.exp %b : tensor<8x16xf32>
      metaop.yield %2 : tensor<8x16xf32>
    }
    metaop.yield %1 : tensor<8x16xf32>
  }
  return %0 : tensor<8x16xf32>
}

func.func private @shared(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = metaop.kernel(%a = %x : tensor<8x16xf32>) -> tensor<8x16xf32> {
    %1 = metaop.fused(%b = %a : tensor<8x16xf32>) -> tensor<8x16xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 16, stream = [0]>)
        attributes {result_rows = [#metaop.rows<16, pitch = 80>]} {
      %2 = metaop.neg %b : tensor<8x16xf32>
      metaop.yield %2 : tensor<8x16xf32>
    }
    metaop.yield %1 : tensor<8x16xf32>
  }
  return %0 : tensor<8x16xf32>
}

// -----

// Views lie where their tensor does. What a routine makes that nobody reads has
// no slot; what a file says stays, and so does all where memory is not planned.
// CHECK-LABEL: func @main
// CHECK:         metaop.sort
// CHECK-SAME:      metaop.slots = [#metaop.slot<arena, 0>]
// CHECK:         call @behind{{.*}}metaop.slots = [#metaop.slot<arena, 0>]
// CHECK-LABEL: func private @behind
// CHECK-NOT:     stream
// CHECK-LABEL: func private @uncalled
// CHECK:         stream = [0]
func.func @main(%x: tensor<64xf32>) -> tensor<f32> {
  %values, %places = metaop.sort %x dim = 0 : tensor<64xf32> -> tensor<64xf32>
  %0 = metaop.reshape %values : tensor<64xf32> -> tensor<4x16xf32>
  %1 = call @behind(%0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = call @sum(%1) : (tensor<4x16xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}
func.func private @behind(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x16xf32>) -> tensor<4x16xf32> {
    %1 = metaop.fused(%b = %a : tensor<4x16xf32>) -> tensor<4x16xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %2 = metaop.exp %b : tensor<4x16xf32>
      metaop.yield %2 : tensor<4x16xf32>
    }
    metaop.yield %1 : tensor<4x16xf32>
  }
  return %0 : tensor<4x16xf32>
}
func.func private @sum(%x: tensor<4x16xf32>) -> tensor<f32> {
  %0 = metaop.kernel(%a = %x : tensor<4x16xf32>) -> tensor<f32> {
    %1 = metaop.fused(%b = %a : tensor<4x16xf32>) -> tensor<f32>
        schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16>) {
      %2 = metaop.reduce add %b dims = [0, 1] : tensor<4x16xf32> -> tensor<f32>
      metaop.yield %2 : tensor<f32>
    }
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
func.func private @uncalled(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%b = %a : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %2 = metaop.exp %b : tensor<64xf32>
      metaop.yield %2 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// -----

// Rows that are whole lines begin at lines, others hardly do.
// CHECK-LABEL: func @main
// CHECK-LABEL: func private @whole
// CHECK: stream = [0]
// CHECK-LABEL: func private @part
// CHECK-NOT: stream
func.func @main(%xs: tensor<3x64xf32>, %ys: tensor<3x72xf32>) -> (tensor<3x64xf32>, tensor<3x72xf32>) {
  %r:2 = metaop.scan 3 rows(%x = %xs : tensor<3x64xf32>, %y = %ys : tensor<3x72xf32>) -> (tensor<3x64xf32>, tensor<3x72xf32>) {
    %0 = func.call @whole(%x) : (tensor<64xf32>) -> tensor<64xf32>
    %1 = func.call @part(%y) : (tensor<72xf32>) -> tensor<72xf32>
    metaop.scan_yield %0, %1 : tensor<64xf32>, tensor<72xf32>
  }
  return %r#0, %r#1 : tensor<3x64xf32>, tensor<3x72xf32>
}
func.func private @whole(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%b = %a : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %2 = metaop.exp %b : tensor<64xf32>
      metaop.yield %2 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
func.func private @part(%x: tensor<72xf32>) -> tensor<72xf32> {
  %0 = metaop.kernel(%a = %x : tensor<72xf32>) -> tensor<72xf32> {
    %1 = metaop.fused(%b = %a : tensor<72xf32>) -> tensor<72xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %2 = metaop.exp %b : tensor<72xf32>
      metaop.yield %2 : tensor<72xf32>
    }
    metaop.yield %1 : tensor<72xf32>
  }
  return %0 : tensor<72xf32>
}
