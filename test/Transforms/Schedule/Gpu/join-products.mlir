// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=scheduled target=cuda chip=sm_90a" | FileCheck %s
// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=scheduled target=cuda chip=sm_80" \
// RUN:   | FileCheck %s --check-prefix=SM80

// What goes on with the results of products, and of windows: epilogues, readers of whole
// rows, further products, and what stays apart.

// The epilogue of a product goes on with the tiles that its threads have in registers, the
// sums of a block; its residual is read as the results are written.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0, 64), block(2, 64), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4, 2: 4], staged = [0: 1, 1: 1], place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0, 64), block(1, 64), thread(0), thread(1)], tile = [0: 4, 1: 4], shared = 2>) attributes {first_dims = array<i64: 0, 1>} {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0, 64), block(2, 64), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4, 2: 4], staged = [0: 1, 1: 1], place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(0, 64), block(1, 64), thread(0), thread(1)], tile = [0: 4, 1: 4], shared = 2>) attributes {first_dims = array<i64: 0, 1>} {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<512x256xf32>, %w: tensor<256x1000xf32>, %r: tensor<512x1000xf32>) -> tensor<512x1000xf32> {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<512x256xf32> -> tensor<512x256x1000xf32>
  %1 = metaop.broadcast %w dims = [1, 2] : tensor<256x1000xf32> -> tensor<512x256x1000xf32>
  %2 = metaop.mul %0, %1 : tensor<512x256x1000xf32>
  %p = metaop.reduce add %2 dims = [1] : tensor<512x256x1000xf32> -> tensor<512x1000xf32>
  %e = metaop.exp %p : tensor<512x1000xf32>
  %y = metaop.add %e, %r : tensor<512x1000xf32>
  return %y : tensor<512x1000xf32>
}

// -----

// Not where the sums are kept as well and what follows lies in another order: neighbouring
// threads would write far apart. What is not joined is one loop.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0, 64), block(2, 64), {{.*}}], tile = [0: 4, 2: 4], staged = [0: 1, 1: 1]>) {
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0, 32), block(1, 32), {{.*}}>) {
// SM80-LABEL: func @main(
// SM80-COUNT-2: metaop.kernel(
func.func @main(%x: tensor<512x256xf32>, %w: tensor<256x1000xf32>) -> (tensor<512x1000xf32>, tensor<1000x512xf32>) {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<512x256xf32> -> tensor<512x256x1000xf32>
  %1 = metaop.broadcast %w dims = [1, 2] : tensor<256x1000xf32> -> tensor<512x256x1000xf32>
  %2 = metaop.mul %0, %1 : tensor<512x256x1000xf32>
  %p = metaop.reduce add %2 dims = [1] : tensor<512x256x1000xf32> -> tensor<512x1000xf32>
  %t = metaop.reindex %p map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32 : tensor<512x1000xf32> -> tensor<1000x512xf32>
  %y = metaop.exp %t : tensor<1000x512xf32>
  return %p, %y : tensor<512x1000xf32>, tensor<1000x512xf32>
}

// -----

// The rows of all members of a batch are one loop, in both stages.
// CHECK-LABEL: func @main(
// CHECK: schedule(#metaop.schedule<[block(0, 64), block(2, 64), {{.*}}, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0, 64), block(1, 64), thread(0), thread(1)], tile = [0: 4, 1: 4], shared = 2>) attributes {first_dims = array<i64: 0, 2>} {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80-COUNT-1: metaop.kernel(
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<8x64x256xf32>, %w: tensor<256x1000xf32>) -> tensor<8x64x1000xf32> {
  %0 = metaop.broadcast %x dims = [0, 1, 2] : tensor<8x64x256xf32> -> tensor<8x64x256x1000xf32>
  %1 = metaop.broadcast %w dims = [2, 3] : tensor<256x1000xf32> -> tensor<8x64x256x1000xf32>
  %2 = metaop.mul %0, %1 : tensor<8x64x256x1000xf32>
  %p = metaop.reduce add %2 dims = [2] : tensor<8x64x256x1000xf32> -> tensor<8x64x1000xf32>
  %y = metaop.exp %p : tensor<8x64x1000xf32>
  return %y : tensor<8x64x1000xf32>
}

