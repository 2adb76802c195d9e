// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=scheduled" | FileCheck %s
// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=scheduled rules=paper" \
// RUN:   | FileCheck %s --check-prefix=PAPER --implicit-check-not="shared = 1"
// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=loops" -canonicalize -cse \
// RUN:   | FileCheck %s --check-prefix=LOOPS

// A softmax: three stages in one loop over rows. Its maxima, sums and exponentials
// are local to a row.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel({{.*}}) -> tensor<64x300xf32> {
// CHECK-NEXT:      metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0), step(1, {{[0-9]+}})], tile = [1: {{[0-9]+}}], lanes = 1: 16>)
// CHECK-NEXT:        metaop.reindex_reduce max
// CHECK:           metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0), step(1, {{[0-9]+}})], tile = [1: {{[0-9]+}}], lanes = 1: 16, shared = 1>)
// CHECK:             metaop.exp
// CHECK:           metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0), step(1, {{[0-9]+}})], tile = [1: {{[0-9]+}}], lanes = 1: 16, shared = 1>)
// CHECK:             metaop.div
// CHECK-NOT:     metaop.kernel
// CHECK:         return

// PAPER-LABEL: func @main
// PAPER-COUNT-3: metaop.kernel
// PAPER:         return

// LOOPS-LABEL: func @kernel_0(
// LOOPS-SAME:    %[[X:.*]]: memref<19200xf32>, %[[Y:.*]]: memref<19200xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// LOOPS-DAG:     memref.alloca() {{.*}} : memref<1xf32>
// LOOPS-DAG:     %[[ROW:.*]] = memref.alloca() {{.*}} : memref<300xf32>
// LOOPS:         scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// LOOPS:           vector.store %{{.*}}, %[[ROW]]
// LOOPS:           vector.load %[[ROW]]
// LOOPS:           vector.store %{{.*}}, %[[Y]]
func.func @main(%x: tensor<64x300xf32>) -> tensor<64x300xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<64x300xf32> -> tensor<64xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<64xf32> -> tensor<64x300xf32>
  %1 = metaop.sub %x, %0 : tensor<64x300xf32>
  %e = metaop.exp %1 : tensor<64x300xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<64x300xf32> -> tensor<64xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<64xf32> -> tensor<64x300xf32>
  %y = metaop.div %e, %2 : tensor<64x300xf32>
  return %y : tensor<64x300xf32>
}

// -----

// A row may be larger than the first cache: it is in the second one.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel({{.*}}) -> tensor<64x6000xf32> {
// CHECK-COUNT-2:   metaop.fused
// CHECK-NOT:     metaop.kernel
// CHECK:         return

// PAPER-LABEL: func @main
func.func @main(%x: tensor<64x6000xf32>) -> tensor<64x6000xf32> {
  %e = metaop.exp %x : tensor<64x6000xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<64x6000xf32> -> tensor<64xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<64xf32> -> tensor<64x6000xf32>
  %y = metaop.div %e, %2 : tensor<64x6000xf32>
  return %y : tensor<64x6000xf32>
}

// -----

// Rows that are longer than local memory stay in a buffer, which is a result of the
// kernel; an iteration still finds in cache what it wrote there.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel({{.*}}) -> (tensor<64x20000xf32>, tensor<64x20000xf32>) {
// CHECK-COUNT-2:   metaop.fused
// CHECK-NOT:     metaop.kernel
// CHECK:         return

// PAPER-LABEL: func @main
func.func @main(%x: tensor<64x20000xf32>) -> tensor<64x20000xf32> {
  %e = metaop.exp %x : tensor<64x20000xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<64x20000xf32> -> tensor<64xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<64xf32> -> tensor<64x20000xf32>
  %y = metaop.div %e, %2 : tensor<64x20000xf32>
  return %y : tensor<64x20000xf32>
}

// -----

// The normalisation of Hu et al. (2020), Listing 5. With three channels it is the
// two nests of Listing 6: the reductions with channels outside of images, the
// normalisation in the order of memory.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel
// CHECK-NEXT:      metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(1), step(0), step(2, {{[0-9]+}})], tile
// CHECK-COUNT-2:     metaop.reindex_reduce add
// CHECK:         metaop.kernel
// CHECK-NEXT:      metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0), parallel(1), step(2, {{[0-9]+}})], tile
// CHECK:             metaop.div
// CHECK:         return

