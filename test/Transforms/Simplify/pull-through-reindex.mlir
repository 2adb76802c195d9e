// RUN: metaop-opt %s -metaop-clone-producers | FileCheck %s
// RUN: metaop-opt %s -metaop-clone-producers="small-producer-ratio=1000000" | FileCheck %s --check-prefix=RATIO
// RUN: metaop-opt %s -metaop-clone-producers="max-cloned-ops=1" | FileCheck %s --check-prefix=LIMIT

// CHECK-LABEL: func @chain
// CHECK-NOT:     tensor<64xf32> ->{{.*}}metaop.sqrt
// CHECK-DAG:     %[[C:.*]] = metaop.constant dense<{{.*}}> : tensor<64x32xf32>
// CHECK-DAG:     %[[V:.*]] = metaop.reindex %{{.*}} : tensor<64xf32> -> tensor<64x32xf32>
// CHECK:         %[[A:.*]] = metaop.add %[[V]], %[[C]] : tensor<64x32xf32>
// CHECK:         %[[S:.*]] = metaop.sqrt %[[A]] : tensor<64x32xf32>
// CHECK:         metaop.div %{{.*}}, %[[S]]
// RATIO-LABEL: func @chain
// RATIO:         metaop.sqrt {{.*}} : tensor<64xf32>
// LIMIT-LABEL: func @chain
// LIMIT:         metaop.sqrt {{.*}} : tensor<64xf32>
func.func @chain(%x: tensor<64x32xf32>, %var: tensor<64xf32>) -> tensor<64x32xf32> {
  %epsilon = metaop.constant dense<1.0e-5> : tensor<64xf32>
  %0 = metaop.add %var, %epsilon : tensor<64xf32>
  %1 = metaop.sqrt %0 : tensor<64xf32>
  %2 = metaop.broadcast %1 dims = [0] : tensor<64xf32> -> tensor<64x32xf32>
  %3 = metaop.div %x, %2 : tensor<64x32xf32>
  return %3 : tensor<64x32xf32>
}

// The ends of a chain may have other element types than the reindex.
// CHECK-LABEL: func @types
// CHECK-DAG:     metaop.iota dim = 1 : tensor<32x64xi64>
// CHECK-DAG:     metaop.reindex %{{.*}} : tensor<64xi64> -> tensor<32x64xi64>
// CHECK:         metaop.cmp lt {{.*}} : tensor<32x64xi64> -> tensor<32x64xi1>
// CHECK:         metaop.cast {{.*}} : tensor<32x64xi1> -> tensor<32x64xf32>
// CHECK:         metaop.mul
func.func @types(%x: tensor<32x64xf32>, %n: tensor<64xi64>) -> tensor<32x64xf32> {
  %i = metaop.iota dim = 0 : tensor<64xi64>
  %0 = metaop.cmp lt %i, %n : tensor<64xi64> -> tensor<64xi1>
  %1 = metaop.cast %0 : tensor<64xi1> -> tensor<64xf32>
  %2 = metaop.reindex %1 map affine_map<(d0, d1) -> (d1)> fill 0.0 : f32 : tensor<64xf32> -> tensor<32x64xf32>
  %3 = metaop.mul %x, %2 : tensor<32x64xf32>
  return %3 : tensor<32x64xf32>
}

// Where the reindex gives its fill, exp(fill) would be another number.
// CHECK-LABEL: func @out_of_bounds
// CHECK:         metaop.exp {{.*}} : tensor<64xf32>
// CHECK-NEXT:    metaop.reindex
func.func @out_of_bounds(%x: tensor<32x64xf32>, %v: tensor<64xf32>) -> tensor<32x64xf32> {
  %0 = metaop.exp %v : tensor<64xf32>
  %1 = metaop.reindex %0 map affine_map<(d0, d1) -> (d1 - 1)> fill 0.0 : f32 : tensor<64xf32> -> tensor<32x64xf32>
  %2 = metaop.mul %x, %1 : tensor<32x64xf32>
  return %2 : tensor<32x64xf32>
}

