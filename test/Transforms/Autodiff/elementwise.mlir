// The derivative of each element-wise op. The seed is the constant of ones.
// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s

// CHECK-LABEL: @neg(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.neg 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[G:.*]] = metaop.neg %[[ONE]]
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @neg(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.neg %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @abs(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.abs 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[S:.*]] = metaop.sign %[[X]]
// CHECK-NEXT: %[[G:.*]] = metaop.mul %[[ONE]], %[[S]]
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @abs(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.abs %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// The result is used again.
// CHECK-LABEL: @exp(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.exp 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[G:.*]] = metaop.mul %[[ONE]], %[[R]]
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.exp %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @log(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.log 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[G:.*]] = metaop.div %[[ONE]], %[[X]]
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @log(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.log %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @sqrt(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.sqrt 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[HALF:.*]] = metaop.constant dense<5.000000e-01>
// CHECK-NEXT: %[[H:.*]] = metaop.mul %[[ONE]], %[[HALF]]
// CHECK-NEXT: %[[G:.*]] = metaop.div %[[H]], %[[R]]
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @sqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.sqrt %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @sin(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.sin 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C:.*]] = metaop.cos %[[X]]
// CHECK-NEXT: %[[G:.*]] = metaop.mul %[[ONE]], %[[C]]
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @sin(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.sin %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @cos(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.cos 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[S:.*]] = metaop.sin %[[X]]
// CHECK-NEXT: %[[N:.*]] = metaop.mul %[[ONE]], %[[S]]
// CHECK-NEXT: %[[G:.*]] = metaop.neg %[[N]]
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @cos(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.cos %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @tanh(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.tanh 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[Q:.*]] = metaop.mul %[[R]], %[[R]]
// CHECK-NEXT: %[[D:.*]] = metaop.sub %[[C]], %[[Q]]
// CHECK-NEXT: %[[G:.*]] = metaop.mul %[[ONE]], %[[D]]
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.tanh %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @erf(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.erf 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[Q:.*]] = metaop.mul %[[X]], %[[X]]
// CHECK-NEXT: %[[N:.*]] = metaop.neg %[[Q]]
// CHECK-NEXT: %[[E:.*]] = metaop.exp %[[N]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.12837923>
// CHECK-NEXT: %[[D:.*]] = metaop.mul %[[E]], %[[C]]
// CHECK-NEXT: %[[G:.*]] = metaop.mul %[[ONE]], %[[D]]
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @erf(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.erf %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// Constant almost everywhere.
// CHECK-LABEL: @sign(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.sign 
// CHECK-NEXT: %[[G:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @sign(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.sign %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @floor(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.floor 
// CHECK-NEXT: %[[G:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @floor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.floor %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @ceil(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.ceil 
// CHECK-NEXT: %[[G:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @ceil(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.ceil %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @round(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.round 
// CHECK-NEXT: %[[G:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @round(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.round %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @stop_grad(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.stop_grad 
// CHECK-NEXT: %[[G:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @stop_grad(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.stop_grad %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @stop_fuse(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.stop_fuse 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: return %[[R]], %[[ONE]] :
func.func @stop_fuse(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.stop_fuse %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// The cotangent goes back the other way.
// CHECK-LABEL: @transfer(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.transfer %[[X]] from "a" to "b"
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[G:.*]] = metaop.transfer %[[ONE]] from "b" to "a"
// CHECK-NEXT: return %[[R]], %[[G]] :
func.func @transfer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.transfer %x from "a" to "b" : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @add(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.add 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: return %[[R]], %[[ONE]], %[[ONE]] :
func.func @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.add %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @sub(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.sub 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[G:.*]] = metaop.neg %[[ONE]]
// CHECK-NEXT: return %[[R]], %[[ONE]], %[[G]] :
func.func @sub(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.sub %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @mul(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.mul 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[GX:.*]] = metaop.mul %[[ONE]], %[[Y]]
// CHECK-NEXT: %[[GY:.*]] = metaop.mul %[[ONE]], %[[X]]
// CHECK-NEXT: return %[[R]], %[[GX]], %[[GY]] :
func.func @mul(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.mul %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @div(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[DIV2:.*]] = metaop.div %[[C]], %[[Y]]
// CHECK-NEXT: %[[DIV3:.*]] = metaop.div %[[C]], %[[Y]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[DIV3]], %[[DIV]]
// CHECK-NEXT: %[[NEG:.*]] = metaop.neg %[[MUL]]
// CHECK-NEXT: return %[[DIV]], %[[DIV2]], %[[NEG]] :
func.func @div(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.div %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @floor_div(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.floor_div 
// CHECK-NEXT: %[[GX:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[GY:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[R]], %[[GX]], %[[GY]] :
func.func @floor_div(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.floor_div %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @mod(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = metaop.mod 
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[Q:.*]] = metaop.floor_div %[[X]], %[[Y]]
// CHECK-NEXT: %[[N:.*]] = metaop.mul %[[ONE]], %[[Q]]
// CHECK-NEXT: %[[GY:.*]] = metaop.neg %[[N]]
// CHECK-NEXT: return %[[R]], %[[ONE]], %[[GY]] :
func.func @mod(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.mod %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// Neither slope is NaN where x or y is 0: x is replaced by 1 there.
// CHECK-LABEL: @pow(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[POW:.*]] = metaop.pow %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[ABS:.*]] = metaop.abs %[[X]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[M:.*]] = metaop.cmp ne %[[Y]], %[[C2]]
// CHECK-NEXT: %[[C3:.*]] = metaop.constant dense<1.17549435E-38>
// CHECK-NEXT: %[[M2:.*]] = metaop.cmp ge %[[ABS]], %[[C3]]
// CHECK-NEXT: %[[OR:.*]] = metaop.or %[[M]], %[[M2]]
// CHECK-NEXT: %[[C4:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[S:.*]] = metaop.select %[[OR]], %[[X]], %[[C4]]
// CHECK-NEXT: %[[SUB:.*]] = metaop.sub %[[Y]], %[[C4]]
// CHECK-NEXT: %[[POW2:.*]] = metaop.pow %[[S]], %[[SUB]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[Y]], %[[POW2]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[MUL]]
// CHECK-NEXT: %[[C5:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[M3:.*]] = metaop.cmp eq %[[X]], %[[C5]]
// CHECK-NEXT: %[[C6:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[M4:.*]] = metaop.cmp ge %[[Y]], %[[C6]]
// CHECK-NEXT: %[[AND:.*]] = metaop.and %[[M3]], %[[M4]]
// CHECK-NEXT: %[[C7:.*]] = metaop.constant dense<0x7F800000>
// CHECK-NEXT: %[[M5:.*]] = metaop.cmp eq %[[X]], %[[C7]]
// CHECK-NEXT: %[[C8:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[M6:.*]] = metaop.cmp lt %[[Y]], %[[C8]]
// CHECK-NEXT: %[[AND2:.*]] = metaop.and %[[M5]], %[[M6]]
// CHECK-NEXT: %[[OR2:.*]] = metaop.or %[[AND]], %[[AND2]]
// CHECK-NEXT: %[[C9:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[S2:.*]] = metaop.select %[[OR2]], %[[C9]], %[[X]]
// CHECK-NEXT: %[[POW3:.*]] = metaop.pow %[[S2]], %[[Y]]
// CHECK-NEXT: %[[LOG:.*]] = metaop.log %[[S2]]
// CHECK-NEXT: %[[MUL3:.*]] = metaop.mul %[[POW3]], %[[LOG]]
// CHECK-NEXT: %[[MUL4:.*]] = metaop.mul %[[C]], %[[MUL3]]
// CHECK-NEXT: return %[[POW]], %[[MUL2]], %[[MUL4]] :
func.func @pow(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.pow %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// Half to each where both are equal.
// CHECK-LABEL: @max(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[MAX:.*]] = metaop.max %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<5.000000e-01>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[C2]]
// CHECK-NEXT: %[[M:.*]] = metaop.cmp ne %[[Y]], %[[Y]]
// CHECK-NEXT: %[[M2:.*]] = metaop.cmp ge %[[Y]], %[[X]]
// CHECK-NEXT: %[[OR:.*]] = metaop.or %[[M2]], %[[M]]
// CHECK-NEXT: %[[S:.*]] = metaop.select %[[OR]], %[[MUL]], %[[C]]
// CHECK-NEXT: %[[M3:.*]] = metaop.cmp ne %[[X]], %[[X]]
// CHECK-NEXT: %[[M4:.*]] = metaop.cmp ge %[[X]], %[[Y]]
// CHECK-NEXT: %[[OR2:.*]] = metaop.or %[[M4]], %[[M3]]
// CHECK-NEXT: %[[C3:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[S2:.*]] = metaop.select %[[OR2]], %[[S]], %[[C3]]
// CHECK-NEXT: %[[C4:.*]] = metaop.constant dense<5.000000e-01>
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[C4]]
// CHECK-NEXT: %[[M5:.*]] = metaop.cmp ne %[[X]], %[[X]]
// CHECK-NEXT: %[[M6:.*]] = metaop.cmp ge %[[X]], %[[Y]]
// CHECK-NEXT: %[[OR3:.*]] = metaop.or %[[M6]], %[[M5]]
// CHECK-NEXT: %[[S3:.*]] = metaop.select %[[OR3]], %[[MUL2]], %[[C]]
// CHECK-NEXT: %[[M7:.*]] = metaop.cmp ne %[[Y]], %[[Y]]
// CHECK-NEXT: %[[M8:.*]] = metaop.cmp ge %[[Y]], %[[X]]
// CHECK-NEXT: %[[OR4:.*]] = metaop.or %[[M8]], %[[M7]]
// CHECK-NEXT: %[[C5:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[S4:.*]] = metaop.select %[[OR4]], %[[S3]], %[[C5]]
// CHECK-NEXT: return %[[MAX]], %[[S2]], %[[S4]] :
func.func @max(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.max %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @min(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[MIN:.*]] = metaop.min %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<5.000000e-01>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[C2]]
// CHECK-NEXT: %[[M:.*]] = metaop.cmp ne %[[Y]], %[[Y]]
// CHECK-NEXT: %[[M2:.*]] = metaop.cmp le %[[Y]], %[[X]]
// CHECK-NEXT: %[[OR:.*]] = metaop.or %[[M2]], %[[M]]
// CHECK-NEXT: %[[S:.*]] = metaop.select %[[OR]], %[[MUL]], %[[C]]
// CHECK-NEXT: %[[M3:.*]] = metaop.cmp ne %[[X]], %[[X]]
// CHECK-NEXT: %[[M4:.*]] = metaop.cmp le %[[X]], %[[Y]]
// CHECK-NEXT: %[[OR2:.*]] = metaop.or %[[M4]], %[[M3]]
// CHECK-NEXT: %[[C3:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[S2:.*]] = metaop.select %[[OR2]], %[[S]], %[[C3]]
// CHECK-NEXT: %[[C4:.*]] = metaop.constant dense<5.000000e-01>
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[C4]]
// CHECK-NEXT: %[[M5:.*]] = metaop.cmp ne %[[X]], %[[X]]
// CHECK-NEXT: %[[M6:.*]] = metaop.cmp le %[[X]], %[[Y]]
// CHECK-NEXT: %[[OR3:.*]] = metaop.or %[[M6]], %[[M5]]
// CHECK-NEXT: %[[S3:.*]] = metaop.select %[[OR3]], %[[MUL2]], %[[C]]
// CHECK-NEXT: %[[M7:.*]] = metaop.cmp ne %[[Y]], %[[Y]]
// CHECK-NEXT: %[[M8:.*]] = metaop.cmp le %[[Y]], %[[X]]
// CHECK-NEXT: %[[OR4:.*]] = metaop.or %[[M8]], %[[M7]]
// CHECK-NEXT: %[[C5:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[S4:.*]] = metaop.select %[[OR4]], %[[S3]], %[[C5]]
// CHECK-NEXT: return %[[MIN]], %[[S2]], %[[S4]] :
func.func @min(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.min %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// The condition has no gradient.
// CHECK-LABEL: @select(
// CHECK-SAME: %[[P:.*]]: tensor<4xi1>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[S:.*]] = metaop.select %[[P]], %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[S2:.*]] = metaop.select %[[P]], %[[C]], %[[C2]]
// CHECK-NEXT: %[[C3:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[S3:.*]] = metaop.select %[[P]], %[[C3]], %[[C]]
// CHECK-NEXT: return %[[S]], %[[S2]], %[[S3]] :
func.func @select(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.select %c, %x, %y : tensor<4xi1>, tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @cast(
// CHECK: %[[ONE:.*]] = metaop.constant dense<1.000000e+00> : tensor<4xf64>
// CHECK-NEXT: %[[G:.*]] = metaop.cast %[[ONE]] : tensor<4xf64> -> tensor<4xf16>
// CHECK-NEXT: return %{{.*}}, %[[G]] :
func.func @cast(%x: tensor<4xf16>) -> tensor<4xf64> {
  %r = metaop.cast %x : tensor<4xf16> -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// No gradient passes through integers.
// CHECK-LABEL: @through_integers(
// CHECK: %[[G:.*]] = metaop.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: return %{{.*}}, %[[G]] :
func.func @through_integers(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.cast %x : tensor<4xf32> -> tensor<4xi32>
  %1 = metaop.add %0, %0 : tensor<4xi32>
  %2 = metaop.cast %1 : tensor<4xi32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @reshape(
// CHECK: %[[DIM:.*]] = tensor.dim %[[X:.*]], %{{.*}} : tensor<?x2xf32>
// CHECK: metaop.reshape %{{.*}} extents(%{{.*}}) : tensor<?xf32> -> tensor<?x2xf32>
func.func @reshape(%x: tensor<?x2xf32>, %n: index) -> tensor<?xf32> {
  %r = metaop.reshape %x extents(%n) : tensor<?x2xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// What a value gets from its uses is added up.
// CHECK-LABEL: @two_uses(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-DAG: %[[A:.*]] = metaop.mul %[[ONE]], %[[X]]
// CHECK-DAG: %[[B:.*]] = metaop.mul %[[ONE]], %[[X]]
// CHECK: %[[G:.*]] = metaop.add %{{.*}}, %{{.*}}
// CHECK-NEXT: return %{{.*}}, %[[G]] :
func.func @two_uses(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.mul %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
