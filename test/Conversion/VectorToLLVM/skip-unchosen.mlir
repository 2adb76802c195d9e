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
