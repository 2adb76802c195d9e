// RUN: metaop-opt %s -metaop-schedule-gpu=chip=sm_90a | FileCheck %s

// What is chosen for stages that are alone in their kernel.

// Four vectors on their way in each of 256 threads.
// CHECK-LABEL: func @elementwise(
// CHECK: schedule(#metaop.schedule<[block(0, 4096), thread(0, 4)], tile = [0: 16], lanes = 0: 4>) {
func.func @elementwise(%a: tensor<64x1048576xf32>) -> tensor<64x1048576xf32> {
  %r = metaop.fused(%ba = %a : tensor<64x1048576xf32>) -> tensor<64x1048576xf32> {
    %0 = metaop.exp %ba : tensor<64x1048576xf32>
    metaop.yield %0 : tensor<64x1048576xf32>
  }
  return %r : tensor<64x1048576xf32>
}

// Eight elements are 16 bytes.
// CHECK-LABEL: func @elementwise_bf16(
// CHECK: schedule(#metaop.schedule<[block(0, 4096), thread(0, 8)], tile = [0: 16], lanes = 0: 8>) {
func.func @elementwise_bf16(%a: tensor<64x1048576xbf16>) -> tensor<64x1048576xbf16> {
  %r = metaop.fused(%ba = %a : tensor<64x1048576xbf16>) -> tensor<64x1048576xbf16> {
    %0 = metaop.exp %ba : tensor<64x1048576xbf16>
    metaop.yield %0 : tensor<64x1048576xbf16>
  }
  return %r : tensor<64x1048576xbf16>
}

// Offsets are those of vectors though the extent is odd.
// CHECK-LABEL: func @elementwise_odd(
// CHECK: schedule(#metaop.schedule<[block(0, 4096), thread(0, 4)], tile = [0: 16], lanes = 0: 4>) {
func.func @elementwise_odd(%a: tensor<67108865xf32>) -> tensor<67108865xf32> {
  %r = metaop.fused(%ba = %a : tensor<67108865xf32>) -> tensor<67108865xf32> {
    %0 = metaop.exp %ba : tensor<67108865xf32>
    metaop.yield %0 : tensor<67108865xf32>
  }
  return %r : tensor<67108865xf32>
}