// -----

// A product of few results and a long sum is split in blocks of that, which an epilogue
// would keep it from.
// CHECK-LABEL: func @main(
// CHECK: -> tensor<32x64x64xf32>
// CHECK: -> tensor<64x64xf32>
// SM80-LABEL: func @main(
// SM80: -> tensor<32x64x64xf32>
// SM80: -> tensor<64x64xf32>
func.func @main(%x: tensor<64x65536xf32>, %w: tensor<65536x64xf32>, %r: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<64x65536xf32> -> tensor<64x65536x64xf32>
  %1 = metaop.broadcast %w dims = [1, 2] : tensor<65536x64xf32> -> tensor<64x65536x64xf32>
  %2 = metaop.mul %0, %1 : tensor<64x65536x64xf32>
  %p = metaop.reduce add %2 dims = [1] : tensor<64x65536x64xf32> -> tensor<64x64xf32>
  %y = metaop.add %p, %r : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// A softmax of the products of a batch shares its own rows, of all members of the batch.
// CHECK-LABEL: func @main(
// CHECK-COUNT-2: metaop.kernel(
// CHECK-NOT: metaop.kernel(
// SM80-LABEL: func @main(
// SM80-COUNT-2: metaop.kernel(
// SM80-NOT: metaop.kernel(
func.func @main(%x: tensor<32x128x64xf32>, %w: tensor<32x64x256xf32>, %b: tensor<256xf32>) -> tensor<32x128x256xf32> {
  %0 = metaop.broadcast %x dims = [0, 1, 2] : tensor<32x128x64xf32> -> tensor<32x128x64x256xf32>
  %1 = metaop.broadcast %w dims = [0, 2, 3] : tensor<32x64x256xf32> -> tensor<32x128x64x256xf32>
  %2 = metaop.mul %0, %1 : tensor<32x128x64x256xf32>
  %p = metaop.reduce add %2 dims = [2] : tensor<32x128x64x256xf32> -> tensor<32x128x256xf32>
  %3 = metaop.broadcast %b dims = [2] : tensor<256xf32> -> tensor<32x128x256xf32>
  %z = metaop.add %p, %3 : tensor<32x128x256xf32>
  %m = metaop.reduce max %z dims = [2] : tensor<32x128x256xf32> -> tensor<32x128xf32>
  %4 = metaop.broadcast %m dims = [0, 1] : tensor<32x128xf32> -> tensor<32x128x256xf32>
  %5 = metaop.sub %z, %4 : tensor<32x128x256xf32>
  %e = metaop.exp %5 : tensor<32x128x256xf32>
  %s = metaop.reduce add %e dims = [2] : tensor<32x128x256xf32> -> tensor<32x128xf32>
  %6 = metaop.broadcast %s dims = [0, 1] : tensor<32x128xf32> -> tensor<32x128x256xf32>
  %y = metaop.div %e, %6 : tensor<32x128x256xf32>
  return %y : tensor<32x128x256xf32>
}

// -----

// What follows sums of windows, of which each thread has its own.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0), block(1, 16), block(2, 64), thread(1), thread(2), step(3), step(4)], tile = [1: 4], place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0), block(1, 16), block(2, 64), thread(1), thread(2)], tile = [1: 4], shared = 3>)
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
func.func @main(%x: tensor<8x64x66x66xf32>, %y: tensor<8x64x64x64xf32>) -> tensor<8x64x64x64xf32> {
  %0 = metaop.reindex %x map affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4, d3 + d5)> fill 0.0 : f32 : tensor<8x64x66x66xf32> -> tensor<8x64x64x64x3x3xf32>
  %1 = metaop.reduce add %0 dims = [4, 5] : tensor<8x64x64x64x3x3xf32> -> tensor<8x64x64x64xf32>
  %2 = metaop.mul %1, %y : tensor<8x64x64x64xf32>
  return %2 : tensor<8x64x64x64xf32>
}

