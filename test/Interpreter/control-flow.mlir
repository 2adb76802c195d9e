// RUN: metaop-run %s --interpret --entry=nested | FileCheck %s --check-prefix=NESTED
// RUN: metaop-run %s --interpret --entry=branches | FileCheck %s --check-prefix=BRANCHES
// RUN: metaop-run %s --interpret --entry=collatz | FileCheck %s --check-prefix=COLLATZ
// RUN: metaop-run %s --interpret --entry=bounds | FileCheck %s --check-prefix=BOUNDS
// RUN: metaop-run %s --interpret --entry=last | FileCheck %s --check-prefix=LAST
// RUN: metaop-run %s --interpret --entry=halves | FileCheck %s --check-prefix=HALVES
// RUN: metaop-run %s --entry=nested | FileCheck %s --check-prefix=NESTED
// RUN: metaop-run %s --entry=branches | FileCheck %s --check-prefix=BRANCHES
// RUN: metaop-run %s --entry=bounds | FileCheck %s --check-prefix=BOUNDS
// RUN: metaop-run %s --entry=last | FileCheck %s --check-prefix=LAST
// RUN: metaop-run %s --entry=halves | FileCheck %s --check-prefix=HALVES
// RUN: not metaop-run %s --interpret --entry=no_step 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not metaop-run %s --interpret --entry=unsigned 2>&1 | FileCheck %s --check-prefix=UNSIGNED
// RUN: not metaop-run %s --interpret --entry=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not metaop-run %s --interpret --entry=fails 2>&1 | FileCheck %s --check-prefix=FAILS

// Each odd number from 1 to 4 is doubled until it is more than ten times as
// large, and what comes of it is added: 16 and 48. Each even one takes off 1.
// NESTED: result 0: tensor<i64>
// NESTED-NEXT: 62
// NESTED: result 1: tensor<2xi64>
// NESTED-NEXT: [16, 48]
func.func @nested() -> (tensor<i64>, tensor<2xi64>) {
  %one = metaop.constant dense<1> : tensor<i64>
  %two = metaop.constant dense<2> : tensor<i64>
  %ten = metaop.constant dense<10> : tensor<i64>
  %zero = metaop.constant dense<0> : tensor<i64>
  %seen = metaop.constant dense<0> : tensor<2xi64>
  %c1 = arith.constant 1 : i64
  %c5 = arith.constant 5 : i64
  %sum, %all = scf.for %i = %c1 to %c5 step %c1 iter_args(%s = %zero, %a = %seen) -> (tensor<i64>, tensor<2xi64>) : i64 {
    %n = tensor.from_elements %i : tensor<i64>
    %rest = metaop.mod %n, %two : tensor<i64>
    %isOdd = metaop.cmp eq %rest, %one : tensor<i64> -> tensor<i1>
    %odd = tensor.extract %isOdd[] : tensor<i1>
    %next:2 = scf.if %odd -> (tensor<i64>, tensor<2xi64>) {
      %limit = metaop.mul %n, %ten : tensor<i64>
      %x:2 = scf.while (%v = %n, %k = %zero) : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>) {
        %isLess = metaop.cmp le %v, %limit : tensor<i64> -> tensor<i1>
        %goesOn = tensor.extract %isLess[] : tensor<i1>
        scf.condition(%goesOn) %v, %k : tensor<i64>, tensor<i64>
      } do {
      ^bb0(%v: tensor<i64>, %k: tensor<i64>):
        %doubled = metaop.add %v, %v : tensor<i64>
        %more = metaop.add %k, %one : tensor<i64>
        scf.yield %doubled, %more : tensor<i64>, tensor<i64>
      }
      %added = metaop.add %s, %x#0 : tensor<i64>
      %part = metaop.reshape %x#0 : tensor<i64> -> tensor<1xi64>
      %half = metaop.floor_div %n, %two : tensor<i64>
      %written = metaop.insert none %part into %a[%half] : tensor<1xi64> into tensor<2xi64>
      scf.yield %added, %written : tensor<i64>, tensor<2xi64>
    } else {
      %less = metaop.sub %s, %one : tensor<i64>
      scf.yield %less, %a : tensor<i64>, tensor<2xi64>
    }
    scf.yield %next#0, %next#1 : tensor<i64>, tensor<2xi64>
  }
  return %sum, %all : tensor<i64>, tensor<2xi64>
}

