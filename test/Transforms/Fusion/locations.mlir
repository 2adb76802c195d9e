// RUN: metaop-opt %s -metaop-fuse -metaop-outline -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// Kernel and call name the lines of all members.
// CHECK: call @kernel_0{{.*}} loc(fused["model.py":1:2, "model.py":3:4])
// CHECK: metaop.exp {{.*}} loc("model.py":1:2)
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.exp %x : tensor<8xf32> loc("model.py":1:2)
  %1 = metaop.neg %0 : tensor<8xf32> loc("model.py":3:4)
  return %1 : tensor<8xf32>
}
