// RUN: metaop-opt %s -metaop-emit-ptx=chip=sm_90a | FileCheck %s
// RUN: metaop-opt %s -metaop-emit-ptx=chip=sm_90a | metaop-translate --print-ptx | FileCheck %s --check-prefix=PTX

// A binary has the text of all kernels of a module, and what their calls have to
// know, in the order in which they run.
// CHECK:      gpu.binary @k {metaop.kernels = [
// CHECK-SAME:   {entry = #metaop.entry<buffers = 1>, launch = #metaop.launch<threads = 32>, name = "k_fill"},
// CHECK-SAME:   {dynamic_shared_bytes = 65536 : i64, entry = #metaop.entry<buffers = 1, range = 7>, launch = #metaop.launch<threads = 64, cluster = 2>, name = "k"}]}
// CHECK-SAME:   [#gpu.object<#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">, {{.*}}assembly = "{{.*}}.visible .entry k_fill(
// CHECK-NOT:  gpu.module

// PTX:      .version 8.0
// PTX-NEXT: .target sm_90a
// PTX:      .visible .entry k_fill(
// PTX:      .reqntid 32, 1, 1
// PTX:      st.global.b32
// PTX:      .visible .entry k(
// PTX:      .reqntid 64, 1, 1
// PTX:      .explicitcluster
// PTX:      .reqnctapercluster 2, 1, 1
gpu.module @k {
  llvm.func @k_fill(%x: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    %c7 = llvm.mlir.constant(7 : i32) : i32
    llvm.store %c7, %x : i32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @k(%x: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>, metaop.entry = #metaop.entry<buffers = 1, range = 7>, metaop.dynamic_shared_bytes = 65536 : i64, metaop.launch = #metaop.launch<threads = 64, cluster = 2>} {
    nvvm.cluster.arrive
    nvvm.cluster.wait
    llvm.return
  }
}
