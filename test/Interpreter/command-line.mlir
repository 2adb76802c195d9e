// What metaop-run says of input that it cannot use. The exit status is 1.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/npy.py write %t
// RUN: %python %S/Inputs/npy.py damage %t

// RUN: not metaop-run %s --interpret --entry=absent 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: there is no function 'absent'; there is main, dynamic, two

// RUN: not metaop-run %t/absent.mlir --interpret 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FILE
// FILE: error: cannot open input file '{{.*}}absent.mlir'

// RUN: echo 'func.func @main() { %0 = metaop.absent }' > %t/wrong.mlir
// RUN: not metaop-run %t/wrong.mlir --interpret 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PARSE
// PARSE: wrong.mlir:1:26: error: {{.*}}metaop.absent

// RUN: not metaop-run %s --interpret --input=%t/f4.npy --input=%t/f4.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: the function takes 1 arguments, given 2 by --input

// RUN: not metaop-run %s --interpret --input=%t/row.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: argument 0 ('{{.*}}row.npy') has to be tensor<2x3xf32>, given tensor<3xf32>

// RUN: not metaop-run %s --interpret --input=%t/f8.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TYPE
// TYPE: error: argument 0 ('{{.*}}f8.npy') has to be tensor<2x3xf32>, given tensor<2x3xf64>

// RUN: not metaop-run %s --interpret --input=%t/f4.npy --seed=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BOTH
// BOTH: error: --input gives the arguments, so --seed and --shape cannot

// RUN: not metaop-run %s --interpret --entry=dynamic 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: error: argument 0 has dynamic extents: give --shape=0:... or --input

// RUN: not metaop-run %s --interpret --entry=dynamic --shape=0:2y 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MALFORMED
// RUN: not metaop-run %s --interpret --entry=dynamic --shape=2x3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MALFORMED
// RUN: not metaop-run %s --interpret --entry=dynamic --shape=0:-2x3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MALFORMED
// MALFORMED: error: --shape={{.*}}: expected an argument's number and its extents, as in --shape=0:4x8

// RUN: not metaop-run %s --interpret --entry=dynamic --shape=1:2x3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BEYOND
// BEYOND: error: --shape=1:2x3: the function takes 1 arguments

// RUN: not metaop-run %s --interpret --entry=dynamic --shape=0:2x4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STATIC
// STATIC: error: argument 0 (by --shape) has to be tensor<?x3xf32>, given tensor<2x4xf32>

// RUN: not metaop-run %s --interpret --entry=dynamic --shape=0:9223372036854775807x3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HUGE
// HUGE: error: argument 0: a tensor of shape 9223372036854775807x3 and type f32 is larger than the limit

// RUN: not metaop-run %s --interpret --entry=two --output=%t/two.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FILES
// FILES: error: --output={{.*}}two.npy is one file, but 2 results are to be saved; name a folder

// RUN: not metaop-run %s --interpret --output=%t/absent/y.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: error: cannot write '{{.*}}y.npy': No such file or directory

// RUN: not metaop-run %s --interpret --input=%t/absent.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: cannot read '{{.*}}absent.npy': No such file or directory

// RUN: not metaop-run %s --interpret --input=%s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MAGIC
// MAGIC: error: '{{.*}}command-line.mlir' is no .npy file

// RUN: not metaop-run %s --interpret --input=%t/short.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHORT
// SHORT: error: '{{.*}}short.npy' holds 23 bytes of elements where 2x3 elements of type '<f4' take 24

// RUN: not metaop-run %s --interpret --input=%t/header.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HEADER
// HEADER: error: '{{.*}}header.npy' ends inside of its header

// RUN: not metaop-run %s --interpret --input=%t/fortran.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FORTRAN
// FORTRAN: error: '{{.*}}fortran.npy' is in Fortran order; save numpy.ascontiguousarray of the array

// RUN: not metaop-run %s --interpret --input=%t/big-endian.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DESCR
// RUN: not metaop-run %s --interpret --input=%t/complex.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DESCR
// DESCR: error: '{{.*}}.npy' has elements of type '{{>f4|<c8}}'; what can be read are

// RUN: not metaop-run %s --interpret --input=%t/record.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RECORD
// RECORD: error: '{{.*}}record.npy' has a header that cannot be understood: {'descr': [('a', '<f4')]

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}

func.func @dynamic(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}

func.func @two(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %x, %x : tensor<f32>, tensor<f32>
}
