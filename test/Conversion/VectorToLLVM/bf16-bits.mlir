// RUN: metaop-opt %s -metaop-bf16-bits | FileCheck %s

// What only moves numbers.
// CHECK-LABEL: llvm.func @move(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr, %[[Q:.*]]: !llvm.ptr, %[[MASK:.*]]: vector<4xi1>, %[[C:.*]]: i1
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(dense<16256> : vector<4xi16>) : vector<4xi16>
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(16256 : i16) : i16
// CHECK: %[[V:.*]] = llvm.intr.masked.load %[[P]], %[[MASK]], %[[ZERO]] {alignment = 2 : i32} : {{.*}} -> vector<4xi16>
// CHECK: %[[S:.*]] = llvm.shufflevector %[[V]], %[[V]] [3, 2, 1, 0] : vector<4xi16>
// CHECK: llvm.intr.masked.store %[[S]], %[[Q]], %[[MASK]] {alignment = 2 : i32} : vector<4xi16>
// CHECK: %[[X:.*]] = llvm.load %[[P]] : !llvm.ptr -> i16
// CHECK: llvm.cond_br %[[C]], ^bb1(%[[X]] : i16), ^bb1(%[[ONE]] : i16)
// CHECK: ^bb1(%[[Y:.*]]: i16):
// CHECK: llvm.getelementptr %[[Q]][1] : (!llvm.ptr) -> !llvm.ptr, i16
// CHECK: llvm.store %[[Y]], %{{.*}} : i16, !llvm.ptr
llvm.func @move(%p: !llvm.ptr, %q: !llvm.ptr, %mask: vector<4xi1>, %c: i1) {
  %zero = llvm.mlir.constant(dense<1.0> : vector<4xbf16>) : vector<4xbf16>
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  %v = llvm.intr.masked.load %p, %mask, %zero {alignment = 2 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xbf16>) -> vector<4xbf16>
  %s = llvm.shufflevector %v, %v [3, 2, 1, 0] : vector<4xbf16>
  llvm.intr.masked.store %s, %q, %mask {alignment = 2 : i32} : vector<4xbf16>, vector<4xi1> into !llvm.ptr
  %x = llvm.load %p : !llvm.ptr -> bf16
  llvm.cond_br %c, ^bb1(%x : bf16), ^bb1(%one : bf16)
^bb1(%y: bf16):
  %r = llvm.getelementptr %q[1] : (!llvm.ptr) -> !llvm.ptr, bf16
  llvm.store %y, %r : bf16, !llvm.ptr
  llvm.return
}

// A number is the upper half of one of f32.
// CHECK-LABEL: llvm.func @widen(
// CHECK: %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<4xi16>
// CHECK: %[[Z:.*]] = llvm.zext %[[X]] : vector<4xi16> to vector<4xi32>
// CHECK: %[[D:.*]] = llvm.mlir.constant(dense<16> : vector<4xi32>)
// CHECK: %[[S:.*]] = llvm.shl %[[Z]], %[[D]] : vector<4xi32>
// CHECK: %[[F:.*]] = llvm.bitcast %[[S]] : vector<4xi32> to vector<4xf32>
// CHECK: llvm.return %[[F]]
llvm.func @widen(%p: !llvm.ptr) -> vector<4xf32> {
  %x = llvm.load %p : !llvm.ptr -> vector<4xbf16>
  %f = llvm.fpext %x : vector<4xbf16> to vector<4xf32>
  llvm.return %f : vector<4xf32>
}

// What computes keeps its types.
// CHECK-LABEL: llvm.func @compute(
// CHECK: %[[R:.*]] = llvm.fptrunc %{{.*}} : f64 to bf16
// CHECK: %[[I:.*]] = llvm.bitcast %[[R]] : bf16 to i16
// CHECK: llvm.store %[[I]], %{{.*}} : i16, !llvm.ptr
// CHECK: %[[B:.*]] = llvm.bitcast %[[I]] : i16 to bf16
// CHECK: %[[N:.*]] = llvm.fneg %[[B]] : bf16
// CHECK: %[[J:.*]] = llvm.bitcast %[[N]] : bf16 to i16
// CHECK: llvm.store %[[J]], %{{.*}} : i16, !llvm.ptr
llvm.func @compute(%x: f64, %p: !llvm.ptr, %q: !llvm.ptr) {
  %r = llvm.fptrunc %x : f64 to bf16
  llvm.store %r, %p : bf16, !llvm.ptr
  %n = llvm.fneg %r : bf16
  llvm.store %n, %q : bf16, !llvm.ptr
  llvm.return
}

// A number of f32 is rounded to the nearest one by arithmetic of integers, and a NaN
// made a quiet one.
// CHECK-LABEL: llvm.func @round(
// CHECK-SAME: %[[X:.*]]: f32, %[[P:.*]]: !llvm.ptr
// CHECK: %[[BITS:.*]] = llvm.bitcast %[[X]] : f32 to i32
// CHECK: %[[UPPER:.*]] = llvm.lshr %[[BITS]]
// CHECK: %[[ROUNDED:.*]] = llvm.lshr
// CHECK: %[[IS_NAN:.*]] = llvm.fcmp "uno" %[[X]], %[[X]] : f32
// CHECK: %[[QUIET:.*]] = llvm.or %[[UPPER]]
// CHECK: %[[WIDE:.*]] = llvm.select %[[IS_NAN]], %[[QUIET]], %[[ROUNDED]]
// CHECK: %[[HALF:.*]] = llvm.trunc %[[WIDE]] : i32 to i16
// CHECK: llvm.store %[[HALF]], %[[P]] : i16, !llvm.ptr
llvm.func @round(%x: f32, %p: !llvm.ptr) {
  %y = llvm.fptrunc %x : f32 to bf16
  llvm.store %y, %p : bf16, !llvm.ptr
  llvm.return
}
