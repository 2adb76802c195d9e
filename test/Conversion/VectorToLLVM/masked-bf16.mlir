// RUN: metaop-opt %s -metaop-masked-bf16 | FileCheck %s

// CHECK-LABEL: llvm.func @load(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr, %[[MASK:.*]]: vector<16xi1>, %[[OTHER:.*]]: vector<16xbf16>
// CHECK: %[[O:.*]] = llvm.bitcast %[[OTHER]] : vector<16xbf16> to vector<16xi16>
// CHECK: %[[BITS:.*]] = llvm.intr.masked.load %[[P]], %[[MASK]], %[[O]] {alignment = 2 : i32} : {{.*}} -> vector<16xi16>
// CHECK: %[[V:.*]] = llvm.bitcast %[[BITS]] : vector<16xi16> to vector<16xbf16>
// CHECK: llvm.return %[[V]]
llvm.func @load(%p: !llvm.ptr, %mask: vector<16xi1>, %other: vector<16xbf16>) -> vector<16xbf16> {
  %v = llvm.intr.masked.load %p, %mask, %other {alignment = 2 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xbf16>) -> vector<16xbf16>
  llvm.return %v : vector<16xbf16>
}

// CHECK-LABEL: llvm.func @store(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr, %[[MASK:.*]]: vector<16xi1>, %[[V:.*]]: vector<16xbf16>
// CHECK: %[[BITS:.*]] = llvm.bitcast %[[V]] : vector<16xbf16> to vector<16xi16>
// CHECK: llvm.intr.masked.store %[[BITS]], %[[P]], %[[MASK]] {alignment = 2 : i32} : vector<16xi16>
llvm.func @store(%p: !llvm.ptr, %mask: vector<16xi1>, %v: vector<16xbf16>) {
  llvm.intr.masked.store %v, %p, %mask {alignment = 2 : i32} : vector<16xbf16>, vector<16xi1> into !llvm.ptr
  llvm.return
}

// Others stay as they are.
// CHECK-LABEL: llvm.func @floats(
// CHECK-NOT: llvm.bitcast
llvm.func @floats(%p: !llvm.ptr, %mask: vector<16xi1>, %other: vector<16xf16>) -> vector<16xf16> {
  %v = llvm.intr.masked.load %p, %mask, %other {alignment = 2 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf16>) -> vector<16xf16>
  llvm.intr.masked.store %v, %p, %mask {alignment = 2 : i32} : vector<16xf16>, vector<16xi1> into !llvm.ptr
  llvm.return %v : vector<16xf16>
}
