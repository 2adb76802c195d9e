// RUN: metaop-run %s --interpret --entry=sums | FileCheck %s --check-prefix=SUMS
// RUN: metaop-run %s --interpret --entry=counted | FileCheck %s --check-prefix=COUNTED
// RUN: metaop-run %s --interpret --entry=bounded | FileCheck %s --check-prefix=BOUNDED
// RUN: metaop-run %s --entry=bounded | FileCheck %s --check-prefix=BOUNDED
// RUN: metaop-run %s --entry=bounded --target=cuda --emulate | FileCheck %s --check-prefix=BOUNDED
// RUN: metaop-run %s --interpret --entry=nested | FileCheck %s --check-prefix=NESTED
// RUN: metaop-run %s --interpret --entry=none | FileCheck %s --check-prefix=NONE
// RUN: metaop-run %s --entry=sums | FileCheck %s --check-prefix=SUMS
// RUN: metaop-run %s --entry=counted | FileCheck %s --check-prefix=COUNTED
// RUN: metaop-run %s --entry=nested | FileCheck %s --check-prefix=NESTED
// RUN: metaop-run %s --entry=none | FileCheck %s --check-prefix=NONE
// RUN: metaop-run %s --entry=sums --target=cuda --emulate | FileCheck %s --check-prefix=SUMS
// RUN: metaop-run %s --entry=nested --target=cuda --emulate | FileCheck %s --check-prefix=NESTED
// RUN: not metaop-run %s --interpret --entry=fails 2>&1 | FileCheck %s --check-prefix=FAILS

// From the first row to the last, and back.
// SUMS: result 0: tensor<2xi64>
// SUMS-NEXT: [9, 12]
// SUMS: result 1: tensor<3x2xi64>
// SUMS-NEXT: [1, 2]
// SUMS-NEXT: [4, 6]
// SUMS-NEXT: [9, 12]
// SUMS: result 2: tensor<2xi64>
// SUMS-NEXT: [9, 12]
// SUMS: result 3: tensor<3x2xi64>
// SUMS-NEXT: [9, 12]
// SUMS-NEXT: [8, 10]
// SUMS-NEXT: [5, 6]
func.func @sums() -> (tensor<2xi64>, tensor<3x2xi64>, tensor<2xi64>, tensor<3x2xi64>) {
  %xs = metaop.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %zero = metaop.constant dense<0> : tensor<2xi64>
  %a, %as = metaop.scan 3 carries(%c = %zero : tensor<2xi64>) rows(%x = %xs : tensor<3x2xi64>) -> (tensor<2xi64>, tensor<3x2xi64>) {
    %next = metaop.add %c, %x : tensor<2xi64>
    metaop.scan_yield %next, %next : tensor<2xi64>, tensor<2xi64>
  }
  %b, %bs = metaop.scan 3 reverse carries(%c = %zero : tensor<2xi64>) rows(%x = %xs : tensor<3x2xi64>) -> (tensor<2xi64>, tensor<3x2xi64>) {
    %next = metaop.add %c, %x : tensor<2xi64>
    metaop.scan_yield %next, %next : tensor<2xi64>, tensor<2xi64>
  }
  return %a, %as, %b, %bs : tensor<2xi64>, tensor<3x2xi64>, tensor<2xi64>, tensor<3x2xi64>
}

// COUNTED: result 0: tensor<i64>
// COUNTED-NEXT: 32
// COUNTED: result 1: tensor<i64>
// COUNTED-NEXT: 1
func.func @counted() -> (tensor<i64>, tensor<i64>) {
  %one = metaop.constant dense<1> : tensor<i64>
  %five = metaop.constant dense<5> : tensor<i64>
  %less = metaop.constant dense<-5> : tensor<i64>
  %r = metaop.scan %five carries(%c = %one : tensor<i64>) -> tensor<i64> {
    %next = metaop.add %c, %c : tensor<i64>
    metaop.scan_yield %next : tensor<i64>
  }
  %s = metaop.scan %less carries(%c = %one : tensor<i64>) -> tensor<i64> {
    %next = metaop.add %c, %c : tensor<i64>
    metaop.scan_yield %next : tensor<i64>
  }
  return %r, %s : tensor<i64>, tensor<i64>
}