// An `if` without results and without `else` does nothing; the two others read
// what is around them.
// BRANCHES: result 0: tensor<3xf32>
// BRANCHES-NEXT: [2, 3, 4]
// BRANCHES: result 1: tensor<3xf32>
// BRANCHES-NEXT: [0, 0, 0]
func.func @branches() -> (tensor<3xf32>, tensor<3xf32>) {
  %x = metaop.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %one = metaop.constant dense<1.0> : tensor<3xf32>
  %top = metaop.reduce max %x dims = [0] : tensor<3xf32> -> tensor<f32>
  %limit = metaop.constant dense<2.5> : tensor<f32>
  %isMore = metaop.cmp gt %top, %limit : tensor<f32> -> tensor<i1>
  %isLess = metaop.cmp lt %top, %limit : tensor<f32> -> tensor<i1>
  %more = tensor.extract %isMore[] : tensor<i1>
  %less = tensor.extract %isLess[] : tensor<i1>
  scf.if %more {
    %unused = metaop.add %x, %one : tensor<3xf32>
  }
  %y = scf.if %more -> (tensor<3xf32>) {
    %sum = metaop.add %x, %one : tensor<3xf32>
    scf.yield %sum : tensor<3xf32>
  } else {
    scf.yield %x : tensor<3xf32>
  }
  %z = scf.if %less -> (tensor<3xf32>) {
    scf.yield %x : tensor<3xf32>
  } else {
    %difference = metaop.sub %x, %x : tensor<3xf32>
    scf.yield %difference : tensor<3xf32>
  }
  return %y, %z : tensor<3xf32>, tensor<3xf32>
}

// Steps of 27 until it is 1.
// COLLATZ: result 0: tensor<i64>
// COLLATZ-NEXT: 111
func.func @collatz() -> tensor<i64> {
  %start = metaop.constant dense<27> : tensor<i64>
  %zero = metaop.constant dense<0> : tensor<i64>
  %one = metaop.constant dense<1> : tensor<i64>
  %two = metaop.constant dense<2> : tensor<i64>
  %three = metaop.constant dense<3> : tensor<i64>
  %steps = scf.while (%n = %start, %k = %zero) : (tensor<i64>, tensor<i64>) -> tensor<i64> {
    %isMore = metaop.cmp gt %n, %one : tensor<i64> -> tensor<i1>
    %goesOn = tensor.extract %isMore[] : tensor<i1>
    %rest = metaop.mod %n, %two : tensor<i64>
    %isOdd = metaop.cmp eq %rest, %one : tensor<i64> -> tensor<i1>
    %odd = tensor.extract %isOdd[] : tensor<i1>
    %next = scf.if %odd -> (tensor<i64>) {
      %more = metaop.mul %n, %three : tensor<i64>
      %odder = metaop.add %more, %one : tensor<i64>
      scf.yield %odder : tensor<i64>
    } else {
      %half = metaop.floor_div %n, %two : tensor<i64>
      scf.yield %half : tensor<i64>
    }
    %counted = metaop.add %k, %one : tensor<i64>
    %last = metaop.select %isMore, %counted, %k : tensor<i1>, tensor<i64>
    scf.condition(%goesOn) %last : tensor<i64>
  } do {
  ^bb0(%k: tensor<i64>):
    // What the loop carries is computed anew: as many steps, from 27 on.
    %n = func.call @step(%start, %k) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    scf.yield %n, %k : tensor<i64>, tensor<i64>
  }
  return %steps : tensor<i64>
}

// The number after so many steps, by a count that is in a tensor.
func.func private @step(%start: tensor<i64>, %count: tensor<i64>) -> tensor<i64> {
  %one = metaop.constant dense<1> : tensor<i64>
  %two = metaop.constant dense<2> : tensor<i64>
  %three = metaop.constant dense<3> : tensor<i64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %number = tensor.extract %count[] : tensor<i64>
  %end = arith.index_cast %number : i64 to index
  %result = scf.for %i = %c0 to %end step %c1 iter_args(%n = %start) -> tensor<i64> {
    %half = metaop.floor_div %n, %two : tensor<i64>
    %rest = metaop.mod %n, %two : tensor<i64>
    %isOdd = metaop.cmp eq %rest, %one : tensor<i64> -> tensor<i1>
    %more = metaop.mul %n, %three : tensor<i64>
    %odder = metaop.add %more, %one : tensor<i64>
    %next = metaop.select %isOdd, %odder, %half : tensor<i1>, tensor<i64>
    scf.yield %next : tensor<i64>
  }
  return %result : tensor<i64>
}

