// RUN: metaop-opt %s --convert-nvvm-to-emulator=count-instructions=false --split-input-file | FileCheck %s

// Shared variables have addresses from 0 on, far from each other; a generic
// address has the window's bits beside. Constants stay with the code.

// CHECK: llvm.mlir.global internal constant @m.table(
// CHECK-SAME: !llvm.array<2 x i32>
// CHECK-LABEL: llvm.func @spaces
// CHECK-SAME: metaop.shared = [{bytes = 8 : i64, name = "a", offset = 0 : i64}, {name = "rest", offset = 2048 : i64}, {bytes = 4 : i64, name = "b", offset = 1024 : i64}]
gpu.module @m {
  llvm.mlir.global internal @a() {addr_space = 3 : i32} : !llvm.array<2 x f32>
  llvm.mlir.global internal @rest() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.mlir.global internal @b() {addr_space = 3 : i32} : i32
  llvm.mlir.global internal constant @table(dense<[1, 2]> : tensor<2xi32>) {addr_space = 4 : i32} : !llvm.array<2 x i32>
  llvm.func @spaces() attributes {nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    // CHECK: %[[N:.*]] = llvm.mlir.constant(1024 : i64) : i64
    // CHECK: %[[B:.*]] = llvm.inttoptr %[[N]] : i64 to !llvm.ptr
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    // CHECK: %[[BITS:.*]] = llvm.ptrtoint %[[B]] : !llvm.ptr to i64
    // CHECK: %[[GENERIC:.*]] = llvm.xor %[[BITS]], %{{.*}} : i64
    // CHECK: %[[P:.*]] = llvm.inttoptr %[[GENERIC]] : i64 to !llvm.ptr
    // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[P]] : !llvm.ptr to i64
    // CHECK: llvm.call @metaops.emulator.store(%{{.*}}, %{{.*}}, %[[ADDRESS]])
    %p = llvm.addrspacecast %b : !llvm.ptr<3> to !llvm.ptr
    llvm.store %c0, %p : i32, !llvm.ptr
    // CHECK: %[[RANK:.*]] = llvm.zext %{{.*}} : i32 to i64
    // CHECK: llvm.call @metaops.emulator.mapa(%{{.*}}, %{{.*}}, %{{.*}}, %[[RANK]])
    %there = nvvm.mapa %b, %c0 : !llvm.ptr<3> -> !llvm.ptr<7>
    %v = llvm.load %there : !llvm.ptr<7> -> i32
    // CHECK: %[[T:.*]] = llvm.mlir.addressof @m.table : !llvm.ptr
    // CHECK: llvm.call @metaops.emulator.local(
    %t = llvm.mlir.addressof @table : !llvm.ptr<4>
    %q = llvm.getelementptr %t[0, %v] : (!llvm.ptr<4>, i32) -> !llvm.ptr<4>, !llvm.array<2 x i32>
    %e = llvm.load %q : !llvm.ptr<4> -> i32
    // CHECK: {{llvm.call @metaops.emulator.store|llvm.return}}
    llvm.store %e, %b : i32, !llvm.ptr<3>
    llvm.return
  }
}

// -----

// Accesses that others may make at the same time suspend, and so do the heads
// of loops, when the thread has run for long.

// CHECK-LABEL: llvm.func @spin
// CHECK-SAME: {alignment = 4 : i64, at = {{.*}}, bytes = 4 : i64, instruction = "strong_load", operation = "llvm.load", order = 1 : i64, scope = 2 : i64, space = 1 : i64}
// CHECK-SAME: instruction = "atomic", kind = 1 : i64, operation = "llvm.atomicrmw", order = 0 : i64, scope = 0 : i64, space = 1 : i64, type = "i32"
// CHECK-SAME: instruction = "loop"
// CHECK: %[[FUEL:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: %[[LEFT:.*]] = llvm.sub %[[FUEL]], %{{.*}} : i32
// CHECK: llvm.icmp "eq" %[[LEFT]]
gpu.module @m {
  llvm.func @spin(%flag: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c1 = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^wait
  ^wait:
    %v = llvm.load %flag atomic acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    %done = llvm.icmp "eq" %v, %c1 : i32
    llvm.cond_br %done, ^end, ^wait
  ^end:
    %old = llvm.atomicrmw add %flag, %c1 syncscope("block") monotonic : !llvm.ptr<1>, i32
    llvm.return
  }
}

// -----

// A copy is told of its source and its destination apart.

// CHECK-LABEL: llvm.func @copy
// CHECK-SAME: {alignment = 16 : i64, at = {{.*}}, bytes = 16 : i64, instruction = "copy_source", operation = "nvvm.cp.async.shared.global", space = 1 : i64}
// CHECK-SAME: instruction = "copy", operation = "nvvm.cp.async.shared.global", source = 0 : i64, space = 3 : i64}
// CHECK-SAME: instruction = "copy_wait", kind = 2 : i64
// CHECK: llvm.call @metaops.emulator.copy(
// CHECK: llvm.call @metaops.emulator.copy_commit(
gpu.module @m {
  llvm.mlir.global internal @a() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  llvm.func @copy(%x: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    nvvm.cp.async.shared.global %a, %x, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 2
    llvm.return
  }
}
