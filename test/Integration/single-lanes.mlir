// RUN: metaop-run %s --compare | FileCheck %s

// The rest of rows of 17 is one lane, of an i64 that is stored as an i32: four
// bytes, behind which the next row begins.
// CHECK: rest: 1 results agree
func.func @rest(%t: tensor<2x17x17xi64>) -> tensor<2x17x17xi32> {
  %0 = metaop.kernel(%x = %t : tensor<2x17x17xi64>) -> tensor<2x17x17xi32> {
    %1 = metaop.fused(%a = %x : tensor<2x17x17xi64>) -> tensor<2x17x17xi32> schedule(#metaop.schedule<[parallel(0), step(1, 8), step(2, 8)], tile = [1: 8, 2: 8], lanes = 1: 8, transpose = 2>) {
      %2 = metaop.reindex %a map affine_map<(d0, d1, d2) -> (d0, d2, d1)> fill 0 : i64 : tensor<2x17x17xi64> -> tensor<2x17x17xi64>
      %3 = metaop.cast %2 : tensor<2x17x17xi64> -> tensor<2x17x17xi32>
      metaop.yield %3 : tensor<2x17x17xi32>
    }
    metaop.yield %1 : tensor<2x17x17xi32>
  }
  return %0 : tensor<2x17x17xi32>
}
