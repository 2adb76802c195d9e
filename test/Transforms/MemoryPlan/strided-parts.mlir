// RUN: metaop-opt %s -split-input-file -metaop-strided-parts --mlir-print-local-scope | FileCheck %s

// Both parts lie in rows of their own width; what is in memory is copied.
// CHECK-LABEL: func @columns
// CHECK:       metaop.fused({{.*}}) -> tensor<10x6xf32> attributes {result_rows = [#metaop.rows<6, pitch = 24>]}
// CHECK:       metaop.fused({{.*}}) -> tensor<10x8xf32> attributes {result_rows = [#metaop.rows<8, pitch = 24>]}
func.func @columns(%x: tensor<10x6xf32>, %y: tensor<10x8xf32>, %z: tensor<10x10xf32>) -> tensor<10x24xf32> {
  %0 = metaop.kernel(%a = %x : tensor<10x6xf32>) -> tensor<10x6xf32> {
    %3 = metaop.fused(%b = %a : tensor<10x6xf32>) -> tensor<10x6xf32> {
      %4 = metaop.neg %b : tensor<10x6xf32>
      metaop.yield %4 : tensor<10x6xf32>
    }
    metaop.yield %3 : tensor<10x6xf32>
  }
  %1 = metaop.kernel(%a = %y : tensor<10x8xf32>) -> tensor<10x8xf32> {
    %3 = metaop.fused(%b = %a : tensor<10x8xf32>) -> tensor<10x8xf32> {
      %4 = metaop.neg %b : tensor<10x8xf32>
      metaop.yield %4 : tensor<10x8xf32>
    }
    metaop.yield %3 : tensor<10x8xf32>
  }
  %2 = metaop.concat %0, %z, %1 dim = 1 : (tensor<10x6xf32>, tensor<10x10xf32>, tensor<10x8xf32>) -> tensor<10x24xf32>
  return %2 : tensor<10x24xf32>
}

// -----

// A concat along the outermost dimension has no rows, nor has one of whole rows.
// CHECK-LABEL: func @contiguous
// CHECK-NOT:   rows
func.func @contiguous(%x: tensor<1x8xf32>) -> (tensor<2x8xf32>, tensor<1x16xf32>) {
  %0:2 = metaop.kernel(%a = %x : tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
    %3:2 = metaop.fused(%b = %a : tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
      %4 = metaop.neg %b : tensor<1x8xf32>
      %5 = metaop.exp %b : tensor<1x8xf32>
      metaop.yield %4, %5 : tensor<1x8xf32>, tensor<1x8xf32>
    }
    metaop.yield %3#0, %3#1 : tensor<1x8xf32>, tensor<1x8xf32>
  }
  %1 = metaop.concat %0#0, %x dim = 0 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %2 = metaop.concat %0#1, %x dim = 1 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x16xf32>
  return %1, %2 : tensor<2x8xf32>, tensor<1x16xf32>
}

// -----

