// The loop that carries prefixes is the innermost. Vectors lie along another dimension,
// with chains side by side; where tensors are contiguous along the prefixes, tiles are
// transposed.
// RUN: metaop-opt %s --metaop-pipeline="to=scheduled processor=avx512" | FileCheck %s

// CHECK-LABEL: func.func @columns
// CHECK: #metaop.schedule<[parallel(1, 256), step(1, 128), step(0)], tile = [1: 128], lanes = 1: 16>
func.func @columns(%x: tensor<100x5000xf32>) -> tensor<100x5000xf32> {
  %y = metaop.prefix add %x dim = 0 : tensor<100x5000xf32>
  return %y : tensor<100x5000xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: #metaop.schedule<[parallel(0, 16), step(0, 16), step(1, 16)], tile = [0: 16, 1: 16], lanes = 0: 16, transpose = 1>
func.func @rows(%x: tensor<40x100xf32>) -> tensor<40x100xf32> {
  %y = metaop.prefix add %x dim = 1 : tensor<40x100xf32>
  return %y : tensor<40x100xf32>
}

// Backwards, a tile holds the same rows.
// CHECK-LABEL: func.func @backwards
// CHECK: transpose = 1>
func.func @backwards(%x: tensor<40x100xf32>) -> tensor<40x100xf32> {
  %y = metaop.prefix add %x dim = 1 reverse : tensor<40x100xf32>
  return %y : tensor<40x100xf32>
}

// Lanes a few elements apart are no tiles.
// CHECK-LABEL: func.func @short
// CHECK: #metaop.schedule<[step(0, 16), step(1)], tile = [0: 16], lanes = 0: 16>
func.func @short(%x: tensor<12x3xf32>) -> tensor<12x3xf32> {
  %y = metaop.prefix add %x dim = 1 : tensor<12x3xf32>
  return %y : tensor<12x3xf32>
}

// One line has one chain.
// CHECK-LABEL: func.func @line
// CHECK: #metaop.schedule<[step(0)]>
func.func @line(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %y = metaop.prefix mul %x dim = 0 : tensor<1000xf32>
  return %y : tensor<1000xf32>
}

// Neighbouring dimensions become one loop, but for that of the prefixes, which does not
// go away for having one iteration.
// CHECK-LABEL: func.func @collapsed
// CHECK: #metaop.schedule<[step(1, 16), step(0)], tile = [1: 16], lanes = 1: 16>
func.func @collapsed(%x: tensor<1x4x5xf32>) -> tensor<1x4x5xf32> {
  %y = metaop.prefix add %x dim = 0 exclusive : tensor<1x4x5xf32>
  return %y : tensor<1x4x5xf32>
}
