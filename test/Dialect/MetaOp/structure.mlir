// RUN: metaop-opt %s | metaop-opt --mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt --mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s --emit-bytecode | metaop-opt --mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s --mlir-print-debuginfo --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=LOC
// RUN: metaop-opt %s --mlir-print-debuginfo | metaop-opt --mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s --canonicalize --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=CANON

// CHECK-LABEL: @fused
func.func @fused(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.*]] = metaop.fused(%[[A:.*]] = %{{.*}} : tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[E:.*]] = metaop.exp %[[A]] : tensor<4x8xf32>
  // CHECK-NEXT: %[[R:.*]] = metaop.reduce add %[[E]] dims = [1]
  // CHECK-NEXT: metaop.yield %[[R]] : tensor<4xf32>
  // CHECK-NEXT: }
  %y = metaop.fused(%a = %x : tensor<4x8xf32>) -> tensor<4xf32> {
    %0 = metaop.exp %a : tensor<4x8xf32>
    %1 = metaop.reduce add %0 dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
    metaop.yield %1 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @fused_all_parts
func.func @fused_all_parts(%x: tensor<?x8xf32>, %s: tensor<i64>, %n: index)
    -> (tensor<?x8xf32>, tensor<8xf32>) {
  // CHECK: metaop.fused(%{{.*}} = %{{.*}} : tensor<?x8xf32>, %{{.*}} = %{{.*}} : tensor<i64>, %{{.*}} = %{{.*}} : index)
  // CHECK-SAME: -> (tensor<?x8xf32>, tensor<8xf32>)
  // CHECK-SAME: schedule(#metaop.schedule<[parallel(1, 8), step(0)], tile = [1: 8], lanes = 1: 8>)
  // CHECK-SAME: attributes {note = 1 : i64} {
  %y:2 = metaop.fused(%a = %x : tensor<?x8xf32>, %b = %s : tensor<i64>,
                      %c = %n : index) -> (tensor<?x8xf32>, tensor<8xf32>)
      schedule(#metaop.schedule<[parallel(1, 8), step(0)], tile = [1: 8], lanes = 1: 8>)
      attributes {note = 1} {
    %0 = metaop.reindex %a symbols(%b) extents(%c)
        map affine_map<(d0, d1)[s0] -> (d0 + s0, d1)> fill 0.0 : f32
        : tensor<?x8xf32> -> tensor<?x8xf32>
    %1 = metaop.reduce max %0 dims = [0] : tensor<?x8xf32> -> tensor<8xf32>
    metaop.yield %0, %1 : tensor<?x8xf32>, tensor<8xf32>
  }
  return %y#0, %y#1 : tensor<?x8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @fused_without_inputs
func.func @fused_without_inputs() -> tensor<4xi32> {
  // CHECK: metaop.fused() -> tensor<4xi32> {
  %y = metaop.fused() -> tensor<4xi32> {
    %0 = metaop.iota dim = 0 : tensor<4xi32>
    metaop.yield %0 : tensor<4xi32>
  }
  return %y : tensor<4xi32>
}

// A dimension may stand in several loops.
// CHECK-LABEL: func.func @fused_blocks
func.func @fused_blocks(%x: tensor<256xf32>) -> tensor<f32> {
  // CHECK: schedule(#metaop.schedule<[step(0, 128), step(0, 32), step(0)]>)
  %y = metaop.fused(%a = %x : tensor<256xf32>) -> tensor<f32>
      schedule(#metaop.schedule<[step(0, 128), step(0, 32), step(0)]>) {
    %0 = metaop.reduce add %a dims = [0] : tensor<256xf32> -> tensor<f32>
    metaop.yield %0 : tensor<f32>
  }
  return %y : tensor<f32>
}

// A stage on a space of rank 0.
// CHECK-LABEL: @fused_scalar
func.func @fused_scalar(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: schedule(#metaop.schedule<[]>)
  %y = metaop.fused(%a = %x : tensor<f32>) -> tensor<f32>
      schedule(#metaop.schedule<[]>) {
    %0 = metaop.sqrt %a : tensor<f32>
    metaop.yield %0 : tensor<f32>
  }
  return %y : tensor<f32>
}

// CHECK-LABEL: @kernel
func.func @kernel(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  // CHECK: metaop.kernel(%[[A:.*]] = %{{.*}} : tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
  // CHECK-SAME: attributes {name = "softmax"} {
  // CHECK-NEXT: metaop.fused(%{{.*}} = %[[A]] : tensor<4x8xf32>) -> tensor<4xf32>
  %y:2 = metaop.kernel(%a = %x : tensor<4x8xf32>)
      -> (tensor<4xf32>, tensor<4x8xf32>) attributes {name = "softmax"} {
    %0 = metaop.fused(%b = %a : tensor<4x8xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 8)], tile = [1: 8], lanes = 1: 8>) {
      %2 = metaop.reduce max %b dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
      metaop.yield %2 : tensor<4xf32>
    }
    // CHECK: shared = 1
    %1 = metaop.fused(%b = %a : tensor<4x8xf32>, %c = %0 : tensor<4xf32>)
        -> tensor<4x8xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 8)], tile = [1: 8], lanes = 1: 8, shared = 1>) {
      %2 = metaop.broadcast %c dims = [0] : tensor<4xf32> -> tensor<4x8xf32>
      %3 = metaop.sub %b, %2 : tensor<4x8xf32>
      metaop.yield %3 : tensor<4x8xf32>
    }
    metaop.yield %0, %1 : tensor<4xf32>, tensor<4x8xf32>
  }
  return %y#0, %y#1 : tensor<4xf32>, tensor<4x8xf32>
}

