// RUN: metaop-opt %s -metaop-kernel-entry | FileCheck %s

// The kernel takes two buffers and one number; the entry reads their addresses
// and the number from arrays.
// CHECK-LABEL: func private @k(
// CHECK-SAME:    llvm.linkage = #llvm.linkage<internal>, {{.*}}passthrough = ["alwaysinline"]
// CHECK-LABEL: func @k_entry(
// CHECK-SAME:    %[[BUFFERS:.*]]: !llvm.ptr, %[[SCALARS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64) {
// CHECK:         %[[P0:.*]] = llvm.getelementptr %[[BUFFERS]][0]
// CHECK:         %[[X:.*]] = llvm.load %[[P0]] {{.*}}: !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.insertvalue %[[X]], %{{.*}}[0]
// CHECK:         llvm.insertvalue %[[X]], %{{.*}}[1]
// CHECK:         %[[XD:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<64xf32>
// CHECK:         llvm.getelementptr %[[BUFFERS]][1]
// CHECK:         %[[YD:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<?xf32>
// CHECK:         %[[P2:.*]] = llvm.getelementptr %[[SCALARS]][0]
// CHECK:         %[[N64:.*]] = llvm.load %[[P2]] : !llvm.ptr -> i64
// CHECK:         %[[N:.*]] = arith.index_cast %[[N64]] : i64 to index
// CHECK:         %[[B:.*]] = arith.index_cast %[[BEGIN]]
// CHECK:         %[[E:.*]] = arith.index_cast %[[END]]
// CHECK:         call @k(%[[XD]], %[[YD]], %[[N]], %[[B]], %[[E]])
// CHECK-NEXT:    return
func.func @k(%x: memref<64xf32>, %y: memref<?xf32>, %n: index, %begin: index, %end: index)
    attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.kernel} {
  return
}

// Other functions have none.
// CHECK-LABEL: func @other
// CHECK-NOT:   @other_entry
func.func @other() {
  return
}

// Stores past the caches are over before the caller may tell other threads.
// CHECK-LABEL: func @stream_entry
// CHECK:         call @stream
// CHECK-NEXT:    llvm.fence seq_cst
func.func @stream(%y: memref<64xf32>, %begin: index, %end: index)
    attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.kernel} {
  %c = arith.constant dense<1.0> : vector<16xf32>
  vector.store %c, %y[%begin] {alignment = 64 : i64, nontemporal = true} : memref<64xf32>, vector<16xf32>
  return
}