// What is small has fewer elements a thread, and fewer threads a block.
// CHECK-LABEL: func @elementwise_small(
// CHECK: schedule(#metaop.schedule<[block(0, 256), thread(0, 4)], tile = [0: 4], lanes = 0: 4>) {
func.func @elementwise_small(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %r = metaop.fused(%ba = %a : tensor<4096xf32>) -> tensor<4096xf32> {
    %0 = metaop.exp %ba : tensor<4096xf32>
    metaop.yield %0 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}

// Two operands have as many bytes on their way.
// CHECK-LABEL: func @two_operands(
// CHECK: schedule(#metaop.schedule<[block(0, 2048), thread(0, 4)], tile = [0: 8], lanes = 0: 4>) {
func.func @two_operands(%a: tensor<64x1048576xf32>, %b: tensor<64x1048576xf32>) -> tensor<64x1048576xf32> {
  %r = metaop.fused(%ba = %a : tensor<64x1048576xf32>, %bb = %b : tensor<64x1048576xf32>) -> tensor<64x1048576xf32> {
    %0 = metaop.add %ba, %bb : tensor<64x1048576xf32>
    metaop.yield %0 : tensor<64x1048576xf32>
  }
  return %r : tensor<64x1048576xf32>
}

// Rows of odd length do not begin where vectors do.
// CHECK-LABEL: func @broadcast_odd_rows(
// CHECK: schedule(#metaop.schedule<[block(0), block(1, 1024), thread(1)], tile = [1: 4]>) {
func.func @broadcast_odd_rows(%a: tensor<4096x1001xf32>, %b: tensor<4096xf32>) -> tensor<4096x1001xf32> {
  %r = metaop.fused(%ba = %a : tensor<4096x1001xf32>, %bb = %b : tensor<4096xf32>) -> tensor<4096x1001xf32> {
    %1 = metaop.broadcast %bb dims = [0] : tensor<4096xf32> -> tensor<4096x1001xf32>
    %0 = metaop.add %ba, %1 : tensor<4096x1001xf32>
    metaop.yield %0 : tensor<4096x1001xf32>
  }
  return %r : tensor<4096x1001xf32>
}

// Short rows share a block, and where these are many, each has several such pieces.
// CHECK-LABEL: func @rows_64(
// CHECK: schedule(#metaop.schedule<[block(0, 64), step(0, 16), step(1, 64), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4>) {
func.func @rows_64(%a: tensor<1048576x64xf32>) -> tensor<1048576xf32> {
  %r = metaop.fused(%ba = %a : tensor<1048576x64xf32>) -> tensor<1048576xf32> {
    %0 = metaop.reduce add %ba dims = [1] : tensor<1048576x64xf32> -> tensor<1048576xf32>
    metaop.yield %0 : tensor<1048576xf32>
  }
  return %r : tensor<1048576xf32>
}

// Enough for a block each, but not for several.
// CHECK-LABEL: func @fewer_rows_64(
// CHECK: schedule(#metaop.schedule<[block(0, 16), step(1, 64), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4>) {
func.func @fewer_rows_64(%a: tensor<131072x64xf32>) -> tensor<131072xf32> {
  %r = metaop.fused(%ba = %a : tensor<131072x64xf32>) -> tensor<131072xf32> {
    %0 = metaop.reduce add %ba dims = [1] : tensor<131072x64xf32> -> tensor<131072xf32>
    metaop.yield %0 : tensor<131072xf32>
  }
  return %r : tensor<131072xf32>
}

// What is read along another loop than it is written has few bytes a block.
// CHECK-LABEL: func @small_pieces(
// CHECK: schedule(#metaop.schedule<[block(0, 4096), step(0, 1024), thread(0)], tile = [0: 4]>) {
func.func @small_pieces(%a: tensor<67108864xi8>) -> tensor<67108864xi8> {
  %r = metaop.fused(%ba = %a : tensor<67108864xi8>) -> tensor<67108864xi8> {
    %0 = metaop.reindex %ba map affine_map<(d0) -> (67108863 - d0)> fill 0 : i8 : tensor<67108864xi8> -> tensor<67108864xi8>
    metaop.yield %0 : tensor<67108864xi8>
  }
  return %r : tensor<67108864xi8>
}

// Threads of a row are a power of two.
// CHECK-LABEL: func @rows_1000(
// CHECK: schedule(#metaop.schedule<[block(0, 4), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
func.func @rows_1000(%a: tensor<67108x1000xf32>) -> tensor<67108xf32> {
  %r = metaop.fused(%ba = %a : tensor<67108x1000xf32>) -> tensor<67108xf32> {
    %0 = metaop.reduce add %ba dims = [1] : tensor<67108x1000xf32> -> tensor<67108xf32>
    metaop.yield %0 : tensor<67108xf32>
  }
  return %r : tensor<67108xf32>
}

// CHECK-LABEL: func @rows_1024(
// CHECK: schedule(#metaop.schedule<[block(0, 4), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
func.func @rows_1024(%a: tensor<65536x1024xf32>) -> tensor<65536xf32> {
  %r = metaop.fused(%ba = %a : tensor<65536x1024xf32>) -> tensor<65536xf32> {
    %0 = metaop.reduce add %ba dims = [1] : tensor<65536x1024xf32> -> tensor<65536xf32>
    metaop.yield %0 : tensor<65536xf32>
  }
  return %r : tensor<65536xf32>
}

// CHECK-LABEL: func @rows_4096(
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
func.func @rows_4096(%a: tensor<16384x4096xf32>) -> tensor<16384xf32> {
  %r = metaop.fused(%ba = %a : tensor<16384x4096xf32>) -> tensor<16384xf32> {
    %0 = metaop.reduce add %ba dims = [1] : tensor<16384x4096xf32> -> tensor<16384xf32>
    metaop.yield %0 : tensor<16384xf32>
  }
  return %r : tensor<16384xf32>
}

// CHECK-LABEL: func @rows_32768(
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
func.func @rows_32768(%a: tensor<2048x32768xf32>) -> tensor<2048xf32> {
  %r = metaop.fused(%ba = %a : tensor<2048x32768xf32>) -> tensor<2048xf32> {
    %0 = metaop.reduce add %ba dims = [1] : tensor<2048x32768xf32> -> tensor<2048xf32>
    metaop.yield %0 : tensor<2048xf32>
  }
  return %r : tensor<2048xf32>
}

// Rows that are few and long have more threads.
// CHECK-LABEL: func @rows_262144(
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 8192), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
func.func @rows_262144(%a: tensor<256x262144xf32>) -> tensor<256xf32> {
  %r = metaop.fused(%ba = %a : tensor<256x262144xf32>) -> tensor<256xf32> {
    %0 = metaop.reduce add %ba dims = [1] : tensor<256x262144xf32> -> tensor<256xf32>
    metaop.yield %0 : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}

// Odd rows have scalars.
// CHECK-LABEL: func @rows_odd(
// CHECK: schedule(#metaop.schedule<[block(0, 4), step(0), step(1, 1024), thread(1)], tile = [1: 4]>) {
func.func @rows_odd(%a: tensor<65536x1001xf32>) -> tensor<65536xf32> {
  %r = metaop.fused(%ba = %a : tensor<65536x1001xf32>) -> tensor<65536xf32> {
    %0 = metaop.reduce add %ba dims = [1] : tensor<65536x1001xf32> -> tensor<65536xf32>
    metaop.yield %0 : tensor<65536xf32>
  }
  return %r : tensor<65536xf32>
}

// CHECK-LABEL: func @rows_bf16(
// CHECK: schedule(#metaop.schedule<[block(0, 2), step(1, 4096), thread(0), thread(1, 8)], tile = [1: 32], lanes = 1: 8>) {
func.func @rows_bf16(%a: tensor<16384x4096xbf16>) -> tensor<16384xbf16> {
  %r = metaop.fused(%ba = %a : tensor<16384x4096xbf16>) -> tensor<16384xbf16> {
    %0 = metaop.reduce add %ba dims = [1] : tensor<16384x4096xbf16> -> tensor<16384xbf16>
    metaop.yield %0 : tensor<16384xbf16>
  }
  return %r : tensor<16384xbf16>
}

// Neighbouring threads have neighbouring columns.
// CHECK-LABEL: func @columns(
// CHECK: schedule(#metaop.schedule<[block(1, 32), step(0, 256), thread(0), thread(1)], tile = [0: 8]>) {
func.func @columns(%a: tensor<16384x4096xf32>) -> tensor<4096xf32> {
  %r = metaop.fused(%ba = %a : tensor<16384x4096xf32>) -> tensor<4096xf32> {
    %0 = metaop.reduce add %ba dims = [0] : tensor<16384x4096xf32> -> tensor<4096xf32>
    metaop.yield %0 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}

// CHECK-LABEL: func @columns_few(
// CHECK: schedule(#metaop.schedule<[block(1, 32), step(0, 256), thread(0), thread(1)], tile = [0: 8]>) {
func.func @columns_few(%a: tensor<65536x48xf32>) -> tensor<48xf32> {
  %r = metaop.fused(%ba = %a : tensor<65536x48xf32>) -> tensor<48xf32> {
    %0 = metaop.reduce add %ba dims = [0] : tensor<65536x48xf32> -> tensor<48xf32>
    metaop.yield %0 : tensor<48xf32>
  }
  return %r : tensor<48xf32>
}

// A word is two elements. 64 blocks are too few for the chip: two of a cluster
// share columns.
// CHECK-LABEL: func @columns_bf16(
// CHECK: schedule(#metaop.schedule<[cluster(1, 64), cluster(0, 16384), block(0, 8192), step(0, 256), thread(0), thread(1, 2)], tile = [0: 8, 1: 2], lanes = 1: 2>) {
func.func @columns_bf16(%a: tensor<16384x4096xbf16>) -> tensor<4096xbf16> {
  %r = metaop.fused(%ba = %a : tensor<16384x4096xbf16>) -> tensor<4096xbf16> {
    %0 = metaop.reduce add %ba dims = [0] : tensor<16384x4096xbf16> -> tensor<4096xbf16>
    metaop.yield %0 : tensor<4096xbf16>
  }
  return %r : tensor<4096xbf16>
}

// Few iterations are each thread's own.
// CHECK-LABEL: func @window(
// CHECK: schedule(#metaop.schedule<[block(0, 16), block(2, 256), thread(0), thread(2, 4), step(1)], tile = [0: 4, 2: 4], lanes = 2: 4>) {
func.func @window(%a: tensor<65536x4x256xf32>) -> tensor<65536x256xf32> {
  %r = metaop.fused(%ba = %a : tensor<65536x4x256xf32>) -> tensor<65536x256xf32> {
    %0 = metaop.reduce add %ba dims = [1] : tensor<65536x4x256xf32> -> tensor<65536x256xf32>
    metaop.yield %0 : tensor<65536x256xf32>
  }
  return %r : tensor<65536x256xf32>
}

// After what was split: one block.
// CHECK-LABEL: func @all(
// CHECK: schedule(#metaop.schedule<[step(0, 384), thread(0, 4)], tile = [0: 12], lanes = 0: 4>) {
func.func @all(%a: tensor<264xf32>) -> tensor<f32> {
  %r = metaop.fused(%ba = %a : tensor<264xf32>) -> tensor<f32> {
    %0 = metaop.reduce add %ba dims = [0] : tensor<264xf32> -> tensor<f32>
    metaop.yield %0 : tensor<f32>
  }
  return %r : tensor<f32>
}

// Squares, of which a row is one bank longer.
// CHECK-LABEL: func @transpose(
// CHECK: schedule(#metaop.schedule<[block(0, 32), block(1, 32), thread(0), thread(1)], tile = [0: 4], staged = [0: 1]>) {
func.func @transpose(%a: tensor<4096x2048xf32>) -> tensor<2048x4096xf32> {
  %r = metaop.fused(%ba = %a : tensor<4096x2048xf32>) -> tensor<2048x4096xf32> {
    %0 = metaop.transpose %ba perm = [1, 0] : tensor<4096x2048xf32> -> tensor<2048x4096xf32>
    metaop.yield %0 : tensor<2048x4096xf32>
  }
  return %r : tensor<2048x4096xf32>
}

// A word is two elements.
// CHECK-LABEL: func @transpose_bf16(
// CHECK: schedule(#metaop.schedule<[block(0, 64), block(1, 32), thread(0), thread(1)], tile = [0: 8], staged = [0: 2]>) {
func.func @transpose_bf16(%a: tensor<4096x2048xbf16>) -> tensor<2048x4096xbf16> {
  %r = metaop.fused(%ba = %a : tensor<4096x2048xbf16>) -> tensor<2048x4096xbf16> {
    %0 = metaop.transpose %ba perm = [1, 0] : tensor<4096x2048xbf16> -> tensor<2048x4096xbf16>
    metaop.yield %0 : tensor<2048x4096xbf16>
  }
  return %r : tensor<2048x4096xbf16>
}

// What stays innermost needs no square.
// CHECK-LABEL: func @transpose_inner(
// CHECK: schedule(#metaop.schedule<[block(0), block(1, 4), block(2, 1024), thread(2, 4)], tile = [1: 4, 2: 4], lanes = 2: 4>) {
func.func @transpose_inner(%a: tensor<64x32x1024xf32>) -> tensor<32x64x1024xf32> {
  %r = metaop.fused(%ba = %a : tensor<64x32x1024xf32>) -> tensor<32x64x1024xf32> {
    %0 = metaop.transpose %ba perm = [1, 0, 2] : tensor<64x32x1024xf32> -> tensor<32x64x1024xf32>
    metaop.yield %0 : tensor<32x64x1024xf32>
  }
  return %r : tensor<32x64x1024xf32>
}

// Rows of three elements are in one line with their neighbours.
// CHECK-LABEL: func @transpose_short(
// CHECK: schedule(#metaop.schedule<[block(0), block(1, 512), thread(1)], tile = [1: 2]>) {
func.func @transpose_short(%a: tensor<65536x3xf32>) -> tensor<3x65536xf32> {
  %r = metaop.fused(%ba = %a : tensor<65536x3xf32>) -> tensor<3x65536xf32> {
    %0 = metaop.transpose %ba perm = [1, 0] : tensor<65536x3xf32> -> tensor<3x65536xf32>
    metaop.yield %0 : tensor<3x65536xf32>
  }
  return %r : tensor<3x65536xf32>
}

// CHECK-LABEL: func @permute(
// CHECK: schedule(#metaop.schedule<[block(0, 32), block(1, 32), thread(0), thread(1)], tile = [0: 4], staged = [0: 1]>) {
func.func @permute(%a: tensor<64x512x256xf32>) -> tensor<256x64x512xf32> {
  %r = metaop.fused(%ba = %a : tensor<64x512x256xf32>) -> tensor<256x64x512xf32> {
    %0 = metaop.transpose %ba perm = [2, 0, 1] : tensor<64x512x256xf32> -> tensor<256x64x512xf32>
    metaop.yield %0 : tensor<256x64x512xf32>
  }
  return %r : tensor<256x64x512xf32>
}

// Both factors go through shared memory.
// CHECK-LABEL: func @matmul(
// CHECK: schedule(#metaop.schedule<[block(0, 64), block(2, 64), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4, 2: 4], staged = [0: 1, 1: 1]>) {
func.func @matmul(%a: tensor<1024x512xf32>, %b: tensor<512x2048xf32>) -> tensor<1024x2048xf32> {
  %r = metaop.fused(%ba = %a : tensor<1024x512xf32>, %bb = %b : tensor<512x2048xf32>) -> tensor<1024x2048xf32> {
    %1 = metaop.broadcast %ba dims = [0, 1] : tensor<1024x512xf32> -> tensor<1024x512x2048xf32>
    %2 = metaop.broadcast %bb dims = [1, 2] : tensor<512x2048xf32> -> tensor<1024x512x2048xf32>
    %3 = metaop.mul %1, %2 : tensor<1024x512x2048xf32>
    %0 = metaop.reduce add %3 dims = [1] : tensor<1024x512x2048xf32> -> tensor<1024x2048xf32>
    metaop.yield %0 : tensor<1024x2048xf32>
  }
  return %r : tensor<1024x2048xf32>
}

// CHECK-LABEL: func @matmul_small(
// CHECK: schedule(#metaop.schedule<[block(0, 32), block(2, 8), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4], staged = [0: 1, 1: 1]>) {
func.func @matmul_small(%a: tensor<17x33xf32>, %b: tensor<33x5xf32>) -> tensor<17x5xf32> {
  %r = metaop.fused(%ba = %a : tensor<17x33xf32>, %bb = %b : tensor<33x5xf32>) -> tensor<17x5xf32> {
    %1 = metaop.broadcast %ba dims = [0, 1] : tensor<17x33xf32> -> tensor<17x33x5xf32>
    %2 = metaop.broadcast %bb dims = [1, 2] : tensor<33x5xf32> -> tensor<17x33x5xf32>
    %3 = metaop.mul %1, %2 : tensor<17x33x5xf32>
    %0 = metaop.reduce add %3 dims = [1] : tensor<17x33x5xf32> -> tensor<17x5xf32>
    metaop.yield %0 : tensor<17x5xf32>
  }
  return %r : tensor<17x5xf32>
}

// Chains side by side.
// CHECK-LABEL: func @prefix(
// CHECK: schedule(#metaop.schedule<[block(1, 64), thread(1), step(0)]>) {
func.func @prefix(%a: tensor<4096x300xf32>) -> tensor<4096x300xf32> {
  %r = metaop.fused(%ba = %a : tensor<4096x300xf32>) -> tensor<4096x300xf32> {
    %0 = metaop.prefix add %ba dim = 0 : tensor<4096x300xf32>
    metaop.yield %0 : tensor<4096x300xf32>
  }
  return %r : tensor<4096x300xf32>
}

// Half a warp has a column of 16, and the other half the next one: rows of the square are
// two words longer than the banks, so that these lie between each other.
// CHECK-LABEL: func @transpose_of_16(
// CHECK: schedule(#metaop.schedule<[block(0), block(1, 32), block(2, 16), thread(1), thread(2)], tile = [1: 2], staged = [0: 2]>) {
func.func @transpose_of_16(%a: tensor<4x16x1024xf32>) -> tensor<4x1024x16xf32> {
  %r = metaop.fused(%ba = %a : tensor<4x16x1024xf32>) -> tensor<4x1024x16xf32> {
    %0 = metaop.reindex %ba map affine_map<(d0, d1, d2) -> (d0, d2, d1)> fill 0.0 : f32 : tensor<4x16x1024xf32> -> tensor<4x1024x16xf32>
    metaop.yield %0 : tensor<4x1024x16xf32>
  }
  return %r : tensor<4x1024x16xf32>
}

// A cluster would have all of a loop, which grows here.
// CHECK-LABEL: func @varying(
// CHECK: schedule(#metaop.schedule<[block(
// CHECK-NOT: cluster
func.func @varying(%a: tensor<50x65x1024xf32> {metaop.varying = array<i64: 1>}) -> tensor<50xf32> {
  %r = metaop.fused(%ba = %a : tensor<50x65x1024xf32>) -> tensor<50xf32> attributes {metaop.varying = array<i64: 1>} {
    %0 = metaop.reduce add %ba dims = [1, 2] : tensor<50x65x1024xf32> -> tensor<50xf32>
    metaop.yield %0 : tensor<50xf32>
  }
  return %r : tensor<50xf32>
}