// -----

// A block of a product has whole rows of ten classes: it goes on with their softmax, each
// thread with the tile of sums in its registers.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0, 64), step(2, 16), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4, 2: 2], staged = [0: 1, 1: 1], place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0, 64), step(1, 16), thread(0), thread(1)], tile = [0: 4, 1: 2], place = [registers], shared = 1>) {
// CHECK-NOT: metaop.kernel(
// SM80-LABEL: func @main(
// SM80-COUNT-1: metaop.kernel(
// SM80-NOT: metaop.kernel(
func.func @main(%x: tensor<16384x256xf32>, %w: tensor<256x10xf32>) -> tensor<16384x10xf32> {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<16384x256xf32> -> tensor<16384x256x10xf32>
  %1 = metaop.broadcast %w dims = [1, 2] : tensor<256x10xf32> -> tensor<16384x256x10xf32>
  %2 = metaop.mul %0, %1 : tensor<16384x256x10xf32>
  %p = metaop.reduce add %2 dims = [1] : tensor<16384x256x10xf32> -> tensor<16384x10xf32>
  %m = metaop.reduce max %p dims = [1] : tensor<16384x10xf32> -> tensor<16384xf32>
  %3 = metaop.broadcast %m dims = [0] : tensor<16384xf32> -> tensor<16384x10xf32>
  %4 = metaop.sub %p, %3 : tensor<16384x10xf32>
  %e = metaop.exp %4 : tensor<16384x10xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<16384x10xf32> -> tensor<16384xf32>
  %5 = metaop.broadcast %s dims = [0] : tensor<16384xf32> -> tensor<16384x10xf32>
  %y = metaop.div %e, %5 : tensor<16384x10xf32>
  return %y : tensor<16384x10xf32>
}

// -----

// A second product reads the rows of the first where they are, in the block's memory, and
// stages the other factor alone.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0, 64), step(2, 64), step(1, 4), thread(0), thread(2), step(1)], tile = [0: 4, 2: 4], staged = [0: 1, 1: 1], place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0, 64), step(1, 64), thread(0), thread(1)], tile = [0: 4, 1: 4], place = [shared], shared = 1>)
// CHECK: schedule(#metaop.schedule<[block(0, 64), step(2, 64), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4, 2: 4], staged = [1: 1], shared = 1>) {
// CHECK-NOT: metaop.kernel(
// SM80-LABEL: func @main(
// SM80-COUNT-1: metaop.kernel(
// SM80-NOT: metaop.kernel(
func.func @main(%x: tensor<65536x3xf32>, %w: tensor<3x64xf32>, %v: tensor<64x64xf32>) -> tensor<65536x64xf32> {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<65536x3xf32> -> tensor<65536x3x64xf32>
  %1 = metaop.broadcast %w dims = [1, 2] : tensor<3x64xf32> -> tensor<65536x3x64xf32>
  %2 = metaop.mul %0, %1 : tensor<65536x3x64xf32>
  %p = metaop.reduce add %2 dims = [1] : tensor<65536x3x64xf32> -> tensor<65536x64xf32>
  %h = metaop.tanh %p : tensor<65536x64xf32>
  %3 = metaop.broadcast %h dims = [0, 1] : tensor<65536x64xf32> -> tensor<65536x64x64xf32>
  %4 = metaop.broadcast %v dims = [1, 2] : tensor<64x64xf32> -> tensor<65536x64x64xf32>
  %5 = metaop.mul %3, %4 : tensor<65536x64x64xf32>
  %y = metaop.reduce add %5 dims = [1] : tensor<65536x64x64xf32> -> tensor<65536x64xf32>
  return %y : tensor<65536x64xf32>
}