// Two trips over the first two of three rows, back to front: what the second
// one makes is the first row, which another loop of two trips adds up. Five are
// three, and -1 is none.
// BOUNDED: result 0: tensor<3x2xi64>
// BOUNDED-NEXT: [7, 10]
// BOUNDED-NEXT: [22, 28]
// BOUNDED-NEXT: [0, 0]
func.func @bounded() -> tensor<3x2xi64> {
  %xs = metaop.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %zero = metaop.constant dense<0> : tensor<2xi64>
  %counts = metaop.constant dense<[2, 5, -1]> : tensor<3xi64>
  %r = metaop.scan 3 rows(%n = %counts : tensor<3xi64>) -> tensor<3x2xi64> {
    %a, %as = metaop.scan %n most 3 reverse carries(%c = %zero : tensor<2xi64>) rows(%x = %xs : tensor<3x2xi64>) -> (tensor<2xi64>, tensor<3x2xi64>) {
      %next = metaop.add %c, %x : tensor<2xi64>
      metaop.scan_yield %next, %next : tensor<2xi64>, tensor<2xi64>
    }
    %b = metaop.scan %n most 3 carries(%c = %zero : tensor<2xi64>) rows(%x = %as : tensor<3x2xi64>) -> tensor<2xi64> {
      %next = metaop.add %c, %x : tensor<2xi64>
      metaop.scan_yield %next : tensor<2xi64>
    }
    metaop.scan_yield %b : tensor<2xi64>
  }
  return %r : tensor<3x2xi64>
}

// A row of a row, beside values of around both.
// NESTED: result 0: tensor<2x3xi64>
// NESTED-NEXT: [10, 21, 33]
// NESTED-NEXT: [44, 59, 75]
func.func @nested() -> tensor<2x3xi64> {
  %xs = metaop.constant dense<[[0, 1, 2], [1, 5, 6]]> : tensor<2x3xi64>
  %ten = metaop.constant dense<10> : tensor<i64>
  %zero = metaop.constant dense<0> : tensor<i64>
  %sum, %ys = metaop.scan 2 carries(%c = %zero : tensor<i64>) rows(%x = %xs : tensor<2x3xi64>) -> (tensor<i64>, tensor<2x3xi64>) {
    %s, %y = metaop.scan 3 carries(%d = %c : tensor<i64>) rows(%e = %x : tensor<3xi64>) -> (tensor<i64>, tensor<3xi64>) {
      %more = metaop.add %d, %e : tensor<i64>
      %next = metaop.add %more, %ten : tensor<i64>
      metaop.scan_yield %next, %next : tensor<i64>, tensor<i64>
    }
    metaop.scan_yield %s, %y : tensor<i64>, tensor<3xi64>
  }
  return %ys : tensor<2x3xi64>
}

// NONE: result 0: tensor<i64>
// NONE-NEXT: 7
// NONE: result 1: tensor<0x2xf32>
func.func @none() -> (tensor<i64>, tensor<0x2xf32>) {
  %seven = metaop.constant dense<7> : tensor<i64>
  %x = metaop.constant dense<1.0> : tensor<2xf32>
  %r, %rows = metaop.scan 0 carries(%c = %seven : tensor<i64>) -> (tensor<i64>, tensor<0x2xf32>) {
    %next = metaop.add %c, %c : tensor<i64>
    metaop.scan_yield %next, %x : tensor<i64>, tensor<2xf32>
  }
  return %r, %rows : tensor<i64>, tensor<0x2xf32>
}

// FAILS: scan.mlir:[[#@LINE+4]]:5: 'metaop.check_range' op
func.func @fails() {
  %xs = metaop.constant dense<[1, 7]> : tensor<2xi64>
  metaop.scan 2 rows(%x = %xs : tensor<2xi64>) {
    metaop.check_range %x, %x extent = 5
    metaop.scan_yield
  }
  return
}
