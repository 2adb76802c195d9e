// The derivative of each function of real numbers.
// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s

// CHECK-LABEL: @rsqrt(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[RSQRT:.*]] = metaop.rsqrt %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[RSQRT]], %[[X]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<-5.000000e-01>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[DIV]], %[[C2]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[MUL]]
// CHECK-NEXT: return %[[RSQRT]], %[[MUL2]] :
func.func @rsqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.rsqrt %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @cbrt(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[CBRT:.*]] = metaop.cbrt %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0.333333343>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[C2]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[MUL]], %[[CBRT]]
// CHECK-NEXT: %[[DIV2:.*]] = metaop.div %[[DIV]], %[[CBRT]]
// CHECK-NEXT: return %[[CBRT]], %[[DIV2]] :
func.func @cbrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.cbrt %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @exp2(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[EXP2:.*]] = metaop.exp2 %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0.693147182>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[EXP2]], %[[C2]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[MUL]]
// CHECK-NEXT: return %[[EXP2]], %[[MUL2]] :
func.func @exp2(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.exp2 %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @expm1(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[EXPM1:.*]] = metaop.expm1 %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[EXP:.*]] = metaop.exp %[[X]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[EXP]]
// CHECK-NEXT: return %[[EXPM1]], %[[MUL]] :
func.func @expm1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.expm1 %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @log2(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[LOG2:.*]] = metaop.log2 %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.44269502>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[C2]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[MUL]], %[[X]]
// CHECK-NEXT: return %[[LOG2]], %[[DIV]] :
func.func @log2(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.log2 %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @log10(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[LOG10:.*]] = metaop.log10 %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0.434294492>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[C2]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[MUL]], %[[X]]
// CHECK-NEXT: return %[[LOG10]], %[[DIV]] :
func.func @log10(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.log10 %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @log1p(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[LOG1P:.*]] = metaop.log1p %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[ADD:.*]] = metaop.add %[[X]], %[[C2]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[C]], %[[ADD]]
// CHECK-NEXT: return %[[LOG1P]], %[[DIV]] :
func.func @log1p(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.log1p %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @tan(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[TAN:.*]] = metaop.tan %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[TAN]], %[[TAN]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[ADD:.*]] = metaop.add %[[MUL]], %[[C2]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[ADD]]
// CHECK-NEXT: return %[[TAN]], %[[MUL2]] :
func.func @tan(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.tan %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @asin(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ASIN:.*]] = metaop.asin %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[MINUS:.*]] = metaop.neg %[[X]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[FMA:.*]] = metaop.fma %[[MINUS]], %[[X]], %[[C2]]
// CHECK-NEXT: %[[SQRT:.*]] = metaop.sqrt %[[FMA]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[C]], %[[SQRT]]
// CHECK-NEXT: return %[[ASIN]], %[[DIV]] :
func.func @asin(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.asin %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @acos(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ACOS:.*]] = metaop.acos %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[MINUS:.*]] = metaop.neg %[[X]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[FMA:.*]] = metaop.fma %[[MINUS]], %[[X]], %[[C2]]
// CHECK-NEXT: %[[SQRT:.*]] = metaop.sqrt %[[FMA]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[C]], %[[SQRT]]
// CHECK-NEXT: %[[NEG:.*]] = metaop.neg %[[DIV]]
// CHECK-NEXT: return %[[ACOS]], %[[NEG]] :
func.func @acos(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.acos %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @atan(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ATAN:.*]] = metaop.atan %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[HYPOT:.*]] = metaop.hypot %[[X]], %[[C2]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[C]], %[[HYPOT]]
// CHECK-NEXT: %[[DIV2:.*]] = metaop.div %[[DIV]], %[[HYPOT]]
// CHECK-NEXT: return %[[ATAN]], %[[DIV2]] :
func.func @atan(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.atan %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @sinh(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[SINH:.*]] = metaop.sinh %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[COSH:.*]] = metaop.cosh %[[X]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[COSH]]
// CHECK-NEXT: return %[[SINH]], %[[MUL]] :
func.func @sinh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.sinh %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @cosh(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[COSH:.*]] = metaop.cosh %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[SINH:.*]] = metaop.sinh %[[X]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[SINH]]
// CHECK-NEXT: return %[[COSH]], %[[MUL]] :
func.func @cosh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.cosh %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @asinh(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ASINH:.*]] = metaop.asinh %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[HYPOT:.*]] = metaop.hypot %[[X]], %[[C2]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[C]], %[[HYPOT]]
// CHECK-NEXT: return %[[ASINH]], %[[DIV]] :
func.func @asinh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.asinh %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @acosh(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ACOSH:.*]] = metaop.acosh %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[SUB:.*]] = metaop.sub %[[X]], %[[C2]]
// CHECK-NEXT: %[[SQRT:.*]] = metaop.sqrt %[[SUB]]
// CHECK-NEXT: %[[ADD:.*]] = metaop.add %[[X]], %[[C2]]
// CHECK-NEXT: %[[SQRT2:.*]] = metaop.sqrt %[[ADD]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[C]], %[[SQRT]]
// CHECK-NEXT: %[[DIV2:.*]] = metaop.div %[[DIV]], %[[SQRT2]]
// CHECK-NEXT: return %[[ACOSH]], %[[DIV2]] :
func.func @acosh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.acosh %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @atanh(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ATANH:.*]] = metaop.atanh %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[MINUS:.*]] = metaop.neg %[[X]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[FMA:.*]] = metaop.fma %[[MINUS]], %[[X]], %[[C2]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[C]], %[[FMA]]
// CHECK-NEXT: return %[[ATANH]], %[[DIV]] :
func.func @atanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.atanh %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @erfc(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ERFC:.*]] = metaop.erfc %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[X]], %[[X]]
// CHECK-NEXT: %[[NEG:.*]] = metaop.neg %[[MUL]]
// CHECK-NEXT: %[[EXP:.*]] = metaop.exp %[[NEG]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.12837923>
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[EXP]], %[[C2]]
// CHECK-NEXT: %[[MUL3:.*]] = metaop.mul %[[C]], %[[MUL2]]
// CHECK-NEXT: %[[NEG2:.*]] = metaop.neg %[[MUL3]]
// CHECK-NEXT: return %[[ERFC]], %[[NEG2]] :
func.func @erfc(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.erfc %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @erfinv(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ERFINV:.*]] = metaop.erfinv %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[ERFINV]], %[[ERFINV]]
// CHECK-NEXT: %[[EXP:.*]] = metaop.exp %[[MUL]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0.886226952>
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[EXP]], %[[C2]]
// CHECK-NEXT: %[[MUL3:.*]] = metaop.mul %[[C]], %[[MUL2]]
// CHECK-NEXT: return %[[ERFINV]], %[[MUL3]] :
func.func @erfinv(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.erfinv %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @trunc(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[TRUNC:.*]] = metaop.trunc %[[X]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[TRUNC]], %[[C]] :
func.func @trunc(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.trunc %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @hypot(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[HYPOT:.*]] = metaop.hypot %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[M:.*]] = metaop.cmp eq %[[HYPOT]], %[[C2]]
// CHECK-NEXT: %[[C3:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[S:.*]] = metaop.select %[[M]], %[[C3]], %[[HYPOT]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[X]], %[[S]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[DIV]]
// CHECK-NEXT: %[[C4:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[M2:.*]] = metaop.cmp eq %[[HYPOT]], %[[C4]]
// CHECK-NEXT: %[[C5:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[S2:.*]] = metaop.select %[[M2]], %[[C5]], %[[HYPOT]]
// CHECK-NEXT: %[[DIV2:.*]] = metaop.div %[[Y]], %[[S2]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[DIV2]]
// CHECK-NEXT: return %[[HYPOT]], %[[MUL]], %[[MUL2]] :
func.func @hypot(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.hypot %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @atan2(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ATAN2:.*]] = metaop.atan2 %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[HYPOT:.*]] = metaop.hypot %[[X]], %[[Y]]
// CHECK-NEXT: %[[DIV:.*]] = metaop.div %[[Y]], %[[HYPOT]]
// CHECK-NEXT: %[[DIV2:.*]] = metaop.div %[[DIV]], %[[HYPOT]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[DIV2]]
// CHECK-NEXT: %[[HYPOT2:.*]] = metaop.hypot %[[X]], %[[Y]]
// CHECK-NEXT: %[[NEG:.*]] = metaop.neg %[[X]]
// CHECK-NEXT: %[[DIV3:.*]] = metaop.div %[[NEG]], %[[HYPOT2]]
// CHECK-NEXT: %[[DIV4:.*]] = metaop.div %[[DIV3]], %[[HYPOT2]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[DIV4]]
// CHECK-NEXT: return %[[ATAN2]], %[[MUL]], %[[MUL2]] :
func.func @atan2(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.atan2 %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @copysign(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[COPYSIGN:.*]] = metaop.copysign %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[SIGN:.*]] = metaop.sign %[[X]]
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[COPYSIGN2:.*]] = metaop.copysign %[[C2]], %[[Y]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[SIGN]], %[[COPYSIGN2]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[MUL]]
// CHECK-NEXT: %[[C3:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[COPYSIGN]], %[[MUL2]], %[[C3]] :
func.func @copysign(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.copysign %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @fmod(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[FMOD:.*]] = metaop.fmod %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[ABS:.*]] = metaop.abs %[[X]]
// CHECK-NEXT: %[[ABS2:.*]] = metaop.abs %[[Y]]
// CHECK-NEXT: %[[FLOOR_DIV:.*]] = metaop.floor_div %[[ABS]], %[[ABS2]]
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[X]], %[[Y]]
// CHECK-NEXT: %[[COPYSIGN:.*]] = metaop.copysign %[[FLOOR_DIV]], %[[MUL]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[COPYSIGN]]
// CHECK-NEXT: %[[NEG:.*]] = metaop.neg %[[MUL2]]
// CHECK-NEXT: return %[[FMOD]], %[[C]], %[[NEG]] :
func.func @fmod(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.fmod %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @nextafter(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[NEXTAFTER:.*]] = metaop.nextafter %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[C2:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[NEXTAFTER]], %[[C]], %[[C2]] :
func.func @nextafter(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.nextafter %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @fma(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>, %[[Z:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[FMA:.*]] = metaop.fma %[[X]], %[[Y]], %[[Z]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[MUL:.*]] = metaop.mul %[[C]], %[[Y]]
// CHECK-NEXT: %[[MUL2:.*]] = metaop.mul %[[C]], %[[X]]
// CHECK-NEXT: return %[[FMA]], %[[MUL]], %[[MUL2]], %[[C]] :
func.func @fma(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %r = metaop.fma %x, %y, %z : tensor<4xf32>
  return %r : tensor<4xf32>
}
