// RUN: metaop-run %s --interpret | FileCheck %s --match-full-lines
// RUN: metaop-run %s | FileCheck %s --match-full-lines

// Compiled functions are the interpreted ones, on ordinary and on special values.

func.func @main() -> (tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>,
                      tensor<6xi8>, tensor<6xi8>, tensor<6xui8>, tensor<6xi8>,
                      tensor<6xi8>, tensor<6xi8>, tensor<6xi32>, tensor<6xf32>) {
  %x = metaop.constant dense<[3.0, -0.0, 0x7FF0000000000000, -8.0, 0x7FF8000000000000, 1.0e300]> : tensor<6xf64>
  %y = metaop.constant dense<[4.0, 0.0, 0x7FF8000000000000, 6.0, 1.0, 1.0e300]> : tensor<6xf64>
  // CHECK: result 0: tensor<6xf64>
  // CHECK-NEXT: [5, 0, inf, 10, {{-?}}nan, 1.41421e+300]
  %0 = metaop.hypot %x, %y : tensor<6xf64>
  // CHECK: result 1: tensor<6xf64>
  // CHECK-NEXT: [3, 0, inf, 8, {{-?}}nan, 1e+300]
  %1 = metaop.copysign %x, %y : tensor<6xf64>
  // CHECK: result 2: tensor<6xf64>
  // CHECK-NEXT: [3, {{-?}}nan, {{-?}}nan, -2, {{-?}}nan, 0]
  %2 = metaop.fmod %x, %y : tensor<6xf64>
  %p = metaop.constant dense<[1.0, -1.0, 0.0, 2.0, -0.0, 0x7FF8000000000000]> : tensor<6xf64>
  // CHECK: result 3: tensor<6xf64>
  // CHECK-NEXT: [inf, -inf, 0, {{-?}}nan, -0, {{-?}}nan]
  %3 = metaop.erfinv %p : tensor<6xf64>

  %i = metaop.constant dense<[-128, -5, 7, 100, -1, 12]> : tensor<6xi8>
  %j = metaop.constant dense<[-1, 3, -2, 8, -3, 0]> : tensor<6xi8>
  // CHECK: result 4: tensor<6xi8>
  // CHECK-NEXT: [0, -40, 0, 0, 0, 12]
  %4 = metaop.shl %i, %j : tensor<6xi8>
  // CHECK: result 5: tensor<6xi8>
  // CHECK-NEXT: [-1, -1, 0, 0, -1, 12]
  %5 = metaop.shr %i, %j : tensor<6xi8>
  %u = metaop.bitcast %i : tensor<6xi8> -> tensor<6xui8>
  // CHECK: result 6: tensor<6xui8>
  // CHECK-NEXT: [1, 7, 3, 3, 8, 2]
  %6 = metaop.popcount %u : tensor<6xui8>
  // CHECK: result 7: tensor<6xi8>
  // CHECK-NEXT: [1, 1, 1, 4, 1, 12]
  %7 = metaop.gcd %i, %j : tensor<6xi8>
  // A negative power is truncated, a large one wraps.
  // CHECK: result 8: tensor<6xi8>
  // CHECK-NEXT: [0, -125, 0, 0, -1, 1]
  %8 = metaop.pow %i, %j : tensor<6xi8>
  // CHECK: result 9: tensor<6xi8>
  // CHECK-NEXT: [0, -2, 1, 4, -1, 0]
  %9 = metaop.fmod %i, %j : tensor<6xi8>

  %f = metaop.constant dense<[1.0, -1.0, 0.0, 3.4028234663852886e38, 0.1, -0.0]> : tensor<6xf32>
  // CHECK: result 10: tensor<6xi32>
  // CHECK-NEXT: [1065353216, -1082130432, 0, 2139095039, 1036831949, -2147483648]
  %10 = metaop.bitcast %f : tensor<6xf32> -> tensor<6xi32>
  %inf = metaop.constant dense<0x7F800000> : tensor<6xf32>
  // CHECK: result 11: tensor<6xf32>
  // CHECK-NEXT: [1, -1, 1.4013e-45, inf, 0.1, 1.4013e-45]
  %11 = metaop.nextafter %f, %inf : tensor<6xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11 : tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xi8>, tensor<6xi8>, tensor<6xui8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi32>, tensor<6xf32>
}
