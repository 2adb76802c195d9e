// RUN: metaop-opt %s -metaop-schedule=processor={stream=4096} --mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s -metaop-schedule="processor={avx2 stream=4096}" --mlir-print-local-scope | FileCheck %s --check-prefix=V256
// RUN: metaop-opt %s -metaop-schedule=processor={stream=0} --mlir-print-local-scope | FileCheck %s --check-prefix=NONE
// RUN: metaop-opt %s -metaop-schedule --mlir-print-local-scope | FileCheck %s --check-prefix=NONE
// RUN: metaop-opt %s -metaop-schedule=processor={stream=4096} -metaop-explain -o /dev/null | FileCheck %s --check-prefix=EXPLAIN

// NONE-NOT: stream

// As much as the caches hold. Vectors of half a line follow each other.
// CHECK-LABEL: func @large
// CHECK: <[step(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>
// V256-LABEL: func @large
// V256: <[step(0, 8)], tile = [0: 8], lanes = 0: 8, stream = [0]>
// EXPLAIN-LABEL: kernel of @large
// EXPLAIN: write tensor<1024xf32> at (d0) -> (d0): unit stride, past the caches
func.func @large(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = metaop.kernel(%k = %x : tensor<1024xf32>) -> tensor<1024xf32> {
    %1 = metaop.fused(%a = %k : tensor<1024xf32>) -> tensor<1024xf32> {
      %2 = metaop.exp %a : tensor<1024xf32>
      metaop.yield %2 : tensor<1024xf32>
    }
    metaop.yield %1 : tensor<1024xf32>
  }
  return %0 : tensor<1024xf32>
}

// CHECK-LABEL: func @small
// CHECK-NOT: stream
// EXPLAIN-LABEL: kernel of @small
// EXPLAIN: write tensor<1023xf32> at (d0) -> (d0): unit stride{{$}}
func.func @small(%x: tensor<1023xf32>) -> tensor<1023xf32> {
  %0 = metaop.kernel(%k = %x : tensor<1023xf32>) -> tensor<1023xf32> {
    %1 = metaop.fused(%a = %k : tensor<1023xf32>) -> tensor<1023xf32> {
      %2 = metaop.exp %a : tensor<1023xf32>
      metaop.yield %2 : tensor<1023xf32>
    }
    metaop.yield %1 : tensor<1023xf32>
  }
  return %0 : tensor<1023xf32>
}

// Of two results, those that are as large; a byte an element is a quarter of a
// line.
// CHECK-LABEL: func @bytes
// CHECK: <[parallel(0, 4096), step(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [1]>
func.func @bytes(%x: tensor<8192xf32>) -> (tensor<8192xi1>, tensor<8192xf32>) {
  %0:2 = metaop.kernel(%k = %x : tensor<8192xf32>) -> (tensor<8192xi1>, tensor<8192xf32>) {
    %1:2 = metaop.fused(%a = %k : tensor<8192xf32>) -> (tensor<8192xi1>, tensor<8192xf32>) {
      %2 = metaop.exp %a : tensor<8192xf32>
      %3 = metaop.cmp lt %a, %2 : tensor<8192xf32> -> tensor<8192xi1>
      metaop.yield %3, %2 : tensor<8192xi1>, tensor<8192xf32>
    }
    metaop.yield %1#0, %1#1 : tensor<8192xi1>, tensor<8192xf32>
  }
  return %0#0, %0#1 : tensor<8192xi1>, tensor<8192xf32>
}

// A result of less than twice that size stays for the kernel that reads it.
// CHECK-LABEL: func @read_soon
// CHECK: metaop.exp
// CHECK-NOT: stream
// CHECK: metaop.reduce
func.func @read_soon(%x: tensor<2047xf32>) -> (tensor<2047xf32>, tensor<f32>) {
  %0 = metaop.kernel(%k = %x : tensor<2047xf32>) -> tensor<2047xf32> {
    %1 = metaop.fused(%a = %k : tensor<2047xf32>) -> tensor<2047xf32> {
      %2 = metaop.exp %a : tensor<2047xf32>
      metaop.yield %2 : tensor<2047xf32>
    }
    metaop.yield %1 : tensor<2047xf32>
  }
  %3 = metaop.kernel(%k = %0 : tensor<2047xf32>) -> tensor<f32> {
    %1 = metaop.fused(%a = %k : tensor<2047xf32>) -> tensor<f32> {
      %2 = metaop.reduce add %a dims = [0] : tensor<2047xf32> -> tensor<f32>
      metaop.yield %2 : tensor<f32>
    }
    metaop.yield %1 : tensor<f32>
  }
  return %0, %3 : tensor<2047xf32>, tensor<f32>
}