// PAPER-LABEL: func @main
func.func @main(%x: tensor<8x3x64x64xf32>) -> tensor<8x3x64x64xf32> {
  %n = metaop.constant dense<4.8828125E-4> : tensor<3xf32>
  %eps = metaop.constant dense<1.0E-5> : tensor<3xf32>
  %xx = metaop.mul %x, %x : tensor<8x3x64x64xf32>
  %s = metaop.reduce add %x dims = [0, 2, 3] : tensor<8x3x64x64xf32> -> tensor<3xf32>
  %ss = metaop.reduce add %xx dims = [0, 2, 3] : tensor<8x3x64x64xf32> -> tensor<3xf32>
  %mean = metaop.mul %s, %n : tensor<3xf32>
  %mean2 = metaop.mul %ss, %n : tensor<3xf32>
  %square = metaop.mul %mean, %mean : tensor<3xf32>
  %var = metaop.sub %mean2, %square : tensor<3xf32>
  %sum = metaop.add %var, %eps : tensor<3xf32>
  %dev = metaop.sqrt %sum : tensor<3xf32>
  %m = metaop.broadcast %mean dims = [1] : tensor<3xf32> -> tensor<8x3x64x64xf32>
  %d = metaop.broadcast %dev dims = [1] : tensor<3xf32> -> tensor<8x3x64x64xf32>
  %0 = metaop.sub %x, %m : tensor<8x3x64x64xf32>
  %y = metaop.div %0, %d : tensor<8x3x64x64xf32>
  return %y : tensor<8x3x64x64xf32>
}

// -----

// With enough channels for threads, both nests are inside of one loop over them.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel({{.*}}) -> tensor<8x48x16x16xf32> {
// CHECK-NEXT:      metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(1), step(0), step(2, {{[0-9]+}})], tile = [2: {{[0-9]+}}], lanes = 2: 16>)
// CHECK-COUNT-2:     metaop.reindex_reduce add
// CHECK:           metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(1), step(0), step(2, {{[0-9]+}})], tile = [2: {{[0-9]+}}], lanes = 2: 16, shared = 1>)
// CHECK:             metaop.div
// CHECK-NOT:     metaop.kernel
// CHECK:         return

// PAPER-LABEL: func @main
func.func @main(%x: tensor<8x48x16x16xf32>) -> tensor<8x48x16x16xf32> {
  %xx = metaop.mul %x, %x : tensor<8x48x16x16xf32>
  %s = metaop.reduce add %x dims = [0, 2, 3] : tensor<8x48x16x16xf32> -> tensor<48xf32>
  %ss = metaop.reduce add %xx dims = [0, 2, 3] : tensor<8x48x16x16xf32> -> tensor<48xf32>
  %m = metaop.broadcast %s dims = [1] : tensor<48xf32> -> tensor<8x48x16x16xf32>
  %d = metaop.broadcast %ss dims = [1] : tensor<48xf32> -> tensor<8x48x16x16xf32>
  %0 = metaop.sub %x, %m : tensor<8x48x16x16xf32>
  %y = metaop.div %0, %d : tensor<8x48x16x16xf32>
  return %y : tensor<8x48x16x16xf32>
}

// -----

// Rows are read as columns: no iteration has all that it reads.
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return

// PAPER-LABEL: func @main
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = metaop.reduce add %x dims = [1] : tensor<64x64xf32> -> tensor<64xf32>
  %0 = metaop.broadcast %s dims = [1] : tensor<64xf32> -> tensor<64x64xf32>
  %y = metaop.sub %x, %0 : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// Another row is read.
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return

// PAPER-LABEL: func @main
func.func @main(%x: tensor<64x300xf32>) -> tensor<64x300xf32> {
  %s = metaop.reduce add %x dims = [1] : tensor<64x300xf32> -> tensor<64xf32>
  %0 = metaop.reindex %s map affine_map<(d0, d1) -> (63 - d0)> fill 0.0 : f32 : tensor<64xf32> -> tensor<64x300xf32>
  %y = metaop.sub %x, %0 : tensor<64x300xf32>
  return %y : tensor<64x300xf32>
}

// -----

