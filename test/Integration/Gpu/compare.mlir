// The other files, and the kernels whose loops are listed, as a GPU's code on the
// emulator: without a fault, and with the interpreter's results.

// RUN: metaop-run %S/../elementwise.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../indirect.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../placement.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../reductions.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../reindex.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../scatter.mlir --compare --target=cuda --emulate --chip=sm_80
// RUN: metaop-run %S/../../Kernels/adam-step.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../../Kernels/argmax-of-2-d-axis-1.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../../Kernels/softmax.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../../Kernels/layer-norm-backward.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../../Kernels/max-pooling.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../../Kernels/pad.mlir --compare --target=cuda --emulate
// RUN: metaop-run %S/../../../examples/matmul.mlir --compare --target=cuda --emulate

// A file of the phase scheduled keeps its schedules.
// RUN: metaop-opt %S/../../Kernels/softmax.mlir --metaop-pipeline="to=scheduled target=cuda" -o %t.mlir
// RUN: metaop-run %t.mlir --compare --target=cuda --emulate
// RUN: metaop-opt %S/../../Kernels/softmax.mlir --metaop-pipeline="to=fused target=cuda" -o %t.mlir
// RUN: metaop-run %t.mlir --compare --target=cuda --emulate

// RUN: metaop-run %s --compare --target=cuda --emulate | FileCheck %s
// CHECK: wide: 1 results agree, {{.*}}; 1 kernel,
func.func @wide(%x: tensor<3x40000xf32>) -> tensor<3xf32> {
  %k = metaop.kernel(%a = %x : tensor<3x40000xf32>) -> tensor<3xf32> {
    %r = metaop.fused(%b = %a : tensor<3x40000xf32>) -> tensor<3xf32>
        schedule(#metaop.schedule<[cluster(0), cluster(1, 40960), block(1, 10240), step(1, 1024), warp(1, 128), thread(1, 4)], tile = [1: 4], lanes = 1: 4>) {
      %y = metaop.reduce max %b dims = [1] : tensor<3x40000xf32> -> tensor<3xf32>
      metaop.yield %y : tensor<3xf32>
    }
    metaop.yield %r : tensor<3xf32>
  }
  return %k : tensor<3xf32>
}