// LOC-LABEL: @argument_location
func.func @argument_location(%x: tensor<4xf32>) -> tensor<4xf32> {
  // LOC: metaop.fused(%{{.*}} loc("model.py":3:7) = %{{.*}} : tensor<4xf32>) -> tensor<4xf32>
  %y = metaop.fused(%a loc("model.py":3:7) = %x : tensor<4xf32>)
      -> tensor<4xf32> {
    %0 = metaop.exp %a : tensor<4xf32>
    metaop.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

//===----------------------------------------------------------------------===//
// Canonicalisation
//===----------------------------------------------------------------------===//

// Equal and unused arguments, and unused results, go.
// CANON-LABEL: @drop_arguments_and_results
// CANON-SAME: %[[X:[^:]*]]: tensor<4xf32>
func.func @drop_arguments_and_results(%x: tensor<4xf32>, %z: tensor<4xf32>)
    -> tensor<4xf32> {
  // CANON-NEXT: %[[Y:.*]] = metaop.fused(%[[A:.*]] = %[[X]] : tensor<4xf32>) -> tensor<4xf32> {
  // CANON-NEXT: %[[S:.*]] = metaop.mul %[[A]], %[[A]]
  // CANON-NEXT: metaop.yield %[[S]] : tensor<4xf32>
  // CANON: return %[[Y]]
  %y:2 = metaop.fused(%a = %x : tensor<4xf32>, %b = %x : tensor<4xf32>,
                      %c = %z : tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = metaop.mul %a, %b : tensor<4xf32>
    %1 = metaop.exp %c : tensor<4xf32>
    metaop.yield %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
  return %y#1 : tensor<4xf32>
}

// A body that folds to an argument.
// CANON-LABEL: @forward_argument
// CANON-SAME: %[[X:.*]]: tensor<4xf32>
// CANON-NEXT: return %[[X]]
func.func @forward_argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = metaop.fused(%b = %a : tensor<4xf32>) -> tensor<4xf32> {
      %1 = metaop.reindex %b map affine_map<(d0) -> (d0)> fill 0.0 : f32
          : tensor<4xf32> -> tensor<4xf32>
      metaop.yield %1 : tensor<4xf32>
    }
    metaop.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// The schedule and other attributes stay.
// CANON-LABEL: @keep_attributes
// CANON: metaop.fused({{.*}}) -> tensor<4xf32> schedule(#metaop.schedule<{{.*}}>) attributes {note} {
func.func @keep_attributes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y:2 = metaop.fused(%a = %x : tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
      schedule(#metaop.schedule<[parallel(0)]>)
      attributes {note} {
    %0 = metaop.exp %a : tensor<4xf32>
    %1 = metaop.log %a : tensor<4xf32>
    metaop.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %y#1 : tensor<4xf32>
}

// In a stage nothing is made that is not a meta-operator on its space.
// CANON-LABEL: @stage_stays_stage
func.func @stage_stays_stage(%x: tensor<4x1xf32>, %z: tensor<?x3xf32>)
    -> (tensor<4xf32>, tensor<?xf32>) {
  // CANON: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1) -> (d0)>
  %0 = metaop.fused(%a = %x : tensor<4x1xf32>) -> tensor<4xf32> {
    %1 = metaop.reduce add %a dims = [1] : tensor<4x1xf32> -> tensor<4xf32>
    metaop.yield %1 : tensor<4xf32>
  }
  // CANON: metaop.reduce add %{{.*}} dims = [1] : tensor<?x3xf32> -> tensor<?xf32>
  %2 = metaop.fused(%a = %z : tensor<?x3xf32>) -> tensor<?xf32> {
    %1 = metaop.reduce add %a dims = [1] : tensor<?x3xf32> -> tensor<?xf32>
    metaop.yield %1 : tensor<?xf32>
  }
  return %0, %2 : tensor<4xf32>, tensor<?xf32>
}

// CHECK-LABEL: func @rows
// CHECK:       attributes {input_rows = [#metaop.rows<4, pitch = 8>, unit], result_rows = [#metaop.rows<1, pitch = 3>, unit]}
// What is not used goes with its rows.
// CANON-LABEL: func @rows
// CANON:       -> tensor<2x4xf32> attributes {input_rows = [#metaop.rows<4, pitch = 8>]}
func.func @rows(%x: tensor<2x4xf32>, %y: tensor<4xf32>) -> tensor<2x4xf32> {
  %0:2 = metaop.kernel(%a = %x : tensor<2x4xf32>, %b = %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
    %1:2 = metaop.fused(%c = %a : tensor<2x4xf32>, %d = %b : tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>)
        attributes {input_rows = [#metaop.rows<4, pitch = 8>, unit], result_rows = [#metaop.rows<1, pitch = 3>, unit]} {
      %2 = metaop.exp %c : tensor<2x4xf32>
      %3 = metaop.reindex_reduce add %2 map affine_map<(i, j) -> (j)> : tensor<2x4xf32> -> tensor<4xf32>
      metaop.yield %3, %2 : tensor<4xf32>, tensor<2x4xf32>
    }
    metaop.yield %1#0, %1#1 : tensor<4xf32>, tensor<2x4xf32>
  }
  return %0#1 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @roles
func.func @roles(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // CHECK: metaop.fused({{.*}} schedule(#metaop.schedule<[step(0), step(1)]>) role(packing) {
    %p = metaop.fused(%a = %kx : tensor<28x8xf32>) -> tensor<28x8xf32> schedule(#metaop.schedule<[step(0), step(1)]>) role(packing) {
      %0 = metaop.neg %a : tensor<28x8xf32>
      metaop.yield %0 : tensor<28x8xf32>
    }
    // CHECK: metaop.fused({{.*}} lanes = 2: 16>) role(contraction) {
    %s = metaop.fused(%a = %p : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 32), step(1)], tile = [0: 7, 2: 32], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // CHECK: metaop.fused({{.*}} role(epilogue) attributes {note = 1 : i64} {
    %y = metaop.fused(%a = %s : tensor<28x48xf32>) -> tensor<28x48xf32> schedule(#metaop.schedule<[step(0), step(1)]>) role(epilogue) attributes {note = 1} {
      %0 = metaop.neg %a : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}