// The sums reach the last stage through a kernel that needs all of them.
// CHECK-LABEL: func @main
// CHECK-COUNT-3: metaop.kernel
// CHECK:         return

// PAPER-LABEL: func @main
func.func @main(%x: tensor<64x300xf32>) -> tensor<64x300xf32> {
  %s = metaop.reduce add %x dims = [1] : tensor<64x300xf32> -> tensor<64xf32>
  %t = metaop.reduce max %s dims = [0] : tensor<64xf32> -> tensor<f32>
  %0 = metaop.broadcast %s dims = [0] : tensor<64xf32> -> tensor<64x300xf32>
  %1 = metaop.broadcast %t dims = [] : tensor<f32> -> tensor<64x300xf32>
  %2 = metaop.sub %x, %0 : tensor<64x300xf32>
  %y = metaop.mul %2, %1 : tensor<64x300xf32>
  return %y : tensor<64x300xf32>
}

// -----

// Too few rows for threads, though enough elements.
// CHECK-LABEL: func @main
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return

// PAPER-LABEL: func @main
func.func @main(%x: tensor<3x64x900xf32>) -> tensor<3x64x900xf32> {
  %s = metaop.reduce add %x dims = [1, 2] : tensor<3x64x900xf32> -> tensor<3xf32>
  %0 = metaop.broadcast %s dims = [0] : tensor<3xf32> -> tensor<3x64x900xf32>
  %y = metaop.sub %x, %0 : tensor<3x64x900xf32>
  return %y : tensor<3x64x900xf32>
}

// -----

// A row of a softmax and elements of it: one kernel.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel({{.*}}) -> tensor<64x20xf32> {
// CHECK:           metaop.fused{{.*}}shared = 1>)
// CHECK:             metaop.gather
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @main(%x: tensor<64x90xf32>, %i: tensor<64x20xi64>) -> tensor<64x20xf32> {
  %e = metaop.exp %x : tensor<64x90xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<64x90xf32> -> tensor<64xf32>
  %0 = metaop.broadcast %s dims = [0] : tensor<64xf32> -> tensor<64x90xf32>
  %y = metaop.div %e, %0 : tensor<64x90xf32>
  %z = metaop.gather %y[%i] map affine_map<(d0, d1)[s0] -> (d0, s0)> fill 0.0 : f32
      : (tensor<64x90xf32>, tensor<64x20xi64>) -> tensor<64x20xf32>
  return %z : tensor<64x20xf32>
}

// -----

// Other rows are not there yet: the stage that gathers them stays apart.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel
// CHECK:         metaop.kernel({{.*}}) -> tensor<20x90xf32> {
// CHECK-NEXT:      metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 16>)
// CHECK:             metaop.gather
// CHECK:         return
func.func @main(%x: tensor<64x90xf32>, %i: tensor<20x90xi64>) -> tensor<20x90xf32> {
  %e = metaop.exp %x : tensor<64x90xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<64x90xf32> -> tensor<64xf32>
  %0 = metaop.broadcast %s dims = [0] : tensor<64xf32> -> tensor<64x90xf32>
  %y = metaop.div %e, %0 : tensor<64x90xf32>
  %z = metaop.gather %y[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)> fill 0.0 : f32
      : (tensor<64x90xf32>, tensor<20x90xi64>) -> tensor<20x90xf32>
  return %z : tensor<20x90xf32>
}

// -----

// A scatter walks its source in order and stays alone.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel
// CHECK:         metaop.kernel({{.*}}) -> tensor<9x90xf32> {
// CHECK-NEXT:      metaop.fused{{.*}} schedule(#metaop.schedule<[step(0), step(1)]>)
// CHECK:             metaop.scatter add
// CHECK:         return
func.func @main(%x: tensor<64x90xf32>, %i: tensor<64x90xi64>) -> tensor<9x90xf32> {
  %s = metaop.reduce add %x dims = [1] : tensor<64x90xf32> -> tensor<64xf32>
  %0 = metaop.broadcast %s dims = [0] : tensor<64xf32> -> tensor<64x90xf32>
  %y = metaop.div %x, %0 : tensor<64x90xf32>
  %z = metaop.scatter add %y[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<64x90xf32>, tensor<64x90xi64>) -> tensor<9x90xf32>
  return %z : tensor<9x90xf32>
}

