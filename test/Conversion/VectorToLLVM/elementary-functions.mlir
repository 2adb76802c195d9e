// RUN: metaop-opt %s -metaop-expand-math -split-input-file | FileCheck %s

// The power is multiplied by 2^n in two parts, whose factors depend on the sign.
// CHECK-LABEL: func @exp
// CHECK-SAME:    (%[[X:.*]]: f32)
// CHECK-DAG:     %[[SHIFT:.*]] = arith.constant 0x4B40007F : f32
// CHECK-DAG:     %[[LOG2E:.*]] = arith.constant 1.442695{{.*}} : f32
// CHECK-DAG:     %[[LOW:.*]] = arith.constant -1.040000e+02 : f32
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant 8.900000e+01 : f32
// CHECK:         %[[TOO_LOW:.*]] = arith.cmpf olt, %[[X]], %[[LOW]] : f32
// CHECK:         %[[RAISED:.*]] = arith.select %[[TOO_LOW]], %[[LOW]], %[[X]] : f32
// CHECK:         %[[TOO_HIGH:.*]] = arith.cmpf olt, %[[HIGH]], %[[RAISED]] : f32
// CHECK:         %[[BOUNDED:.*]] = arith.select %[[TOO_HIGH]], %[[HIGH]], %[[RAISED]] : f32
// CHECK:         %[[SUM:.*]] = math.fma %[[BOUNDED]], %[[LOG2E]], %[[SHIFT]] : f32
// CHECK:         %[[N:.*]] = arith.subf %[[SUM]], %[[SHIFT]] : f32
// CHECK:         %[[PART:.*]] = math.fma %[[N]], %{{.*}}, %[[BOUNDED]] : f32
// CHECK:         %[[R:.*]] = math.fma %[[N]], %{{.*}}, %[[PART]] : f32
// CHECK:         %[[BIASED:.*]] = arith.bitcast %[[SUM]] : f32 to i32
// CHECK-COUNT-6: math.fma %{{.*}}, %[[R]], %{{.*}} : f32
// CHECK:         %[[NEGATIVE:.*]] = arith.cmpf olt, %[[X]], %{{.*}} : f32
// CHECK:         %[[OFFSET:.*]] = arith.select %[[NEGATIVE]], %{{.*}}, %{{.*}} : i32
// CHECK:         %[[REST:.*]] = arith.select %[[NEGATIVE]], %{{.*}}, %{{.*}} : f32
// CHECK:         %[[EXPONENT:.*]] = arith.shli %[[BIASED]], %{{.*}} : i32
// CHECK:         %[[BITS:.*]] = arith.addi %[[EXPONENT]], %[[OFFSET]] : i32
// CHECK:         %[[SCALE:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK:         %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]] : f32
// CHECK:         %[[RESULT:.*]] = arith.mulf %[[SCALED]], %[[REST]] : f32
// CHECK:         return %[[RESULT]] : f32
func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// -----

// Below 0.625 the quotient is a correction of the argument.
// CHECK-LABEL: func @tanh
// CHECK-SAME:    (%[[X:.*]]: vector<16xf32>)
// CHECK-DAG:     %[[TWO:.*]] = arith.constant dense<2.000000e+00> : vector<16xf32>
// CHECK-DAG:     %[[BOUND:.*]] = arith.constant dense<6.250000e-01> : vector<16xf32>
// CHECK:         %[[ABS:.*]] = math.absf %[[X]] : vector<16xf32>
// CHECK:         %[[MAGNITUDE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ABS]]
// CHECK:         %[[TWICE:.*]] = arith.addf %[[MAGNITUDE]], %[[MAGNITUDE]]
// CHECK-COUNT-9: math.fma
// CHECK:         %[[SMALL:.*]] = arith.cmpf olt, %[[MAGNITUDE]], %[[BOUND]]
// CHECK:         arith.select %[[SMALL]]
// CHECK:         %[[QUOTIENT:.*]] = arith.divf
// CHECK:         %[[CORRECTED:.*]] = arith.addf %[[QUOTIENT]], %[[MAGNITUDE]]
// CHECK:         %[[CHOSEN:.*]] = arith.select %[[SMALL]], %[[CORRECTED]], %[[QUOTIENT]]
// CHECK:         math.copysign %[[CHOSEN]], %[[X]] : vector<16xf32>
func.func @tanh(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.tanh %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// Nine terms, without a division.
// CHECK-LABEL: func @erf
// CHECK-SAME:    (%[[X:.*]]: vector<2x8xf32>)
// CHECK:         %[[ABS:.*]] = math.absf %[[X]] : vector<2x8xf32>
// CHECK:         %[[T:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ABS]]
// CHECK-COUNT-8: math.fma %{{.*}}, %[[T]], %{{.*}} : vector<2x8xf32>
// CHECK:         %[[U:.*]] = math.fma %{{.*}}, %[[T]], %[[T]] : vector<2x8xf32>
// CHECK:         arith.negf %[[U]]
// CHECK-NOT:     arith.divf
// CHECK:         math.copysign %{{.*}}, %[[X]] : vector<2x8xf32>
func.func @erf(%x: vector<2x8xf32>) -> vector<2x8xf32> {
  %0 = math.erf %x : vector<2x8xf32>
  return %0 : vector<2x8xf32>
}

// -----

// Arguments below the normal numbers are scaled; zero, infinity, NaN and negative
// ones are seen to last.
// CHECK-LABEL: func @log
// CHECK-SAME:    (%[[X:.*]]: f32)
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG:     %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK-DAG:     %[[MINUS_INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK:         %[[TINY:.*]] = arith.cmpf olt, %[[X]], %{{.*}} : f32
// CHECK:         %[[UP:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK:         %[[SCALED:.*]] = arith.select %[[TINY]], %[[UP]], %[[X]] : f32
// CHECK:         arith.bitcast %[[SCALED]] : f32 to i32
// CHECK:         arith.shrsi
// CHECK:         arith.select %[[TINY]], %{{.*}}, %{{.*}} : i32
// CHECK:         arith.sitofp
// CHECK-COUNT-11: math.fma
// CHECK:         %[[FINITE:.*]] = arith.cmpf olt, %[[X]], %[[INF]] : f32
// CHECK:         %[[SUM:.*]] = arith.select %[[FINITE]], %{{.*}}, %[[X]] : f32
// CHECK:         %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[X]], %[[ZERO]] : f32
// CHECK:         %[[POLE:.*]] = arith.select %[[IS_ZERO]], %[[MINUS_INF]], %[[NAN]] : f32
// CHECK:         %[[POSITIVE:.*]] = arith.cmpf olt, %[[ZERO]], %[[X]] : f32
// CHECK:         %[[RESULT:.*]] = arith.select %[[POSITIVE]], %[[SUM]], %[[POLE]] : f32
// CHECK:         return %[[RESULT]] : f32
func.func @log(%x: f32) -> f32 {
  %0 = math.log %x : f32
  return %0 : f32
}