// CHECK-LABEL: func @read_late
// CHECK: stream = [0]
// CHECK: metaop.exp
// CHECK-NOT: stream
// CHECK: metaop.reduce
func.func @read_late(%x: tensor<2048xf32>) -> (tensor<2048xf32>, tensor<f32>) {
  %0 = metaop.kernel(%k = %x : tensor<2048xf32>) -> tensor<2048xf32> {
    %1 = metaop.fused(%a = %k : tensor<2048xf32>) -> tensor<2048xf32> {
      %2 = metaop.exp %a : tensor<2048xf32>
      metaop.yield %2 : tensor<2048xf32>
    }
    metaop.yield %1 : tensor<2048xf32>
  }
  %3 = metaop.kernel(%k = %0 : tensor<2048xf32>) -> tensor<f32> {
    %1 = metaop.fused(%a = %k : tensor<2048xf32>) -> tensor<f32> {
      %2 = metaop.reduce add %a dims = [0] : tensor<2048xf32> -> tensor<f32>
      metaop.yield %2 : tensor<f32>
    }
    metaop.yield %1 : tensor<f32>
  }
  return %0, %3 : tensor<2048xf32>, tensor<f32>
}

// Rows that are whole lines, and rows that are not.
// CHECK-LABEL: func @rows
// CHECK: stream = [0]
// CHECK-LABEL: func @odd_rows
// CHECK-NOT: stream
func.func @rows(%x: tensor<64x98xf32>) -> tensor<64x96xf32> {
  %0 = metaop.kernel(%k = %x : tensor<64x98xf32>) -> tensor<64x96xf32> {
    %1 = metaop.fused(%a = %k : tensor<64x98xf32>) -> tensor<64x96xf32> {
      %2 = metaop.reindex %a map affine_map<(i, j) -> (i, j + 1)> fill 0.0 : f32 : tensor<64x98xf32> -> tensor<64x96xf32>
      metaop.yield %2 : tensor<64x96xf32>
    }
    metaop.yield %1 : tensor<64x96xf32>
  }
  return %0 : tensor<64x96xf32>
}
func.func @odd_rows(%x: tensor<64x98xf32>) -> tensor<64x97xf32> {
  %0 = metaop.kernel(%k = %x : tensor<64x98xf32>) -> tensor<64x97xf32> {
    %1 = metaop.fused(%a = %k : tensor<64x98xf32>) -> tensor<64x97xf32> {
      %2 = metaop.reindex %a map affine_map<(i, j) -> (i, j + 1)> fill 0.0 : f32 : tensor<64x98xf32> -> tensor<64x97xf32>
      metaop.yield %2 : tensor<64x97xf32>
    }
    metaop.yield %1 : tensor<64x97xf32>
  }
  return %0 : tensor<64x97xf32>
}

// A tile's rows are whole lines, with vectors of 512 bits.
// CHECK-LABEL: func @transpose
// CHECK: lanes = {{[01]}}: 16, transpose = {{[01]}}, stream = [0]>
// V256-LABEL: func @transpose
// V256: lanes = {{[01]}}: 8, transpose = {{[01]}}>
// CHECK-LABEL: func @transpose_odd
// CHECK: lanes = {{[01]}}: 16, transpose = {{[01]}}>
func.func @transpose(%x: tensor<80x70xf32>) -> tensor<70x80xf32> {
  %0 = metaop.kernel(%k = %x : tensor<80x70xf32>) -> tensor<70x80xf32> {
    %1 = metaop.fused(%a = %k : tensor<80x70xf32>) -> tensor<70x80xf32> {
      %2 = metaop.transpose %a perm = [1, 0] : tensor<80x70xf32> -> tensor<70x80xf32>
      metaop.yield %2 : tensor<70x80xf32>
    }
    metaop.yield %1 : tensor<70x80xf32>
  }
  return %0 : tensor<70x80xf32>
}
func.func @transpose_odd(%x: tensor<81x70xf32>) -> tensor<70x81xf32> {
  %0 = metaop.kernel(%k = %x : tensor<81x70xf32>) -> tensor<70x81xf32> {
    %1 = metaop.fused(%a = %k : tensor<81x70xf32>) -> tensor<70x81xf32> {
      %2 = metaop.transpose %a perm = [1, 0] : tensor<81x70xf32> -> tensor<70x81xf32>
      metaop.yield %2 : tensor<70x81xf32>
    }
    metaop.yield %1 : tensor<70x81xf32>
  }
  return %0 : tensor<70x81xf32>
}

// What is combined is not whole when it is stored first.
// CHECK-LABEL: func @reduced
// CHECK-NOT: stream
func.func @reduced(%x: tensor<3x4096xf32>) -> tensor<4096xf32> {
  %0 = metaop.kernel(%k = %x : tensor<3x4096xf32>) -> tensor<4096xf32> {
    %1 = metaop.fused(%a = %k : tensor<3x4096xf32>) -> tensor<4096xf32> {
      %2 = metaop.reduce add %a dims = [0] : tensor<3x4096xf32> -> tensor<4096xf32>
      metaop.yield %2 : tensor<4096xf32>
    }
    metaop.yield %1 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}

// A schedule that is there stays.
// CHECK-LABEL: func @given
// CHECK-NOT: stream
func.func @given(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = metaop.kernel(%k = %x : tensor<4096xf32>) -> tensor<4096xf32> {
    %1 = metaop.fused(%a = %k : tensor<4096xf32>) -> tensor<4096xf32> schedule(#metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16>) {
      %2 = metaop.exp %a : tensor<4096xf32>
      metaop.yield %2 : tensor<4096xf32>
    }
    metaop.yield %1 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}
