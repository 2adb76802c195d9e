// RUN: metaop-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @neutral(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[I:.*]]: tensor<4xi32>)
// CHECK-NEXT: return %[[I]], %[[I]], %[[I]], %[[I]]
func.func @neutral(%x: tensor<?xf32>, %i: tensor<4xi32>)
    -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %zero = metaop.constant dense<0> : tensor<4xi32>
  %one = metaop.constant dense<1> : tensor<4xi32>
  %0 = metaop.add %zero, %i : tensor<4xi32>
  %1 = metaop.sub %i, %zero : tensor<4xi32>
  %2 = metaop.mul %one, %i : tensor<4xi32>
  %3 = metaop.floor_div %i, %one : tensor<4xi32>
  return %0, %1, %2, %3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: @neutral_floats(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
func.func @neutral_floats(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = metaop.constant dense<0.0> : tensor<4xf32>
  %minusZero = metaop.constant dense<-0.0> : tensor<4xf32>
  %one = metaop.constant dense<1.0> : tensor<4xf32>
  %0 = metaop.add %x, %minusZero : tensor<4xf32>
  %1 = metaop.sub %x, %zero : tensor<4xf32>
  %2 = metaop.mul %x, %one : tensor<4xf32>
  %3 = metaop.div %x, %one : tensor<4xf32>
  %4 = metaop.pow %x, %one : tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// What would change the sign of a zero, or lose a NaN, stays.
// CHECK-LABEL: @kept(
// CHECK-DAG: metaop.add
// CHECK-DAG: metaop.sub %{{.*}}, %[[ZERO:.*]] : tensor<4xf32>
// CHECK-DAG: metaop.mul
// CHECK-DAG: metaop.sub %[[X:.*]], %[[X]]
// CHECK-DAG: metaop.cmp eq
// CHECK: return
func.func @kept(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
  %zero = metaop.constant dense<0.0> : tensor<4xf32>
  %minusZero = metaop.constant dense<-0.0> : tensor<4xf32>
  %0 = metaop.add %x, %zero : tensor<4xf32>
  %1 = metaop.sub %x, %minusZero : tensor<4xf32>
  %2 = metaop.mul %x, %zero : tensor<4xf32>
  %3 = metaop.sub %x, %x : tensor<4xf32>
  %4 = metaop.cmp eq %x, %x : tensor<4xf32> -> tensor<4xi1>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: @float_splats
// CHECK-DAG: %[[SUM:.*]] = metaop.constant dense<3.500000e+00> : tensor<2xf32>
// CHECK-DAG: %[[QUOTIENT:.*]] = metaop.constant dense<-1.333{{.*}}> : tensor<2xf32>
// CHECK-DAG: %[[NAN:.*]] = metaop.constant dense<0x7FC00000> : tensor<2xf32>
// CHECK-DAG: %[[ROUND:.*]] = metaop.constant dense<2.000000e+00> : tensor<2xf32>
// CHECK: return %[[SUM]], %[[QUOTIENT]], %[[NAN]], %[[ROUND]]
func.func @float_splats() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = metaop.constant dense<2.0> : tensor<2xf32>
  %b = metaop.constant dense<1.5> : tensor<2xf32>
  %nan = metaop.constant dense<0x7FC00000> : tensor<2xf32>
  %0 = metaop.add %a, %b : tensor<2xf32>
  %1 = metaop.neg %b : tensor<2xf32>
  %2 = metaop.div %a, %1 : tensor<2xf32>
  %3 = metaop.max %a, %nan : tensor<2xf32>
  %half = metaop.constant dense<2.5> : tensor<2xf32>
  %4 = metaop.round %half : tensor<2xf32>
  return %0, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Rounded and signed as in Python; nothing traps.
// CHECK-LABEL: @integer_splats
// CHECK-DAG: %[[DIV:.*]] = metaop.constant dense<-4> : tensor<2xi8>
// CHECK-DAG: %[[MOD:.*]] = metaop.constant dense<1> : tensor<2xi8>
// CHECK-DAG: %[[ZERO:.*]] = metaop.constant dense<0> : tensor<2xi8>
// CHECK-DAG: %[[LOWEST:.*]] = metaop.constant dense<-128> : tensor<2xi8>
// CHECK: return %[[DIV]], %[[MOD]], %[[ZERO]], %[[LOWEST]]
func.func @integer_splats() -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>) {
  %a = metaop.constant dense<-7> : tensor<2xi8>
  %two = metaop.constant dense<2> : tensor<2xi8>
  %zero = metaop.constant dense<0> : tensor<2xi8>
  %lowest = metaop.constant dense<-128> : tensor<2xi8>
  %minusOne = metaop.constant dense<-1> : tensor<2xi8>
  %0 = metaop.floor_div %a, %two : tensor<2xi8>
  %1 = metaop.mod %a, %two : tensor<2xi8>
  %2 = metaop.floor_div %a, %zero : tensor<2xi8>
  %3 = metaop.floor_div %lowest, %minusOne : tensor<2xi8>
  return %0, %1, %2, %3 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>
}

// CHECK-LABEL: @unsigned_splats
// CHECK-DAG: %[[MAX:.*]] = metaop.constant dense<200> : tensor<2xui8>
// CHECK-DAG: %[[DIV:.*]] = metaop.constant dense<66> : tensor<2xui8>
// CHECK: return %[[MAX]], %[[DIV]]
func.func @unsigned_splats() -> (tensor<2xui8>, tensor<2xui8>) {
  %a = metaop.constant dense<200> : tensor<2xui8>
  %b = metaop.constant dense<3> : tensor<2xui8>
  %0 = metaop.max %a, %b : tensor<2xui8>
  %1 = metaop.floor_div %a, %b : tensor<2xui8>
  return %0, %1 : tensor<2xui8>, tensor<2xui8>
}

// CHECK-LABEL: @twice(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xi1>)
// CHECK-NEXT: %[[ABS:.*]] = metaop.abs %[[X]]
// CHECK-NEXT: return %[[X]], %[[B]], %[[ABS]], %[[X]]
func.func @twice(%x: tensor<4xf32>, %b: tensor<4xi1>)
    -> (tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) {
  %0 = metaop.neg %x : tensor<4xf32>
  %1 = metaop.neg %0 : tensor<4xf32>
  %2 = metaop.not %b : tensor<4xi1>
  %3 = metaop.not %2 : tensor<4xi1>
  %4 = metaop.abs %x : tensor<4xf32>
  %5 = metaop.abs %4 : tensor<4xf32>
  %6 = metaop.max %x, %x : tensor<4xf32>
  return %1, %3, %5, %6 : tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @select(
// CHECK-SAME: %[[C:.*]]: tensor<4xi1>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[Y]], %[[C]]
func.func @select(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
  %true = metaop.constant dense<true> : tensor<4xi1>
  %false = metaop.constant dense<false> : tensor<4xi1>
  %0 = metaop.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>
  %1 = metaop.select %true, %x, %y : tensor<4xi1>, tensor<4xf32>
  %2 = metaop.select %false, %x, %y : tensor<4xi1>, tensor<4xf32>
  %3 = metaop.select %c, %true, %false : tensor<4xi1>, tensor<4xi1>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: @cmp
// CHECK-DAG: %[[TRUE:.*]] = metaop.constant dense<true> : tensor<4xi1>
// CHECK-DAG: %[[FALSE:.*]] = metaop.constant dense<false> : tensor<4xi1>
// CHECK: return %[[FALSE]], %[[TRUE]], %[[TRUE]], %[[TRUE]]
func.func @cmp(%i: tensor<4xui8>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %nan = metaop.constant dense<0x7FC00000> : tensor<4xf32>
  %big = metaop.constant dense<200> : tensor<4xui8>
  %small = metaop.constant dense<3> : tensor<4xui8>
  %0 = metaop.cmp le %nan, %nan : tensor<4xf32> -> tensor<4xi1>
  %1 = metaop.cmp ne %nan, %nan : tensor<4xf32> -> tensor<4xi1>
  %2 = metaop.cmp gt %big, %small : tensor<4xui8> -> tensor<4xi1>
  %3 = metaop.cmp ge %i, %i : tensor<4xui8> -> tensor<4xi1>
  return %0, %1, %2, %3 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: @cast_splats
// CHECK-DAG: %[[TOP:.*]] = metaop.constant dense<127> : tensor<2xi8>
// CHECK-DAG: %[[ZERO:.*]] = metaop.constant dense<0> : tensor<2xi8>
// CHECK-DAG: %[[WRAPPED:.*]] = metaop.constant dense<44> : tensor<2xi8>
// CHECK-DAG: %[[TRUE:.*]] = metaop.constant dense<true> : tensor<2xi1>
// CHECK-DAG: %[[FLOAT:.*]] = metaop.constant dense<3.000000e+02> : tensor<2xbf16>
// CHECK: return %[[TOP]], %[[ZERO]], %[[WRAPPED]], %[[TRUE]], %[[FLOAT]]
func.func @cast_splats() -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi1>, tensor<2xbf16>) {
  %large = metaop.constant dense<300.7> : tensor<2xf32>
  %nan = metaop.constant dense<0x7FC00000> : tensor<2xf32>
  %int = metaop.constant dense<300> : tensor<2xi32>
  %0 = metaop.cast %large : tensor<2xf32> -> tensor<2xi8>
  %1 = metaop.cast %nan : tensor<2xf32> -> tensor<2xi8>
  %2 = metaop.cast %int : tensor<2xi32> -> tensor<2xi8>
  %3 = metaop.cast %nan : tensor<2xf32> -> tensor<2xi1>
  %4 = metaop.cast %int : tensor<2xi32> -> tensor<2xbf16>
  return %0, %1, %2, %3, %4 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi1>, tensor<2xbf16>
}

// Only what loses nothing on the way is skipped.
// CHECK-LABEL: @cast_chains(
// CHECK-SAME: %[[H:.*]]: tensor<4xf16>, %[[F:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>)
// CHECK-NEXT: %[[NARROW:.*]] = metaop.cast %[[F]] : tensor<4xf32> -> tensor<4xf16>
// CHECK-NEXT: %[[BACK:.*]] = metaop.cast %[[NARROW]] : tensor<4xf16> -> tensor<4xf32>
// CHECK-NEXT: %[[EXACT:.*]] = metaop.cast %[[I]] : tensor<4xi32> -> tensor<4xf64>
// CHECK-NEXT: %[[SATURATED:.*]] = metaop.cast %[[EXACT]] : tensor<4xf64> -> tensor<4xi8>
// CHECK-NEXT: %[[ONCE:.*]] = metaop.cast %[[H]] : tensor<4xf16> -> tensor<4xi32>
// CHECK-NEXT: return %[[H]], %[[BACK]], %[[SATURATED]], %[[ONCE]]
func.func @cast_chains(%h: tensor<4xf16>, %f: tensor<4xf32>, %i: tensor<4xi32>)
    -> (tensor<4xf16>, tensor<4xf32>, tensor<4xi8>, tensor<4xi32>) {
  %0 = metaop.cast %h : tensor<4xf16> -> tensor<4xf32>
  %1 = metaop.cast %0 : tensor<4xf32> -> tensor<4xf16>
  %2 = metaop.cast %f : tensor<4xf32> -> tensor<4xf16>
  %3 = metaop.cast %2 : tensor<4xf16> -> tensor<4xf32>
  %4 = metaop.cast %i : tensor<4xi32> -> tensor<4xf64>
  %5 = metaop.cast %4 : tensor<4xf64> -> tensor<4xi8>
  %6 = metaop.cast %0 : tensor<4xf32> -> tensor<4xi32>
  return %1, %3, %5, %6 : tensor<4xf16>, tensor<4xf32>, tensor<4xi8>, tensor<4xi32>
}

// CHECK-LABEL: @bitcasts
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @bitcasts(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[B:.*]] = metaop.bitcast %[[X]] : tensor<4xf32> -> tensor<4xi32>
  // CHECK-NEXT: return %[[X]], %[[B]]
  %0 = metaop.bitcast %x : tensor<4xf32> -> tensor<4xui32>
  %1 = metaop.bitcast %0 : tensor<4xui32> -> tensor<4xi32>
  %2 = metaop.bitcast %1 : tensor<4xi32> -> tensor<4xf32>
  return %2, %1 : tensor<4xf32>, tensor<4xi32>
}

// CHECK-LABEL: @truncated
func.func @truncated() -> tensor<4xf32> {
  // CHECK-NEXT: metaop.constant dense<-1.000000e+00>
  %c = metaop.constant dense<-1.75> : tensor<4xf32>
  %0 = metaop.trunc %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