// -----

// Rows longer than a block's tile are several blocks', and their maxima a kernel's own.
// CHECK-LABEL: func @main(
// CHECK-COUNT-2: metaop.kernel(
// CHECK-NOT: metaop.kernel(
// SM80-LABEL: func @main(
// SM80-COUNT-2: metaop.kernel(
func.func @main(%x: tensor<16384x256xf32>, %w: tensor<256x128xf32>) -> tensor<16384xf32> {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<16384x256xf32> -> tensor<16384x256x128xf32>
  %1 = metaop.broadcast %w dims = [1, 2] : tensor<256x128xf32> -> tensor<16384x256x128xf32>
  %2 = metaop.mul %0, %1 : tensor<16384x256x128xf32>
  %p = metaop.reduce add %2 dims = [1] : tensor<16384x256x128xf32> -> tensor<16384x128xf32>
  %m = metaop.reduce max %p dims = [1] : tensor<16384x128xf32> -> tensor<16384xf32>
  return %m : tensor<16384xf32>
}

// -----

// What would have sums in more than registers, one for each column while the block goes
// through rows, stays apart.
// CHECK-LABEL: func @main(
// CHECK-COUNT-2: metaop.kernel(
// CHECK-NOT: metaop.kernel(
// SM80-LABEL: func @main(
// SM80-COUNT-2: metaop.kernel(
func.func @main(%x: tensor<64x16x16xf32>, %w: tensor<64x16x16xf32>) -> tensor<64x40xf32> {
  %0 = metaop.broadcast %x dims = [0, 1, 2] : tensor<64x16x16xf32> -> tensor<64x16x16x16xf32>
  %1 = metaop.broadcast %w dims = [0, 2, 3] : tensor<64x16x16xf32> -> tensor<64x16x16x16xf32>
  %2 = metaop.mul %0, %1 : tensor<64x16x16x16xf32>
  %p = metaop.reduce add %2 dims = [2] : tensor<64x16x16x16xf32> -> tensor<64x16x16xf32>
  %3 = metaop.reindex %p map affine_map<(d0, d1, d2) -> (d0, d1 - 12, d2 - 12)> fill 0.0 : f32 : tensor<64x16x16xf32> -> tensor<64x40x40xf32>
  %y = metaop.reduce max %3 dims = [1] : tensor<64x40x40xf32> -> tensor<64x40xf32>
  return %y : tensor<64x40xf32>
}

// -----

// Nor are 64 members of a batch, which as many blocks do side by side, one block's.
// CHECK-LABEL: func @main(
// CHECK-COUNT-2: metaop.kernel(
// CHECK-NOT: metaop.kernel(
// SM80-LABEL: func @main(
// SM80-COUNT-2: metaop.kernel(
func.func @main(%x: tensor<64x8x32xf32>, %w: tensor<64x32x8xf32>, %b: tensor<8xf32>) -> tensor<8x8xf32> {
  %0 = metaop.broadcast %x dims = [0, 1, 2] : tensor<64x8x32xf32> -> tensor<64x8x32x8xf32>
  %1 = metaop.broadcast %w dims = [0, 2, 3] : tensor<64x32x8xf32> -> tensor<64x8x32x8xf32>
  %2 = metaop.mul %0, %1 : tensor<64x8x32x8xf32>
  %p = metaop.reduce add %2 dims = [2] : tensor<64x8x32x8xf32> -> tensor<64x8x8xf32>
  %3 = metaop.broadcast %b dims = [2] : tensor<8xf32> -> tensor<64x8x8xf32>
  %4 = metaop.add %p, %3 : tensor<64x8x8xf32>
  %5 = metaop.tanh %4 : tensor<64x8x8xf32>
  %y = metaop.reduce add %5 dims = [0] : tensor<64x8x8xf32> -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
