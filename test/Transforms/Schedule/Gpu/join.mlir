// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=scheduled target=cuda chip=sm_90a" | FileCheck %s
// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=scheduled target=cuda chip=sm_80" \
// RUN:   | FileCheck %s --check-prefix=SM80

// Stages that share rows, what passes between them, and what stays apart.

// A softmax: the maxima and sums of a row are registers of all its threads, and the
// exponentials of those that need them. Short rows share a block.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0, 16), step(1, 64), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0, 16), step(1, 64), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers, registers], shared = 1>) {
// CHECK: schedule(#metaop.schedule<[block(0, 16), step(1, 64), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 1>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0, 16), step(1, 64), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(0, 16), step(1, 64), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers, registers], shared = 1>) {
// SM80: schedule(#metaop.schedule<[block(0, 16), step(1, 64), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<65536x64xf32>) -> tensor<65536x64xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<65536x64xf32> -> tensor<65536xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<65536xf32> -> tensor<65536x64xf32>
  %1 = metaop.sub %x, %0 : tensor<65536x64xf32>
  %e = metaop.exp %1 : tensor<65536x64xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<65536x64xf32> -> tensor<65536xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<65536xf32> -> tensor<65536x64xf32>
  %y = metaop.div %e, %2 : tensor<65536x64xf32>
  return %y : tensor<65536x64xf32>
}

// -----

// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0, 2), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0, 2), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers, registers], shared = 1>) {
// CHECK: schedule(#metaop.schedule<[block(0, 2), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 1>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0, 2), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(0, 2), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers, registers], shared = 1>) {
// SM80: schedule(#metaop.schedule<[block(0, 2), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<16384x1000xf32>) -> tensor<16384x1000xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<16384x1000xf32> -> tensor<16384xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<16384xf32> -> tensor<16384x1000xf32>
  %1 = metaop.sub %x, %0 : tensor<16384x1000xf32>
  %e = metaop.exp %1 : tensor<16384x1000xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<16384x1000xf32> -> tensor<16384xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<16384xf32> -> tensor<16384x1000xf32>
  %y = metaop.div %e, %2 : tensor<16384x1000xf32>
  return %y : tensor<16384x1000xf32>
}

// -----

// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers, registers], shared = 1>) {
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 1>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers, registers], shared = 1>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<4096x4096xf32> -> tensor<4096xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<4096xf32> -> tensor<4096x4096xf32>
  %1 = metaop.sub %x, %0 : tensor<4096x4096xf32>
  %e = metaop.exp %1 : tensor<4096x4096xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<4096x4096xf32> -> tensor<4096xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<4096xf32> -> tensor<4096x4096xf32>
  %y = metaop.div %e, %2 : tensor<4096x4096xf32>
  return %y : tensor<4096x4096xf32>
}

// -----

// A longer row is a cluster's, where the chip has clusters; else its exponentials
// are in shared memory.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 32768), block(1, 16384), step(1, 16384), thread(1, 4)], tile = [1: 32], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 32768), block(1, 16384), step(1, 16384), thread(1, 4)], tile = [1: 32], lanes = 1: 4, place = [registers, registers], shared = 3>) {
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 32768), block(1, 16384), step(1, 16384), thread(1, 4)], tile = [1: 32], lanes = 1: 4, shared = 3>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [shared, registers], shared = 1>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<512x32768xf32>) -> tensor<512x32768xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<512x32768xf32> -> tensor<512xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<512xf32> -> tensor<512x32768xf32>
  %1 = metaop.sub %x, %0 : tensor<512x32768xf32>
  %e = metaop.exp %1 : tensor<512x32768xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<512x32768xf32> -> tensor<512xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<512xf32> -> tensor<512x32768xf32>
  %y = metaop.div %e, %2 : tensor<512x32768xf32>
  return %y : tensor<512x32768xf32>
}

// -----

// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 131072), block(1, 16384), step(1, 16384), thread(1, 4)], tile = [1: 32], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 131072), block(1, 16384), step(1, 16384), thread(1, 4)], tile = [1: 32], lanes = 1: 4, place = [registers, registers], shared = 3>) {
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 131072), block(1, 16384), step(1, 16384), thread(1, 4)], tile = [1: 32], lanes = 1: 4, shared = 3>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [memory, registers], shared = 1>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<128x131072xf32>) -> tensor<128x131072xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<128x131072xf32> -> tensor<128xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<128xf32> -> tensor<128x131072xf32>
  %1 = metaop.sub %x, %0 : tensor<128x131072xf32>
  %e = metaop.exp %1 : tensor<128x131072xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<128x131072xf32> -> tensor<128xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<128xf32> -> tensor<128x131072xf32>
  %y = metaop.div %e, %2 : tensor<128x131072xf32>
  return %y : tensor<128x131072xf32>
}

