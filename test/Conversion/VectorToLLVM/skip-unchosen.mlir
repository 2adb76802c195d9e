// RUN: metaop-opt %s -metaop-skip-unchosen | FileCheck %s

// What only one side needs is computed where a lane chooses that side. The mask
// and what else is read stay.
// CHECK-LABEL: func @elu(
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>)
// CHECK:         %[[IS_NEGATIVE:.*]] = arith.cmpf
// CHECK-NEXT:    %[[ANY:.*]] = vector.reduction <or>, %[[IS_NEGATIVE]] : vector<16xi1> into i1
// CHECK-NEXT:    %[[Y:.*]] = scf.if %[[ANY]] -> (vector<16xf32>) {
// CHECK-NEXT:      %[[INSIDE:.*]] = arith.select %[[IS_NEGATIVE]], %[[X]]
// CHECK-NEXT:      %[[E:.*]] = math.expm1 %[[INSIDE]]
// CHECK-NEXT:      %[[SIDE:.*]] = arith.mulf %[[E]]
// CHECK-NEXT:      %[[CHOICE:.*]] = arith.select %[[IS_NEGATIVE]], %[[SIDE]], %[[X]]
// CHECK-NEXT:      scf.yield %[[CHOICE]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[X]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[Y]]
func.func @elu(%x: vector<16xf32>) -> vector<16xf32> {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %alpha = arith.constant dense<2.0> : vector<16xf32>
  %c = arith.cmpf ole, %x, %zero : vector<16xf32>
  %inside = arith.select %c, %x, %zero : vector<16xi1>, vector<16xf32>
  %e = math.expm1 %inside : vector<16xf32>
  %s = arith.mulf %e, %alpha : vector<16xf32>
  %y = arith.select %c, %s, %x : vector<16xi1>, vector<16xf32>
  return %y : vector<16xf32>
}

// The other side: where not all lanes choose the first.
// CHECK-LABEL: func @on_false(
// CHECK-SAME:    %[[C:.*]]: vector<16xi1>
// CHECK:         %[[ALL:.*]] = vector.reduction <and>, %[[C]] : vector<16xi1> into i1
// CHECK:         %[[ANY:.*]] = arith.xori %[[ALL]], %true
// CHECK:         scf.if %[[ANY]]
// CHECK:           math.log
func.func @on_false(%c: vector<16xi1>, %x: vector<16xf32>) -> vector<16xf32> {
  %l = math.log %x : vector<16xf32>
  %y = arith.select %c, %x, %l : vector<16xi1>, vector<16xf32>
  return %y : vector<16xf32>
}

// A choice within a side is made there, in a branch of its own.
// CHECK-LABEL: func @nested(
// CHECK:         scf.if
// CHECK:           scf.if
// CHECK-NEXT:        math.exp
// CHECK:           math.log
func.func @nested(%c: vector<8xi1>, %d: vector<8xi1>, %x: vector<8xf32>) -> vector<8xf32> {
  %e = math.exp %x : vector<8xf32>
  %s = arith.select %d, %e, %x : vector<8xi1>, vector<8xf32>
  %l = math.log %x : vector<8xf32>
  %m = arith.addf %l, %s : vector<8xf32>
  %y = arith.select %c, %m, %x : vector<8xi1>, vector<8xf32>
  return %y : vector<8xf32>
}

// What is needed elsewhere too, what takes no function, and numbers that are no
// vectors stay where they are.
// CHECK-LABEL: func @others(
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @others(%c: vector<8xi1>, %x: vector<8xf32>, %i: i1, %n: f32)
    -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, f32) {
  %e = math.exp %x : vector<8xf32>
  %a = arith.select %c, %e, %x : vector<8xi1>, vector<8xf32>
  %s = arith.mulf %x, %x : vector<8xf32>
  %b = arith.select %c, %s, %x : vector<8xi1>, vector<8xf32>
  %l = math.log %n : f32
  %d = arith.select %i, %l, %n : f32
  return %a, %b, %e, %d : vector<8xf32>, vector<8xf32>, vector<8xf32>, f32
}

// Loads stay, what is computed of them goes.
// CHECK-LABEL: func @loads(
// CHECK:         %[[L:.*]] = vector.load
// CHECK:         scf.if
// CHECK-NEXT:      math.tanh %[[L]]
func.func @loads(%c: vector<8xi1>, %x: vector<8xf32>, %m: memref<8xf32>) -> vector<8xf32> {
  %zero = arith.constant 0 : index
  %l = vector.load %m[%zero] : memref<8xf32>, vector<8xf32>
  %t = math.tanh %l : vector<8xf32>
  %y = arith.select %c, %t, %x : vector<8xi1>, vector<8xf32>
  return %y : vector<8xf32>
}