// A stack sees its parts through views, in which the rows are the same. Of two
// results one is a part. The kernel that reads the part besides reads rows too.
// CHECK-LABEL: func @stack
// CHECK:       metaop.fused({{.*}}) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>) attributes {result_rows = [unit, #metaop.rows<15, pitch = 30>]}
// CHECK:       metaop.fused({{.*}}) -> tensor<2x3x5xf32> attributes {input_rows = [unit, #metaop.rows<15, pitch = 30>]}
func.func @stack(%x: tensor<2x3x5xf32>) -> (tensor<2x2x3x5xf32>, tensor<2x3x5xf32>) {
  %0:2 = metaop.kernel(%a = %x : tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>) {
    %4:2 = metaop.fused(%b = %a : tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>) {
      %5 = metaop.neg %b : tensor<2x3x5xf32>
      %6 = metaop.exp %b : tensor<2x3x5xf32>
      metaop.yield %5, %6 : tensor<2x3x5xf32>, tensor<2x3x5xf32>
    }
    metaop.yield %4#0, %4#1 : tensor<2x3x5xf32>, tensor<2x3x5xf32>
  }
  %1 = metaop.kernel(%a = %0#0 : tensor<2x3x5xf32>, %b = %0#1 : tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
    %4 = metaop.fused(%c = %a : tensor<2x3x5xf32>, %d = %b : tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
      %5 = metaop.mul %c, %d : tensor<2x3x5xf32>
      metaop.yield %5 : tensor<2x3x5xf32>
    }
    metaop.yield %4 : tensor<2x3x5xf32>
  }
  %2 = metaop.reshape %0#1 : tensor<2x3x5xf32> -> tensor<2x1x3x5xf32>
  %y = metaop.reshape %x : tensor<2x3x5xf32> -> tensor<2x1x3x5xf32>
  %3 = metaop.concat %y, %2 dim = 1 : (tensor<2x1x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x2x3x5xf32>
  return %3, %1 : tensor<2x2x3x5xf32>, tensor<2x3x5xf32>
}

// -----

// Short rows are for reductions only, which write little.
// CHECK-LABEL: func @short
// CHECK:       metaop.fused({{.*}}) -> tensor<10xf32> attributes {result_rows = [#metaop.rows<1, pitch = 2>]}
// CHECK-NOT:   rows
func.func @short(%x: tensor<10x6xf32>, %y: tensor<10xf32>) -> tensor<10x2xf32> {
  %0 = metaop.kernel(%a = %x : tensor<10x6xf32>) -> tensor<10xf32> {
    %5 = metaop.fused(%b = %a : tensor<10x6xf32>) -> tensor<10xf32> {
      %6 = metaop.reindex_reduce add %b map affine_map<(d0, d1) -> (d0)> : tensor<10x6xf32> -> tensor<10xf32>
      metaop.yield %6 : tensor<10xf32>
    }
    metaop.yield %5 : tensor<10xf32>
  }
  %1 = metaop.kernel(%a = %y : tensor<10xf32>) -> tensor<10xf32> {
    %5 = metaop.fused(%b = %a : tensor<10xf32>) -> tensor<10xf32> {
      %6 = metaop.exp %b : tensor<10xf32>
      metaop.yield %6 : tensor<10xf32>
    }
    metaop.yield %5 : tensor<10xf32>
  }
  %2 = metaop.reshape %0 : tensor<10xf32> -> tensor<10x1xf32>
  %3 = metaop.reshape %1 : tensor<10xf32> -> tensor<10x1xf32>
  %4 = metaop.concat %2, %3 dim = 1 : (tensor<10x1xf32>, tensor<10x1xf32>) -> tensor<10x2xf32>
  return %4 : tensor<10x2xf32>
}

// -----

// A part that is returned, a part twice, a part of two concats, one that is seen
// in a shape without the rows, and one whose kernel has been scheduled.
// CHECK-LABEL: func @elsewhere
// CHECK-NOT:   rows
func.func @elsewhere(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<64xf32>, tensor<8x24xf32>) {
  %0:4 = metaop.kernel(%a = %x : tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %6:4 = metaop.fused(%b = %a : tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
      %7 = metaop.neg %b : tensor<8x8xf32>
      %8 = metaop.exp %b : tensor<8x8xf32>
      %9 = metaop.abs %b : tensor<8x8xf32>
      %10 = metaop.sin %b : tensor<8x8xf32>
      metaop.yield %7, %8, %9, %10 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    }
    metaop.yield %6#0, %6#1, %6#2, %6#3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  %1 = metaop.kernel(%a = %x : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %6 = metaop.fused(%b = %a : tensor<8x8xf32>) -> tensor<8x8xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16>) {
      %7 = metaop.log %b : tensor<8x8xf32>
      metaop.yield %7 : tensor<8x8xf32>
    }
    metaop.yield %6 : tensor<8x8xf32>
  }
  %2 = metaop.concat %0#0, %0#2 dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  %3 = metaop.concat %0#1, %0#1 dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  %4 = metaop.reshape %0#3 : tensor<8x8xf32> -> tensor<64xf32>
  %k = metaop.kernel(%a = %4 : tensor<64xf32>) -> tensor<64xf32> {
    %6 = metaop.fused(%b = %a : tensor<64xf32>) -> tensor<64xf32> {
      %7 = metaop.log %b : tensor<64xf32>
      metaop.yield %7 : tensor<64xf32>
    }
    metaop.yield %6 : tensor<64xf32>
  }
  %5 = metaop.concat %0#3, %1, %0#2 dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x24xf32>
  return %0#0, %2, %3, %k, %5 : tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<64xf32>, tensor<8x24xf32>
}

// -----

// What an insert may write over before the part's other reader runs.
// CHECK-LABEL: func @overwritten
// CHECK-NOT:   rows
func.func @overwritten(%x: tensor<8x8xf32>, %p: tensor<2x2xf32>, %i: tensor<i64>) -> (tensor<8x16xf32>, tensor<8x8xf32>) {
  %0 = metaop.kernel(%a = %x : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %4 = metaop.fused(%b = %a : tensor<8x8xf32>) -> tensor<8x8xf32> {
      %5 = metaop.neg %b : tensor<8x8xf32>
      metaop.yield %5 : tensor<8x8xf32>
    }
    metaop.yield %4 : tensor<8x8xf32>
  }
  %1 = metaop.concat %x, %0 dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  %2 = metaop.insert none %p into %1[%i, %i] : tensor<2x2xf32> into tensor<8x16xf32>
  %3 = metaop.kernel(%a = %0 : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %4 = metaop.fused(%b = %a : tensor<8x8xf32>) -> tensor<8x8xf32> {
      %5 = metaop.exp %b : tensor<8x8xf32>
      metaop.yield %5 : tensor<8x8xf32>
    }
    metaop.yield %4 : tensor<8x8xf32>
  }
  return %2, %3 : tensor<8x16xf32>, tensor<8x8xf32>
}