// -----

// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 262144), block(1, 16384), step(1, 16384), thread(1, 4)], tile = [1: 32], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 262144), block(1, 16384), step(1, 16384), thread(1, 4)], tile = [1: 32], lanes = 1: 4, place = [registers, registers], shared = 3>) {
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 262144), block(1, 16384), step(1, 16384), thread(1, 4)], tile = [1: 32], lanes = 1: 4, shared = 3>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), step(1, 8192), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4>) {
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), block(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<64x262144xf32>) -> tensor<64x262144xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<64x262144xf32> -> tensor<64xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<64xf32> -> tensor<64x262144xf32>
  %1 = metaop.sub %x, %0 : tensor<64x262144xf32>
  %e = metaop.exp %1 : tensor<64x262144xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<64x262144xf32> -> tensor<64xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<64xf32> -> tensor<64x262144xf32>
  %y = metaop.div %e, %2 : tensor<64x262144xf32>
  return %y : tensor<64x262144xf32>
}

// -----

// No cluster has room for such rows. But each of their reductions is a cluster's:
// there are too few for the chip.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 524288), block(1, 65536), step(1, 8192), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 524288), block(1, 65536), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4>) {
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0), block(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), block(1), step(2, 4096), thread(2, 4)], tile = [2: 16], lanes = 2: 4>) {
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(1, 32), step(0, 128), thread(0), thread(1)], tile = [0: 8]>) {
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4>) {
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), block(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<32x524288xf32>) -> tensor<32x524288xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<32x524288xf32> -> tensor<32xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<32xf32> -> tensor<32x524288xf32>
  %1 = metaop.sub %x, %0 : tensor<32x524288xf32>
  %e = metaop.exp %1 : tensor<32x524288xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<32x524288xf32> -> tensor<32xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<32xf32> -> tensor<32x524288xf32>
  %y = metaop.div %e, %2 : tensor<32x524288xf32>
  return %y : tensor<32x524288xf32>
}

// -----

// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers], shared = 1>) {
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4, shared = 1>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers], shared = 1>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 16], lanes = 1: 4, shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<4096x4096xf32>, %g: tensor<4096xf32>) -> tensor<4096x4096xf32> {
  %n = metaop.constant dense<0.000244140625> : tensor<4096xf32>
  %s = metaop.reduce add %x dims = [1] : tensor<4096x4096xf32> -> tensor<4096xf32>
  %m = metaop.mul %s, %n : tensor<4096xf32>
  %mb = metaop.broadcast %m dims = [0] : tensor<4096xf32> -> tensor<4096x4096xf32>
  %d = metaop.sub %x, %mb : tensor<4096x4096xf32>
  %q = metaop.mul %d, %d : tensor<4096x4096xf32>
  %v = metaop.reduce add %q dims = [1] : tensor<4096x4096xf32> -> tensor<4096xf32>
  %w = metaop.mul %v, %n : tensor<4096xf32>
  %r = metaop.rsqrt %w : tensor<4096xf32>
  %rb = metaop.broadcast %r dims = [0] : tensor<4096xf32> -> tensor<4096x4096xf32>
  %gb = metaop.broadcast %g dims = [1] : tensor<4096xf32> -> tensor<4096x4096xf32>
  %y0 = metaop.mul %d, %rb : tensor<4096x4096xf32>
  %y = metaop.mul %y0, %gb : tensor<4096x4096xf32>
  return %y : tensor<4096x4096xf32>
}

// -----

// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0, 4), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0, 4), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers], shared = 1>) {
// CHECK: schedule(#metaop.schedule<[block(0, 4), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 16], lanes = 1: 4, shared = 1>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0, 4), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(0, 4), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers], shared = 1>) {
// SM80: schedule(#metaop.schedule<[block(0, 4), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 16], lanes = 1: 4, shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<4096x1024xbf16>, %g: tensor<1024xbf16>) -> tensor<4096x1024xbf16> {
  %n = metaop.constant dense<0.0009765625> : tensor<4096xbf16>
  %s = metaop.reduce add %x dims = [1] : tensor<4096x1024xbf16> -> tensor<4096xbf16>
  %m = metaop.mul %s, %n : tensor<4096xbf16>
  %mb = metaop.broadcast %m dims = [0] : tensor<4096xbf16> -> tensor<4096x1024xbf16>
  %d = metaop.sub %x, %mb : tensor<4096x1024xbf16>
  %q = metaop.mul %d, %d : tensor<4096x1024xbf16>
  %v = metaop.reduce add %q dims = [1] : tensor<4096x1024xbf16> -> tensor<4096xbf16>
  %w = metaop.mul %v, %n : tensor<4096xbf16>
  %r = metaop.rsqrt %w : tensor<4096xbf16>
  %rb = metaop.broadcast %r dims = [0] : tensor<4096xbf16> -> tensor<4096x1024xbf16>
  %gb = metaop.broadcast %g dims = [1] : tensor<1024xbf16> -> tensor<4096x1024xbf16>
  %y0 = metaop.mul %d, %rb : tensor<4096x1024xbf16>
  %y = metaop.mul %y0, %gb : tensor<4096x1024xbf16>
  return %y : tensor<4096x1024xbf16>
}

// -----

// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1)], tile = [1: 4], place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1)], tile = [1: 4], place = [registers], shared = 1>) {
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1)], tile = [1: 4], shared = 1>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1)], tile = [1: 4], place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1)], tile = [1: 4], place = [registers], shared = 1>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1)], tile = [1: 4], shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<4096x1001xf32>, %g: tensor<1001xf32>) -> tensor<4096x1001xf32> {
  %n = metaop.constant dense<0.000999000999000999> : tensor<4096xf32>
  %s = metaop.reduce add %x dims = [1] : tensor<4096x1001xf32> -> tensor<4096xf32>
  %m = metaop.mul %s, %n : tensor<4096xf32>
  %mb = metaop.broadcast %m dims = [0] : tensor<4096xf32> -> tensor<4096x1001xf32>
  %d = metaop.sub %x, %mb : tensor<4096x1001xf32>
  %q = metaop.mul %d, %d : tensor<4096x1001xf32>
  %v = metaop.reduce add %q dims = [1] : tensor<4096x1001xf32> -> tensor<4096xf32>
  %w = metaop.mul %v, %n : tensor<4096xf32>
  %r = metaop.rsqrt %w : tensor<4096xf32>
  %rb = metaop.broadcast %r dims = [0] : tensor<4096xf32> -> tensor<4096x1001xf32>
  %gb = metaop.broadcast %g dims = [1] : tensor<1001xf32> -> tensor<4096x1001xf32>
  %y0 = metaop.mul %d, %rb : tensor<4096x1001xf32>
  %y = metaop.mul %y0, %gb : tensor<4096x1001xf32>
  return %y : tensor<4096x1001xf32>
}

// -----

// Channels are few: blocks of a cluster have images of one.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[cluster(1), cluster(0, 64), block(0, 4), step(0), step(2, 4096), thread(2, 4)], tile = [2: 16], lanes = 2: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[cluster(1), cluster(0, 64), block(0, 4), step(0), step(2, 4096), thread(2, 4)], tile = [2: 16], lanes = 2: 4, place = [registers], shared = 3>) {
// CHECK: schedule(#metaop.schedule<[cluster(1), cluster(0, 64), block(0, 4), step(0), step(2, 4096), thread(2, 4)], tile = [2: 16], lanes = 2: 4, shared = 3>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(1), step(0), step(2, 4096), thread(2, 4)], tile = [2: 16], lanes = 2: 4>) {
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(1), step(0), step(2, 4096), thread(2, 4)], tile = [2: 16], lanes = 2: 4>) {
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), block(1), block(2, 3584), thread(2, 4)], tile = [2: 16], lanes = 2: 4>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<64x64x3136xf32>, %g: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64x64x3136xf32> {
  %n = metaop.constant dense<4.982461734693877e-06> : tensor<64xf32>
  %s = metaop.reduce add %x dims = [0, 2] : tensor<64x64x3136xf32> -> tensor<64xf32>
  %m = metaop.mul %s, %n : tensor<64xf32>
  %mb = metaop.broadcast %m dims = [1] : tensor<64xf32> -> tensor<64x64x3136xf32>
  %d = metaop.sub %x, %mb : tensor<64x64x3136xf32>
  %q = metaop.mul %d, %d : tensor<64x64x3136xf32>
  %v = metaop.reduce add %q dims = [0, 2] : tensor<64x64x3136xf32> -> tensor<64xf32>
  %w = metaop.mul %v, %n : tensor<64xf32>
  %r = metaop.rsqrt %w : tensor<64xf32>
  %gr = metaop.mul %g, %r : tensor<64xf32>
  %rb = metaop.broadcast %gr dims = [1] : tensor<64xf32> -> tensor<64x64x3136xf32>
  %bb = metaop.broadcast %b dims = [1] : tensor<64xf32> -> tensor<64x64x3136xf32>
  %y0 = metaop.mul %d, %rb : tensor<64x64x3136xf32>
  %y = metaop.add %y0, %bb : tensor<64x64x3136xf32>
  return %y : tensor<64x64x3136xf32>
}

