// RUN: metaop-opt %s -metaop-schedule=processor={stream=1024} --mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s -metaop-schedule=processor={stream=1024} -metaop-explain -o /dev/null | FileCheck %s --check-prefix=EXPLAIN
// RUN: metaop-opt %s -metaop-schedule=processor={stream=1024} -metaop-explain -o /dev/null | sed -n 's/^ *stage \([^:]*\):.*/\1 =/p; s/^ *schedule: //p' | head -2 | tr '\n' ' ' > %t.schedules
// RUN: not metaop-opt %s -metaop-schedule=file=%t.schedules 2>&1 | FileCheck %s --check-prefix=FILE

// What a file's schedule streams begins at a line.
// FILE: .schedules:1: (P14) the schedule streams result 0, which lies in rows of another value

// Rows that are apart keep the loops apart. Where rows begin with lines if the
// first does, they may be stored past the caches.
// CHECK-LABEL: func @rows
// CHECK:       <[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 16
// CHECK-SAME:  stream = [0]>) attributes {result_rows = [#metaop.rows<64, pitch = 128>]}
// EXPLAIN-LABEL: kernel of @rows
// EXPLAIN:       for d0 < 100, parallel
// EXPLAIN:         for d1 < 64, vectors of 16
func.func @rows(%x: tensor<100x64xf32>) -> tensor<100x64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<100x64xf32>) -> tensor<100x64xf32> {
    %1 = metaop.fused(%b = %a : tensor<100x64xf32>) -> tensor<100x64xf32> attributes {result_rows = [#metaop.rows<64, pitch = 128>]} {
      %2 = metaop.exp %b : tensor<100x64xf32>
      metaop.yield %2 : tensor<100x64xf32>
    }
    metaop.yield %1 : tensor<100x64xf32>
  }
  return %0 : tensor<100x64xf32>
}

// CHECK-LABEL: func @unaligned
// CHECK:       <[parallel(0), step(1, 16)], tile
// CHECK-NOT:   stream
// CHECK-LABEL: func @inside
func.func @unaligned(%x: tensor<100x64xf32>) -> tensor<100x64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<100x64xf32>) -> tensor<100x64xf32> {
    %1 = metaop.fused(%b = %a : tensor<100x64xf32>) -> tensor<100x64xf32> attributes {result_rows = [#metaop.rows<64, pitch = 67>]} {
      %2 = metaop.exp %b : tensor<100x64xf32>
      metaop.yield %2 : tensor<100x64xf32>
    }
    metaop.yield %1 : tensor<100x64xf32>
  }
  return %0 : tensor<100x64xf32>
}

// Dimensions inside of a row, and those that number rows, are one loop each.
// What is read lies in rows of its own.
// CHECK:         <[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 16>
// EXPLAIN-LABEL: kernel of @inside
// EXPLAIN:       for d0 < 20, parallel
// EXPLAIN:         for d1 < 96, vectors of 16
func.func @inside(%x: tensor<5x4x3x32xf32>) -> tensor<5x4x3x32xf32> {
  %0 = metaop.kernel(%a = %x : tensor<5x4x3x32xf32>) -> tensor<5x4x3x32xf32> {
    %1 = metaop.fused(%b = %a : tensor<5x4x3x32xf32>) -> tensor<5x4x3x32xf32>
        attributes {input_rows = [#metaop.rows<96, pitch = 100>], result_rows = [#metaop.rows<96, pitch = 200>]} {
      %2 = metaop.exp %b : tensor<5x4x3x32xf32>
      metaop.yield %2 : tensor<5x4x3x32xf32>
    }
    metaop.yield %1 : tensor<5x4x3x32xf32>
  }
  return %0 : tensor<5x4x3x32xf32>
}