// -----

// A function of dot products keeps its vectors: sharing the loop over rows of %w
// would save a row of 64 elements.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel
// CHECK:           metaop.fused
// CHECK-NOT:       metaop.fused
// CHECK:         metaop.kernel
// CHECK-NEXT:      metaop.fused{{.*}} lanes = 0: 16
// CHECK:             metaop.tanh

func.func @main(%h: tensor<1x64xf32>, %w: tensor<64x64xf32>) -> tensor<1x64xf32> {
  %a = metaop.reindex %h map affine_map<(i, j, k) -> (i, k)> fill 0.0 : f32 : tensor<1x64xf32> -> tensor<1x64x64xf32>
  %b = metaop.reindex %w map affine_map<(i, j, k) -> (j, k)> fill 0.0 : f32 : tensor<64x64xf32> -> tensor<1x64x64xf32>
  %p = metaop.mul %a, %b : tensor<1x64x64xf32>
  %s = metaop.reindex_reduce add %p map affine_map<(i, j, k) -> (i, j)> : tensor<1x64x64xf32> -> tensor<1x64xf32>
  %y = metaop.tanh %s : tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// -----

// Rows of more than a core's cache holds are apart as long as what cores share
// holds the whole.
// CHECK-LABEL: func @main
// CHECK-NOT:     shared = 1
// CHECK:         return
func.func @main(%x: tensor<20x200000xf32>) -> tensor<20x200000xf32> {
  %m = metaop.reduce add %x dims = [1] : tensor<20x200000xf32> -> tensor<20xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<20xf32> -> tensor<20x200000xf32>
  %y = metaop.sub %x, %0 : tensor<20x200000xf32>
  return %y : tensor<20x200000xf32>
}

// -----

// Beyond that, a row in its share of it is nearer than in memory.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel({{.*}}) -> tensor<40x200000xf32> {
// CHECK:           metaop.reindex_reduce add
// CHECK:           shared = 1>)
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @main(%x: tensor<40x200000xf32>) -> tensor<40x200000xf32> {
  %m = metaop.reduce add %x dims = [1] : tensor<40x200000xf32> -> tensor<40xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<40xf32> -> tensor<40x200000xf32>
  %y = metaop.sub %x, %0 : tensor<40x200000xf32>
  return %y : tensor<40x200000xf32>
}

// -----

// Larger rows than that are apart again.
// CHECK-LABEL: func @main
// CHECK-NOT:     shared = 1
// CHECK:         return
func.func @main(%x: tensor<40x2000000xf32>) -> tensor<40x2000000xf32> {
  %m = metaop.reduce add %x dims = [1] : tensor<40x2000000xf32> -> tensor<40xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<40xf32> -> tensor<40x2000000xf32>
  %y = metaop.sub %x, %0 : tensor<40x2000000xf32>
  return %y : tensor<40x2000000xf32>
}

// -----

// Roots of many rows' sums keep their vectors: the sums are in a cache.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel
// CHECK:           metaop.reindex_reduce add
// CHECK-NEXT:      metaop.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    metaop.yield
// CHECK:         metaop.kernel
// CHECK-NEXT:      metaop.fused{{.*}} lanes = 0: 16
// CHECK:             metaop.sqrt
func.func @main(%x: tensor<4096x64xf32>) -> tensor<4096xf32> {
  %p = metaop.mul %x, %x : tensor<4096x64xf32>
  %s = metaop.reduce add %p dims = [1] : tensor<4096x64xf32> -> tensor<4096xf32>
  %y = metaop.sqrt %s : tensor<4096xf32>
  return %y : tensor<4096xf32>
}

// -----

// Those of a few rows are not worth the call of a kernel.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel
// CHECK:           metaop.reindex_reduce add
// CHECK:           metaop.fused{{.*}} shared = 1
// CHECK:             metaop.sqrt
func.func @main(%x: tensor<32x64xf32>) -> tensor<32xf32> {
  %p = metaop.mul %x, %x : tensor<32x64xf32>
  %s = metaop.reduce add %p dims = [1] : tensor<32x64xf32> -> tensor<32xf32>
  %y = metaop.sqrt %s : tensor<32xf32>
  return %y : tensor<32xf32>
}