// -----

// Short rows leave threads for other images.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(1), step(0, 8), step(2, 64), thread(0), thread(2)], tile = [2: 2], place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(1), step(0, 8), step(2, 64), thread(0), thread(2)], tile = [2: 2], place = [registers], shared = 1>) {
// CHECK: schedule(#metaop.schedule<[block(1), step(0, 8), step(2, 64), thread(0), thread(2)], tile = [2: 2], shared = 1>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(1), step(0, 8), step(2, 64), thread(0), thread(2)], tile = [2: 2], place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(1), step(0, 8), step(2, 64), thread(0), thread(2)], tile = [2: 2], place = [registers], shared = 1>) {
// SM80: schedule(#metaop.schedule<[block(1), step(0, 8), step(2, 64), thread(0), thread(2)], tile = [2: 2], shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<64x256x49xf32>, %g: tensor<256xf32>, %b: tensor<256xf32>) -> tensor<64x256x49xf32> {
  %n = metaop.constant dense<0.00031887755102040814> : tensor<256xf32>
  %s = metaop.reduce add %x dims = [0, 2] : tensor<64x256x49xf32> -> tensor<256xf32>
  %m = metaop.mul %s, %n : tensor<256xf32>
  %mb = metaop.broadcast %m dims = [1] : tensor<256xf32> -> tensor<64x256x49xf32>
  %d = metaop.sub %x, %mb : tensor<64x256x49xf32>
  %q = metaop.mul %d, %d : tensor<64x256x49xf32>
  %v = metaop.reduce add %q dims = [0, 2] : tensor<64x256x49xf32> -> tensor<256xf32>
  %w = metaop.mul %v, %n : tensor<256xf32>
  %r = metaop.rsqrt %w : tensor<256xf32>
  %gr = metaop.mul %g, %r : tensor<256xf32>
  %rb = metaop.broadcast %gr dims = [1] : tensor<256xf32> -> tensor<64x256x49xf32>
  %bb = metaop.broadcast %b dims = [1] : tensor<256xf32> -> tensor<64x256x49xf32>
  %y0 = metaop.mul %d, %rb : tensor<64x256x49xf32>
  %y = metaop.add %y0, %bb : tensor<64x256x49xf32>
  return %y : tensor<64x256x49xf32>
}

// -----

// The losses of rows, by log-softmax.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 32768), block(1, 16384), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 32768), block(1, 16384), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers], shared = 3>) {
// CHECK: schedule(#metaop.schedule<[cluster(0), cluster(1, 32768), block(1, 16384), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 3>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers], shared = 1>) {
// SM80: schedule(#metaop.schedule<[block(0), step(1, 4096), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<8192x32000xf32>, %t: tensor<8192x32000xf32>) -> tensor<8192xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<8192x32000xf32> -> tensor<8192xf32>
  %mb = metaop.broadcast %m dims = [0] : tensor<8192xf32> -> tensor<8192x32000xf32>
  %d = metaop.sub %x, %mb : tensor<8192x32000xf32>
  %e = metaop.exp %d : tensor<8192x32000xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<8192x32000xf32> -> tensor<8192xf32>
  %l = metaop.log %s : tensor<8192xf32>
  %lb = metaop.broadcast %l dims = [0] : tensor<8192xf32> -> tensor<8192x32000xf32>
  %p = metaop.sub %d, %lb : tensor<8192x32000xf32>
  %q = metaop.mul %p, %t : tensor<8192x32000xf32>
  %y = metaop.reduce add %q dims = [1] : tensor<8192x32000xf32> -> tensor<8192xf32>
  return %y : tensor<8192xf32>
}

// -----

