// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s
// RUN: metaop-run %s --compare | FileCheck %s --check-prefix=COMPARE

// The places of a window are emitted one after another, each with the checks that
// may fail there: the first row may lie above the image, the first column to the
// left of it. Nothing of this window lies below the image or to the right.
// COMPARE: pool: 1 results agree
// CHECK-LABEL: func.func @pool(
// CHECK:       scf.for %[[I:.*]] = %{{.*}} to
// CHECK:         scf.for %[[J:.*]] =
// CHECK-NOT:       scf.for
// CHECK:           %[[ISINSIDE:.*]] = arith.cmpi sge, {{.*}} : index
// CHECK:           %[[ISRIGHT:.*]] = arith.cmpi sle, {{.*}} : vector<4xi32>
// CHECK:           scf.if %[[ISINSIDE]]
// CHECK:           scf.if %[[ISINSIDE]]
// CHECK:           scf.if %[[ISINSIDE]]
// CHECK-NOT:       {{scf.if|arith.cmpi}}
// CHECK:           vector.store
func.func @pool(%x: tensor<16x16xf32>) -> tensor<8x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<16x16xf32>) -> tensor<8x8xf32> {
    %r = metaop.fused(%a = %kx : tensor<16x16xf32>) -> tensor<8x8xf32>
        schedule(#metaop.schedule<[parallel(0), step(1, 4), step(2), step(3)], tile = [1: 4], lanes = 1: 4, unroll = [2, 3]>) {
      %0 = metaop.reindex %a map affine_map<(i, j, r, s) -> (2 * i + r - 1, 2 * j + s - 1)> fill 0xFF800000 : f32 : tensor<16x16xf32> -> tensor<8x8x3x3xf32>
      %y = metaop.reduce max %0 dims = [2, 3] : tensor<8x8x3x3xf32> -> tensor<8x8xf32>
      metaop.yield %y : tensor<8x8xf32>
    }
    metaop.yield %r : tensor<8x8xf32>
  }
  return %k : tensor<8x8xf32>
}

// Of four rows side by side, the first alone may have nothing above it, and the
// last nothing below, where rows are a multiple of four,
// COMPARE: rows: 1 results agree
// CHECK-LABEL: func.func @rows(
// CHECK-COUNT-2: arith.cmpi
// CHECK-NOT:     arith.cmpi
// CHECK:         return
func.func @rows(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x16xf32>) -> tensor<8x16xf32> {
    %r = metaop.fused(%a = %kx : tensor<8x16xf32>) -> tensor<8x16xf32>
        schedule(#metaop.schedule<[step(0, 4), step(1, 16), step(2)], tile = [0: 4, 1: 16], lanes = 1: 16, unroll = [2]>) {
      %0 = metaop.reindex %a map affine_map<(i, j, r) -> (i + r - 1, j)> fill 0.0 : f32 : tensor<8x16xf32> -> tensor<8x16x3xf32>
      %y = metaop.reduce add %0 dims = [2] : tensor<8x16x3xf32> -> tensor<8x16xf32>
      metaop.yield %y : tensor<8x16xf32>
    }
    metaop.yield %r : tensor<8x16xf32>
  }
  return %k : tensor<8x16xf32>
}

// and any of them where the last rows are computed again.
// COMPARE: rest: 1 results agree
func.func @rest(%x: tensor<7x16xf32>) -> tensor<7x16xf32> {
  %k = metaop.kernel(%kx = %x : tensor<7x16xf32>) -> tensor<7x16xf32> {
    %r = metaop.fused(%a = %kx : tensor<7x16xf32>) -> tensor<7x16xf32>
        schedule(#metaop.schedule<[parallel(0, 4), step(1, 16), step(2)], tile = [0: 4, 1: 16], lanes = 1: 16, unroll = [2]>) {
      %0 = metaop.reindex %a map affine_map<(i, j, r) -> (i + r - 1, j)> fill 0.0 : f32 : tensor<7x16xf32> -> tensor<7x16x3xf32>
      %y = metaop.reduce add %0 dims = [2] : tensor<7x16x3xf32> -> tensor<7x16xf32>
      metaop.yield %y : tensor<7x16xf32>
    }
    metaop.yield %r : tensor<7x16xf32>
  }
  return %k : tensor<7x16xf32>
}
