// RUN: metaop-opt %s -split-input-file -metaop-fuse -metaop-split-reductions-gpu=chip=sm_90a | FileCheck %s
// RUN: metaop-opt %s -split-input-file -metaop-fuse -metaop-split-reductions-gpu="chip=sm_90a report" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// What keeps nothing has 256 blocks, whose results a second kernel combines.
// CHECK-LABEL: func @all
// CHECK-COUNT-2: metaop.kernel
// CHECK-NOT:     metaop.kernel
// REPORT: remark: splits 16777216 iterations of all dimensions into 256 blocks of 65536
func.func @all(%x: tensor<4096x4096xf32>) -> tensor<f32> {
  %y = metaop.reduce add %x dims = [0, 1] : tensor<4096x4096xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// Rows are enough.
// CHECK-LABEL: func @rows
// CHECK-COUNT-1: metaop.kernel
// CHECK-NOT:     metaop.kernel
// REPORT: remark: is not split: its loops are enough for threads
func.func @rows(%x: tensor<4096x4096xf32>) -> tensor<4096xf32> {
  %y = metaop.reduce add %x dims = [1] : tensor<4096x4096xf32> -> tensor<4096xf32>
  return %y : tensor<4096xf32>
}

// -----

// Columns that are few and long are not.
// CHECK-LABEL: func @columns
// CHECK-COUNT-2: metaop.kernel
// CHECK-NOT:     metaop.kernel
// REPORT: remark: splits 262144 iterations of dimension 0 into 256 blocks of 1024
func.func @columns(%x: tensor<262144x64xf32>) -> tensor<64xf32> {
  %y = metaop.reduce add %x dims = [0] : tensor<262144x64xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// The blocks of clusters may share them, if that is enough blocks.
// CHECK-LABEL: func @columns
// CHECK-COUNT-1: metaop.kernel
// CHECK-NOT:     metaop.kernel
// REPORT: remark: is not split: its loops are enough for threads
func.func @columns(%x: tensor<65536x256xf32>) -> tensor<256xf32> {
  %y = metaop.reduce add %x dims = [0] : tensor<65536x256xf32> -> tensor<256xf32>
  return %y : tensor<256xf32>
}

// -----

// A kernel starts in the time that a block does this.
// CHECK-LABEL: func @small
// CHECK-COUNT-1: metaop.kernel
// CHECK-NOT:     metaop.kernel
// REPORT: remark: is not split: it reduces too little
func.func @small(%x: tensor<60000xf32>) -> tensor<f32> {
  %y = metaop.reduce add %x dims = [0] : tensor<60000xf32> -> tensor<f32>
  return %y : tensor<f32>
}