// Too few blocks would have columns of this length: the stages stay apart, and the
// sums have two kernels.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0), block(2, 32), step(1, 64), thread(1), thread(2)], tile = [1: 8]>) {
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(1, 32), step(0, 256), thread(0), thread(1)], tile = [0: 8]>) {
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0, 16), block(1, 256), thread(0), thread(1, 4)], tile = [0: 4, 1: 4], lanes = 1: 4>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0), block(2, 32), step(1, 64), thread(1), thread(2)], tile = [1: 8]>) {
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(1, 32), step(0, 128), thread(0), thread(1)], tile = [0: 8]>) {
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0, 16), block(1, 256), thread(0), thread(1, 4)], tile = [0: 4, 1: 4], lanes = 1: 4>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<50176x256xf32>) -> tensor<50176x256xf32> {
  %s = metaop.reduce add %x dims = [0] : tensor<50176x256xf32> -> tensor<256xf32>
  %sb = metaop.broadcast %s dims = [1] : tensor<256xf32> -> tensor<50176x256xf32>
  %y = metaop.sub %x, %sb : tensor<50176x256xf32>
  return %y : tensor<50176x256xf32>
}

// -----

// Neighbouring threads have neighbouring columns.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(1, 32), step(0, 256), thread(0), thread(1)], tile = [0: 8], place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(1, 32), step(0, 256), thread(0), thread(1)], tile = [0: 8], shared = 1>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(1, 32), step(0, 64), thread(0), thread(1)], tile = [0: 8], place = [registers]>) {
// SM80: schedule(#metaop.schedule<[block(1, 32), step(0, 64), thread(0), thread(1)], tile = [0: 8], shared = 1>) {
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<512x8192xf32>) -> tensor<512x8192xf32> {
  %s = metaop.reduce add %x dims = [0] : tensor<512x8192xf32> -> tensor<8192xf32>
  %sb = metaop.broadcast %s dims = [1] : tensor<8192xf32> -> tensor<512x8192xf32>
  %y = metaop.sub %x, %sb : tensor<512x8192xf32>
  return %y : tensor<512x8192xf32>
}

// -----

