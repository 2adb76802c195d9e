// RUN: metaop-run %s --entry=fine --interpret | FileCheck %s --check-prefix=FINE --match-full-lines
// RUN: metaop-run %s --entry=fine | FileCheck %s --check-prefix=FINE --match-full-lines
// RUN: not metaop-run %s --entry=above --interpret 2>&1 | FileCheck %s --check-prefix=ABOVE
// RUN: not metaop-run %s --entry=above 2>&1 | FileCheck %s --check-prefix=ABOVE
// RUN: not metaop-run %s --entry=label --interpret 2>&1 | FileCheck %s --check-prefix=LABEL
// RUN: not metaop-run %s --entry=label 2>&1 | FileCheck %s --check-prefix=LABEL
// RUN: not metaop-run %s --entry=loop --interpret 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not metaop-run %s --entry=loop 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not metaop-run %s --entry=numbers --interpret 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: not metaop-run %s --entry=numbers 2>&1 | FileCheck %s --check-prefix=NUMBERS

// A check gives its operand, or fails the program with its place, interpreted
// and compiled; in a loop as soon as a trip has an index out of range.

// FINE: result 0: tensor<4xi64>
// FINE-NEXT: [3, -4, 0, -1]
// FINE-NEXT: result 1: tensor<2xi8>
// FINE-NEXT: [1, -7]
func.func @fine() -> (tensor<4xi64>, tensor<2xi8>) {
  %i = metaop.constant dense<[3, -4, 0, -1]> : tensor<4xi64>
  %0 = metaop.neg %i : tensor<4xi64>
  %1 = metaop.neg %0 : tensor<4xi64>
  %2 = metaop.check %1 extent = 4 negative dim = 0 : tensor<4xi64>
  %l = metaop.constant dense<[1, -7]> : tensor<2xi8>
  %3 = metaop.check %l extent = 2 ignored = -7 : tensor<2xi8>
  return %2, %3 : tensor<4xi64>, tensor<2xi8>
}

// ABOVE: {{checks.mlir:32:8: .metaop.check. op index 4 is out of range for dimension 2 of extent 4|index 4 is out of range for dimension 2 of extent 4, recorded at .*checks.mlir:32:8}}
func.func @above() -> tensor<4xi64> {
  %i = metaop.constant dense<[3, -4, 4, -5]> : tensor<4xi64>
  %0 = metaop.check %i extent = 4 negative dim = 2 : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// LABEL: label -7 is out of range for 2 classes
func.func @label() -> tensor<2xi8> {
  %l = metaop.constant dense<[-8, -7]> : tensor<2xi8>
  %0 = metaop.check %l extent = 2 ignored = -8 : tensor<2xi8>
  return %0 : tensor<2xi8>
}

// LOOP: index 5 is out of range for dimension 0 of extent 5
func.func @loop() -> tensor<i64> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %one = metaop.constant dense<1> : tensor<i64>
  %r = scf.while (%k = %zero) : (tensor<i64>) -> tensor<i64> {
    %end = metaop.constant dense<100> : tensor<i64>
    %less = metaop.cmp lt %k, %end : tensor<i64> -> tensor<i1>
    %c = tensor.extract %less[] : tensor<i1>
    scf.condition(%c) %k : tensor<i64>
  } do {
  ^bb0(%k: tensor<i64>):
    %checked = metaop.check %k extent = 5 dim = 0 : tensor<i64>
    %next = metaop.add %checked, %one : tensor<i64>
    scf.yield %next : tensor<i64>
  }
  return %r : tensor<i64>
}

// NUMBERS: index -3 is out of range for dimension 1 of extent 2
func.func @numbers() -> tensor<i64> {
  %0 = metaop.constant dense<-3> : tensor<i64>
  %1 = metaop.constant dense<1> : tensor<i64>
  metaop.check_range %1, %0 extent = 0
  metaop.check_range %0, %1 extent = 2 negative dim = 1
  return %0 : tensor<i64>
}
