// RUN: metaop-opt %s -metaop-pipeline=to=llvm | FileCheck %s
// RUN: metaop-opt %s -metaop-pipeline=to=llvm | mlir-translate -mlir-to-llvmir | FileCheck %s --check-prefix=IR

// A program ends as functions of the LLVM dialect: one entry for each kernel.
// CHECK-NOT:  @main
// CHECK:      llvm.func {{.*}}@kernel_0(
// CHECK:      llvm.func @kernel_0_entry(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK:      llvm.func @_ZGVeN8v_erf(vector<8xf64>) -> vector<8xf64>
// CHECK-NOT:  unrealized_conversion_cast

// IR: define void @kernel_0_entry(ptr %0, ptr %1, i64 %2, i64 %3)
func.func @main(%x: tensor<100xf64>) -> tensor<100xf64> {
  %0 = metaop.erf %x : tensor<100xf64>
  return %0 : tensor<100xf64>
}