// Of stages with as many iterations, the one that moves most says along which loop threads
// lie: here the second, since the first reads one number of each row.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 16], lanes = 1: 4, shared = 1>) {
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80: schedule(#metaop.schedule<[block(0, 2), step(1, 1024), thread(0), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [registers]>) {
func.func @main(%t: tensor<512xi32>, %x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %0 = metaop.broadcast %t dims = [0] : tensor<512xi32> -> tensor<512x1024xi32>
  %1 = metaop.iota dim = 1 : tensor<512x1024xi32>
  %2 = metaop.cmp eq %0, %1 : tensor<512x1024xi32> -> tensor<512x1024xi1>
  %3 = metaop.cast %2 : tensor<512x1024xi1> -> tensor<512x1024xf32>
  %s = metaop.reduce add %3 dims = [1] : tensor<512x1024xf32> -> tensor<512xf32>
  %4 = metaop.broadcast %s dims = [0] : tensor<512xf32> -> tensor<512x1024xf32>
  %y = metaop.mul %x, %4 : tensor<512x1024xf32>
  return %y : tensor<512x1024xf32>
}

// -----

// A mask numbers places, so its loops are apart. So are those of the other stages of
// a softmax with one, which would go through the first two dimensions as one.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0), block(1, 2), step(2, 1024), thread(1), thread(2, 4)], tile = [2: 8], lanes = 2: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0), block(1, 2), step(2, 1024), thread(1), thread(2, 4)], tile = [2: 8], lanes = 2: 4, place = [registers, registers], shared = 2>) {
// CHECK: schedule(#metaop.schedule<[block(0), block(1, 2), step(2, 1024), thread(1), thread(2, 4)], tile = [2: 8], lanes = 2: 4, shared = 2>) attributes {first_dims = array<i64: 0, 1, 2>} {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
// SM80: metaop.kernel(
// SM80-NOT: metaop.kernel
func.func @main(%x: tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32> {
  %i = metaop.iota dim = 1 : tensor<8x1024x1024xi32>
  %j = metaop.iota dim = 2 : tensor<8x1024x1024xi32>
  %later = metaop.cmp gt %j, %i : tensor<8x1024x1024xi32> -> tensor<8x1024x1024xi1>
  %hidden = metaop.constant dense<0xFF800000> : tensor<8x1024x1024xf32>
  %0 = metaop.select %later, %hidden, %x : tensor<8x1024x1024xi1>, tensor<8x1024x1024xf32>
  %m = metaop.reduce max %0 dims = [2] : tensor<8x1024x1024xf32> -> tensor<8x1024xf32>
  %1 = metaop.broadcast %m dims = [0, 1] : tensor<8x1024xf32> -> tensor<8x1024x1024xf32>
  %2 = metaop.sub %0, %1 : tensor<8x1024x1024xf32>
  %e = metaop.exp %2 : tensor<8x1024x1024xf32>
  %s = metaop.reduce add %e dims = [2] : tensor<8x1024x1024xf32> -> tensor<8x1024xf32>
  %3 = metaop.broadcast %s dims = [0, 1] : tensor<8x1024xf32> -> tensor<8x1024x1024xf32>
  %y = metaop.div %e, %3 : tensor<8x1024x1024xf32>
  return %y : tensor<8x1024x1024xf32>
}

// -----

// Where blocks would be small and many, each has a run of pieces: a loop that
// the stages share.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(0, 32), step(0, 16), step(1, 64), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0, 32), step(0, 16), step(1, 64), thread(0), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 2>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
func.func @main(%x: tensor<1048576x64xf32>) -> tensor<1048576x64xf32> {
  %0 = metaop.reduce max %x dims = [1] : tensor<1048576x64xf32> -> tensor<1048576xf32>
  %1 = metaop.broadcast %0 dims = [0] : tensor<1048576xf32> -> tensor<1048576x64xf32>
  %2 = metaop.sub %x, %1 : tensor<1048576x64xf32>
  return %2 : tensor<1048576x64xf32>
}

// -----

// What follows sums of columns is done by the threads of the first part.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: schedule(#metaop.schedule<[block(1, 32), step(0, 128), thread(0), thread(1)], tile = [0: 4], place = [registers]>) {
// CHECK: schedule(#metaop.schedule<[block(0, 32), thread(0)], shared = 1>) {
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
func.func @main(%x: tensor<300x64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.reduce add %x dims = [0] : tensor<300x64xf32> -> tensor<64xf32>
  %1 = metaop.mul %0, %y : tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// The last sum of what is split is rounded where it is made.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: metaop.kernel(
// CHECK: place = [registers]>) {
// CHECK: shared = 1>) {
// CHECK-NEXT: metaop.cast {{.*}} tensor<64xf32> -> tensor<64xbf16>
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
func.func @main(%x: tensor<65536x64xbf16>) -> tensor<64xbf16> {
  %0 = metaop.reduce add %x dims = [0] : tensor<65536x64xbf16> -> tensor<64xbf16>
  return %0 : tensor<64xbf16>
}

// -----

// The blocks of a cluster read what others of them have.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK: place = [cluster
// CHECK: shared = 3>
// CHECK-NOT: metaop.kernel
// SM80-LABEL: func @main(
func.func @main(%x: tensor<600x32768xf32>) -> tensor<600x32768xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<600x32768xf32> -> tensor<600xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<600xf32> -> tensor<600x32768xf32>
  %1 = metaop.sub %x, %0 : tensor<600x32768xf32>
  %e = metaop.exp %1 : tensor<600x32768xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<600x32768xf32> -> tensor<600xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<600xf32> -> tensor<600x32768xf32>
  %3 = metaop.reindex %e map affine_map<(d0, d1) -> (d0, 32767 - d1)> fill 0.0 : f32 : tensor<600x32768xf32> -> tensor<600x32768xf32>
  %y = metaop.div %3, %2 : tensor<600x32768xf32>
  return %y : tensor<600x32768xf32>
}

// -----

// Loops are kept apart for stages of the same block: those of a loop's body are
// never joined with what stands before it.
// CHECK-LABEL: func @main(
// CHECK: metaop.kernel(
// CHECK-NOT: first_dims
// CHECK: scf.for
func.func @main(%x: tensor<8x64x64xf32>, %n: index) -> tensor<8x64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = metaop.exp %x : tensor<8x64x64xf32>
  %y = scf.for %k = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<8x64x64xf32>) {
    %i = metaop.iota dim = 1 : tensor<8x64x64xi32>
    %j = metaop.iota dim = 2 : tensor<8x64x64xi32>
    %later = metaop.cmp gt %j, %i : tensor<8x64x64xi32> -> tensor<8x64x64xi1>
    %0 = metaop.select %later, %a, %e : tensor<8x64x64xi1>, tensor<8x64x64xf32>
    scf.yield %0 : tensor<8x64x64xf32>
  }
  return %y : tensor<8x64x64xf32>
}