// Inside of a contraction, exp would be computed again for each product.
// CHECK-LABEL: func @contraction
// CHECK:         metaop.exp {{.*}} : tensor<64x64xf32>
// CHECK-NEXT:    metaop.broadcast
func.func @contraction(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = metaop.exp %x : tensor<64x64xf32>
  %1 = metaop.broadcast %0 dims = [0, 2] : tensor<64x64xf32> -> tensor<64x64x64xf32>
  %2 = metaop.broadcast %w dims = [1, 2] : tensor<64x64xf32> -> tensor<64x64x64xf32>
  %3 = metaop.mul %1, %2 : tensor<64x64x64xf32>
  %4 = metaop.reduce add %3 dims = [2] : tensor<64x64x64xf32> -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// A value that is returned exists anyway.
// CHECK-LABEL: func @returned
// CHECK:         metaop.exp {{.*}} : tensor<64xf32>
// CHECK-NEXT:    metaop.broadcast
// CHECK-NEXT:    metaop.mul
func.func @returned(%x: tensor<32x64xf32>, %v: tensor<64xf32>) -> (tensor<64xf32>, tensor<32x64xf32>) {
  %0 = metaop.exp %v : tensor<64xf32>
  %1 = metaop.broadcast %0 dims = [1] : tensor<64xf32> -> tensor<32x64xf32>
  %2 = metaop.mul %x, %1 : tensor<32x64xf32>
  return %0, %2 : tensor<64xf32>, tensor<32x64xf32>
}

// Reindexes compose where extents are dynamic too.
// CHECK-LABEL: func @dynamic
// CHECK-SAME:    %{{[^:]*}}: tensor<?x64xf32>, %[[S:[^:]*]]: tensor<f32>
// CHECK:         metaop.reindex %[[S]] extents(%{{.*}}) map {{.*}} : tensor<f32> -> tensor<?x64xf32>
// CHECK:         metaop.exp {{.*}} : tensor<?x64xf32>
// CHECK:         metaop.mul
func.func @dynamic(%x: tensor<?x64xf32>, %s: tensor<f32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %0 = metaop.broadcast %s extents(%n) dims = [] : tensor<f32> -> tensor<?xf32>
  %1 = metaop.exp %0 : tensor<?xf32>
  %2 = metaop.broadcast %1 extents(%n) dims = [0] : tensor<?xf32> -> tensor<?x64xf32>
  %3 = metaop.mul %x, %2 : tensor<?x64xf32>
  return %3 : tensor<?x64xf32>
}

// Windows of 3 x 3 are nine times as large as what they are of. That is enough
// for a sum to move, and not for a division.
// CHECK-LABEL: func @windows
// CHECK:         %[[DIV:.*]] = metaop.div {{.*}} : tensor<64x64xf32>
// CHECK-NEXT:    metaop.reindex %[[DIV]]
// CHECK:         metaop.add {{.*}} : tensor<64x64x3x3xf32>
func.func @windows(%x: tensor<64x64x3x3xf32>, %a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64x3x3xf32>, tensor<64x64x3x3xf32>) {
  %0 = metaop.div %a, %b : tensor<64x64xf32>
  %1 = metaop.broadcast %0 dims = [0, 1] : tensor<64x64xf32> -> tensor<64x64x3x3xf32>
  %2 = metaop.mul %x, %1 : tensor<64x64x3x3xf32>
  %3 = metaop.add %a, %b : tensor<64x64xf32>
  %4 = metaop.broadcast %3 dims = [0, 1] : tensor<64x64xf32> -> tensor<64x64x3x3xf32>
  %5 = metaop.mul %x, %4 : tensor<64x64x3x3xf32>
  return %2, %5 : tensor<64x64x3x3xf32>, tensor<64x64x3x3xf32>
}

// What is expanded moves whatever it is: the copy is cheaper than its memory.
// CHECK-LABEL: func @expanded_division
// CHECK-NOT:     metaop.reindex {{.*}} : tensor<64x32xf32>
// CHECK:         metaop.div {{.*}} : tensor<32x64xf32>
func.func @expanded_division(%x: tensor<32x64xf32>, %a: tensor<64xf32>, %b: tensor<32xf32>) -> tensor<32x64xf32> {
  %0 = metaop.broadcast %a dims = [0] : tensor<64xf32> -> tensor<64x32xf32>
  %1 = metaop.broadcast %b dims = [1] : tensor<32xf32> -> tensor<64x32xf32>
  %2 = metaop.div %0, %1 : tensor<64x32xf32>
  %3 = metaop.transpose %2 perm = [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  %4 = metaop.mul %x, %3 : tensor<32x64xf32>
  return %4 : tensor<32x64xf32>
}

// The mean of columns is divided once for each, not for each row of x; that of
// rows is divided outside of the loop over a row.
// CHECK-LABEL: func @means
// CHECK:         metaop.div {{.*}} : tensor<256xf32>
// CHECK-NOT:     metaop.div {{.*}} : tensor<512xf32>
// CHECK:         metaop.div {{.*}} : tensor<512x256xf32>
func.func @means(%x: tensor<512x256xf32>, %a: tensor<256xf32>, %b: tensor<512xf32>, %n: tensor<256xf32>, %m: tensor<512xf32>) -> tensor<512x256xf32> {
  %0 = metaop.div %a, %n : tensor<256xf32>
  %1 = metaop.broadcast %0 dims = [1] : tensor<256xf32> -> tensor<512x256xf32>
  %2 = metaop.sub %x, %1 : tensor<512x256xf32>
  %3 = metaop.div %b, %m : tensor<512xf32>
  %4 = metaop.broadcast %3 dims = [0] : tensor<512xf32> -> tensor<512x256xf32>
  %5 = metaop.mul %2, %4 : tensor<512x256xf32>
  return %5 : tensor<512x256xf32>
}

// What reindexes alone read, no more of it than there is, is computed where they read:
// a transpose, and the parts of a split.
// CHECK-LABEL: func.func @permuted
// CHECK-NEXT: %[[T:.*]] = metaop.reindex %{{.*}} map
// CHECK-NEXT: %[[E:.*]] = metaop.exp %[[T]]
// CHECK-NEXT: return %[[E]]
func.func @permuted(%x: tensor<64x32xf32>) -> tensor<32x64xf32> {
  %0 = metaop.exp %x : tensor<64x32xf32>
  %1 = metaop.reindex %0 map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32
      : tensor<64x32xf32> -> tensor<32x64xf32>
  return %1 : tensor<32x64xf32>
}

// CHECK-LABEL: func.func @parts
// CHECK-COUNT-2: metaop.exp %{{.*}} : tensor<32x32xf32>
// CHECK-NOT: metaop.exp
func.func @parts(%x: tensor<64x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %0 = metaop.exp %x : tensor<64x32xf32>
  %1 = metaop.reindex %0 map affine_map<(d0, d1) -> (d0, d1)> fill 0.0 : f32
      : tensor<64x32xf32> -> tensor<32x32xf32>
  %2 = metaop.reindex %0 map affine_map<(d0, d1) -> (d0 + 32, d1)> fill 0.0 : f32
      : tensor<64x32xf32> -> tensor<32x32xf32>
  return %1, %2 : tensor<32x32xf32>, tensor<32x32xf32>
}

// Not where somebody else reads it, or some of it twice.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: metaop.exp %{{.*}} : tensor<64x32xf32>
// CHECK-NOT: metaop.exp
func.func @kept(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>)
    -> (tensor<32x64xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<1x32xf32>) {
  %0 = metaop.exp %x : tensor<64x32xf32>
  %1 = metaop.reindex %0 map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32
      : tensor<64x32xf32> -> tensor<32x64xf32>
  %2 = metaop.exp %y : tensor<64x32xf32>
  %3 = metaop.reindex %2 map affine_map<(d0, d1) -> (-d0 + 63, d1)> fill 0.0 : f32
      : tensor<64x32xf32> -> tensor<64x32xf32>
  %4 = metaop.reindex %2 map affine_map<(d0, d1) -> (d0, d1)> fill 0.0 : f32
      : tensor<64x32xf32> -> tensor<1x32xf32>
  return %1, %0, %3, %4 : tensor<32x64xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<1x32xf32>
}