// Both sides, each where a lane chooses it: numbers of one sign take one
// function.
// CHECK-LABEL: func @both(
// CHECK-SAME:    %[[C:.*]]: vector<16xi1>, %[[X:.*]]: vector<16xf32>)
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK:         %[[ALL:.*]] = vector.reduction <and>, %[[C]]
// CHECK:         %[[ANY_FALSE:.*]] = arith.xori %[[ALL]], %true
// CHECK:         %[[FALSE:.*]] = scf.if %[[ANY_FALSE]] -> (vector<16xf32>) {
// CHECK-NEXT:      %[[LOG:.*]] = math.log %[[X]]
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[LOG]], %[[X]]
// CHECK-NEXT:      scf.yield %[[SUM]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[ZERO]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[ANY_TRUE:.*]] = vector.reduction <or>, %[[C]]
// CHECK-NEXT:    %[[Y:.*]] = scf.if %[[ANY_TRUE]] -> (vector<16xf32>) {
// CHECK-NEXT:      %[[EXP:.*]] = math.exp %[[X]]
// CHECK-NEXT:      %[[CHOICE:.*]] = arith.select %[[C]], %[[EXP]], %[[FALSE]]
// CHECK-NEXT:      scf.yield %[[CHOICE]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[FALSE]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[Y]]
func.func @both(%c: vector<16xi1>, %x: vector<16xf32>) -> vector<16xf32> {
  %e = math.exp %x : vector<16xf32>
  %l = math.log %x : vector<16xf32>
  %s = arith.addf %l, %x : vector<16xf32>
  %y = arith.select %c, %e, %s : vector<16xi1>, vector<16xf32>
  return %y : vector<16xf32>
}

// Both sides within both sides: a function is where the innermost choice takes
// it, whatever the order of the text is.
// CHECK-LABEL: func @both_nested(
// CHECK:         scf.if
// CHECK-NEXT:      math.log
// CHECK:         scf.if
// CHECK:           scf.if
// CHECK-NEXT:        math.sin
// CHECK:           scf.if
// CHECK-NEXT:        math.exp
// CHECK-NEXT:        arith.select
// CHECK:           arith.mulf
// CHECK-NEXT:      arith.select
func.func @both_nested(%c: vector<8xi1>, %d: vector<8xi1>, %x: vector<8xf32>) -> vector<8xf32> {
  %e = math.exp %x : vector<8xf32>
  %l = math.log %x : vector<8xf32>
  %t = math.sin %x : vector<8xf32>
  %s = arith.select %d, %e, %t : vector<8xi1>, vector<8xf32>
  %m = arith.mulf %s, %s : vector<8xf32>
  %y = arith.select %c, %m, %l : vector<8xi1>, vector<8xf32>
  return %y : vector<8xf32>
}

// What both sides, two choices, or a mask need is computed for all.
// CHECK-LABEL: func @shared(
// CHECK:         math.exp
// CHECK:         math.log
// CHECK:         math.sqrt
// CHECK:         scf.if
// CHECK-NEXT:      math.tanh
// CHECK-NOT:     math
// CHECK:         return
func.func @shared(%c: vector<8xi1>, %x: vector<8xf32>)
    -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  %e = math.exp %x : vector<8xf32>
  %a = arith.addf %e, %x : vector<8xf32>
  %b = arith.mulf %e, %x : vector<8xf32>
  %0 = arith.select %c, %a, %b : vector<8xi1>, vector<8xf32>
  %l = math.log %x : vector<8xf32>
  %1 = arith.select %c, %l, %x : vector<8xi1>, vector<8xf32>
  %2 = arith.select %c, %x, %l : vector<8xi1>, vector<8xf32>
  %3 = arith.addf %1, %2 : vector<8xf32>
  %r = math.sqrt %x : vector<8xf32>
  %d = arith.cmpf olt, %r, %x : vector<8xf32>
  %t = math.tanh %r : vector<8xf32>
  %4 = arith.select %d, %t, %3 : vector<8xi1>, vector<8xf32>
  return %0, %3, %4 : vector<8xf32>, vector<8xf32>, vector<8xf32>
}

// What two choices of one side need is needed by that side alone.
// CHECK-LABEL: func @within(
// CHECK-NOT:     math.log
// CHECK:         scf.if
// CHECK:           math.log
// CHECK:           arith.select
// CHECK:           arith.select
func.func @within(%c: vector<8xi1>, %d: vector<8xi1>, %x: vector<8xf32>) -> vector<8xf32> {
  %l = math.log %x : vector<8xf32>
  %1 = arith.select %c, %l, %x : vector<8xi1>, vector<8xf32>
  %2 = arith.select %c, %x, %l : vector<8xi1>, vector<8xf32>
  %3 = arith.addf %1, %2 : vector<8xf32>
  %y = arith.select %d, %3, %x : vector<8xi1>, vector<8xf32>
  return %y : vector<8xf32>
}