// 3, 5 and 7 are counted from 3 to 8; nothing from 8 to 3.
// BOUNDS: result 0: tensor<i64>
// BOUNDS-NEXT: 15
// BOUNDS: result 1: tensor<i64>
// BOUNDS-NEXT: 0
func.func @bounds() -> (tensor<i64>, tensor<i64>) {
  %zero = metaop.constant dense<0> : tensor<i64>
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %up = scf.for %i = %c3 to %c8 step %c2 iter_args(%s = %zero) -> tensor<i64> {
    %number = arith.index_cast %i : index to i64
    %n = tensor.from_elements %number : tensor<i64>
    %sum = metaop.add %s, %n : tensor<i64>
    scf.yield %sum : tensor<i64>
  }
  %down = scf.for %i = %c8 to %c3 step %c2 iter_args(%s = %zero) -> tensor<i64> {
    scf.yield %up : tensor<i64>
  }
  return %up, %down : tensor<i64>, tensor<i64>
}

// There is no number behind the last one.
// LAST: result 0: tensor<i64>
// LAST-NEXT: 2
func.func @last() -> tensor<i64> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %one = metaop.constant dense<1> : tensor<i64>
  %first = arith.constant 9223372036854775800 : i64
  %end = arith.constant 9223372036854775807 : i64
  %c5 = arith.constant 5 : i64
  %count = scf.for %i = %first to %end step %c5 iter_args(%s = %zero) -> tensor<i64> : i64 {
    %sum = metaop.add %s, %one : tensor<i64>
    scf.yield %sum : tensor<i64>
  }
  return %count : tensor<i64>
}

// 1 + 2^-7 squared is 1 + 2^-6 + 2^-14, which is no bf16. It is added unrounded
// in its own block, and is rounded where another block reads it.
// HALVES: result 0: tensor<bf16>
// HALVES-NEXT: 6.10352e-05
// HALVES: result 1: tensor<bf16>
// HALVES-NEXT: 0
func.func @halves() -> (tensor<bf16>, tensor<bf16>) {
  %x = metaop.constant dense<[1.0078125, -1.015625]> : tensor<2xbf16>
  %y = metaop.constant dense<[1.0078125, 1.0]> : tensor<2xbf16>
  %product = metaop.mul %x, %y : tensor<2xbf16>
  %true = arith.constant true
  %zero = metaop.constant dense<0.0> : tensor<bf16>
  %inside = scf.if %true -> (tensor<bf16>) {
    %z = metaop.mul %x, %y : tensor<2xbf16>
    %sum = metaop.reduce add %z dims = [0] : tensor<2xbf16> -> tensor<bf16>
    scf.yield %sum : tensor<bf16>
  } else {
    scf.yield %zero : tensor<bf16>
  }
  %outside = scf.if %true -> (tensor<bf16>) {
    %sum = metaop.reduce add %product dims = [0] : tensor<2xbf16> -> tensor<bf16>
    scf.yield %sum : tensor<bf16>
  } else {
    scf.yield %zero : tensor<bf16>
  }
  return %inside, %outside : tensor<bf16>, tensor<bf16>
}

// STEP: control-flow.mlir:[[# @LINE + 5]]:8: 'scf.for' op counts up, given a step of 0
func.func @no_step() -> tensor<i64> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %c5 = arith.constant 5 : i64
  %step = tensor.extract %zero[] : tensor<i64>
  %r = scf.for %i = %step to %c5 step %step iter_args(%s = %zero) -> tensor<i64> : i64 {
    scf.yield %s : tensor<i64>
  }
  return %r : tensor<i64>
}

// UNSIGNED: control-flow.mlir:[[# @LINE + 4]]:8: 'scf.for' op counts in signed numbers, given `unsigned`
func.func @unsigned() -> tensor<i64> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %c5 = arith.constant 5 : i64
  %r = scf.for unsigned %i = %c5 to %c5 step %c5 iter_args(%s = %zero) -> tensor<i64> : i64 {
    scf.yield %s : tensor<i64>
  }
  return %r : tensor<i64>
}

// UNKNOWN: control-flow.mlir:[[# @LINE + 4]]:3: 'scf.index_switch' op is unknown to the interpreter
func.func @unknown() -> tensor<i64> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %c5 = arith.constant 5 : index
  scf.index_switch %c5
  case 5 {
    scf.yield
  }
  default {
    scf.yield
  }
  return %zero : tensor<i64>
}

// An error inside of a block is at the op that it is of.
// FAILS: control-flow.mlir:[[# @LINE + 8]]:10: 'metaop.reshape' op a tensor of shape 4 cannot be reshaped to 5
func.func @fails() -> tensor<i64> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %x = metaop.constant dense<1.0> : tensor<4xf32>
  %c1 = arith.constant 1 : i64
  %c5 = arith.constant 5 : i64
  %n = arith.constant 5 : index
  %r = scf.for %i = %c1 to %c5 step %c1 iter_args(%s = %zero) -> tensor<i64> : i64 {
    %y = metaop.reshape %x extents(%n) : tensor<4xf32> -> tensor<?xf32>
    scf.yield %s : tensor<i64>
  }
  return %r : tensor<i64>
}
