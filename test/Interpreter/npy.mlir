// Inputs from .npy files and results to .npy files, compared by NumPy itself:
// every type, both versions of the format, empty and 0-d arrays.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/npy.py write %t
// RUN: metaop-run %s --interpret --entry=types --input=%t/b1.npy \
// RUN:   --input=%t/i1.npy --input=%t/i2.npy --input=%t/i4.npy \
// RUN:   --input=%t/i8.npy --input=%t/u1.npy --input=%t/u2.npy \
// RUN:   --input=%t/u4.npy --input=%t/u8.npy --input=%t/f2.npy \
// RUN:   --input=%t/f4.npy --input=%t/f8.npy --input=%t/V2.npy \
// RUN:   --output=%t/results | count 0
// RUN: %python %S/Inputs/npy.py compare %t

func.func @types(
    %b1: tensor<2x3xi1>, %i1: tensor<2x3xi8>, %i2: tensor<2x3xi16>,
    %i4: tensor<2x3xi32>, %i8: tensor<2x3xi64>, %u1: tensor<2x3xui8>,
    %u2: tensor<2x3xui16>, %u4: tensor<2x3xui32>, %u8: tensor<2x3xui64>,
    %f2: tensor<2x3xf16>, %f4: tensor<2x3xf32>, %f8: tensor<2x3xf64>,
    %v2: tensor<2x3xbf16>) -> (
    tensor<2x3xi1>, tensor<2x3xi8>, tensor<2x3xi16>, tensor<2x3xi32>,
    tensor<2x3xi64>, tensor<2x3xui8>, tensor<2x3xui16>, tensor<2x3xui32>,
    tensor<2x3xui64>, tensor<2x3xf16>, tensor<2x3xf32>, tensor<2x3xf64>,
    tensor<2x3xbf16>) {
  return %b1, %i1, %i2, %i4, %i8, %u1, %u2, %u4, %u8, %f2, %f4, %f8, %v2 :
      tensor<2x3xi1>, tensor<2x3xi8>, tensor<2x3xi16>, tensor<2x3xi32>,
      tensor<2x3xi64>, tensor<2x3xui8>, tensor<2x3xui16>, tensor<2x3xui32>,
      tensor<2x3xui64>, tensor<2x3xf16>, tensor<2x3xf32>, tensor<2x3xf64>,
      tensor<2x3xbf16>
}

// One result goes to one file; --print shows it as well. Dynamic extents take
// what the file has.

// RUN: metaop-run %s --interpret --entry=double --input=%t/row.npy \
// RUN:   --output=%t/doubled.npy --print | FileCheck %s --check-prefix=PRINT
// RUN: metaop-run %s --interpret --entry=double --input=%t/doubled.npy \
// RUN:   | FileCheck %s --check-prefix=AGAIN
// RUN: metaop-run %s --interpret --entry=double --input=%t/version2.npy \
// RUN:   | FileCheck %s --check-prefix=PRINT
// RUN: metaop-run %s --interpret --entry=double --input=%t/empty.npy \
// RUN:   | FileCheck %s --check-prefix=EMPTY
// RUN: metaop-run %s --interpret --entry=number --input=%t/number.npy \
// RUN:   | FileCheck %s --check-prefix=NUMBER
// PRINT: result 0: tensor<3xf32>
// PRINT-NEXT: [2, -4, 7]
// AGAIN: [4, -8, 14]
// EMPTY: result 0: tensor<0xf32>
// EMPTY-NEXT: []
// NUMBER: result 0: index
// NUMBER-NEXT: 41

func.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = metaop.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @number(%n: index) -> index {
  %c1 = arith.constant 1 : index
  %0 = arith.subi %n, %c1 : index
  return %0 : index
}
