// RUN: metaop-opt %s --convert-nvvm-to-emulator=count-instructions=false | FileCheck %s
// RUN: metaop-opt %s --convert-nvvm-to-emulator | FileCheck %s --check-prefix=COUNT

// A kernel becomes a coroutine: arguments come from words, the thread suspends
// at the beginning, at the shuffle, and at its end.

// CHECK-NOT: gpu.module
// CHECK-DAG: llvm.func @metaops.emulator.store(!llvm.ptr, i32, i64) -> i64
// CHECK-DAG: llvm.func @metaops.emulator.load(!llvm.ptr, i32, i64) -> i64
// CHECK-DAG: llvm.func @metaops.emulator.frame(!llvm.ptr, i64, i64) -> !llvm.ptr
// CHECK-LABEL: llvm.func @neighbours(
// CHECK-SAME: %[[THREAD:.*]]: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-SAME: metaop.parameters = [!llvm.ptr, i32]
// CHECK-SAME: metaop.reqntid = array<i32: 32, 1, 1>
// CHECK-SAME: metaop.shared = []
// CHECK-SAME: metaop.sites = [{alignment = 4 : i64, at = {{.*}}, bytes = 4 : i64, instruction = "load", operation = "llvm.load", space = 1 : i64},
// CHECK-SAME: {at = {{.*}}, instruction = "shuffle", kind = 0 : i64, operation = "nvvm.shfl.sync"},
// CHECK-SAME: {alignment = 4 : i64, at = {{.*}}, bytes = 4 : i64, instruction = "store", operation = "llvm.store", space = 1 : i64},
// CHECK-SAME: {at = {{.*}}, instruction = "exit", operation = "llvm.return"}]
// CHECK-SAME: passthrough = ["presplitcoroutine"]
// COUNT: metaop.instruction_counts = [array<i64: 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0>]
// COUNT: llvm.intr.coro.suspend
// COUNT: %[[FIELD:.*]] = llvm.getelementptr %arg0[56] : (!llvm.ptr) -> !llvm.ptr, i8
// COUNT: %[[TABLE:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> !llvm.ptr
// COUNT: %[[PLACE:.*]] = llvm.getelementptr %[[TABLE]][0]
// COUNT: %[[COUNT:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> i64
// COUNT: llvm.add %[[COUNT]]
gpu.module @m {
  llvm.func @neighbours(%x: !llvm.ptr<1>, %n: i32)
      attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    // CHECK: %[[SIZE:.*]] = llvm.intr.coro.size : i64
    // CHECK: %[[ALIGNMENT:.*]] = llvm.intr.coro.align : i64
    // CHECK: %[[MEMORY:.*]] = llvm.call @metaops.emulator.frame(%[[THREAD]], %[[SIZE]], %[[ALIGNMENT]])
    // CHECK: %[[HANDLE:.*]] = llvm.intr.coro.begin %{{.*}}, %[[MEMORY]]
    // CHECK: %[[WORD:.*]] = llvm.getelementptr %[[ARGS]][1] : (!llvm.ptr) -> !llvm.ptr, i64
    // CHECK: llvm.load %[[WORD]] : !llvm.ptr -> i32
    // CHECK: llvm.intr.coro.suspend
    // CHECK: llvm.cond_br %{{.*}}, ^[[BEGIN:.*]], ^[[SUSPENDED:.*]]
    // CHECK: %[[TID:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    // CHECK: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[TID]]] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %p = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    // CHECK: %[[SITE:.*]] = llvm.mlir.constant(0 : i32) : i32
    // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[P]] : !llvm.ptr to i64
    // CHECK: %[[HOST:.*]] = llvm.call @metaops.emulator.load(%[[THREAD]], %[[SITE]], %[[ADDRESS]])
    // CHECK: %[[HOSTP:.*]] = llvm.inttoptr %[[HOST]] : i64 to !llvm.ptr
    // CHECK: %[[V:.*]] = llvm.load %[[HOSTP]] : !llvm.ptr -> f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    // CHECK: %[[BITS:.*]] = llvm.bitcast %[[V]] : f32 to i32
    // CHECK: %[[OPERAND:.*]] = llvm.zext %[[BITS]] : i32 to i64
    // CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[THREAD]][8] : (!llvm.ptr) -> !llvm.ptr, i8
    // CHECK: llvm.store %[[OPERAND]], %[[SLOT]] : i64, !llvm.ptr
    // CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(1 : i32) : i32
    // CHECK: llvm.store %[[NUMBER]], %{{.*}} : i32, !llvm.ptr
    // CHECK: llvm.intr.coro.suspend
    // CHECK: llvm.cond_br %{{.*}}, ^[[NEXT:.*]], ^[[SUSPENDED]]
    // CHECK: ^[[NEXT]]:
    // CHECK: %[[RESULT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
    // CHECK: %[[LOW:.*]] = llvm.trunc %[[RESULT]] : i64 to i32
    // CHECK: llvm.bitcast %[[LOW]] : i32 to f32
    %w = nvvm.shfl.sync bfly %all, %v, %c1, %c31 : f32 -> f32
    llvm.store %w, %p : f32, !llvm.ptr<1>
    // CHECK: llvm.intr.coro.suspend
    // CHECK: llvm.unreachable
    // CHECK: ^[[SUSPENDED]]:
    // CHECK: llvm.intr.coro.end %[[HANDLE]]
    // CHECK: llvm.return %[[HANDLE]] : !llvm.ptr
    llvm.return
  }
}
