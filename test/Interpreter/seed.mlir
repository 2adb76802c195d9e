// RUN: metaop-run %s --interpret --seed=42 | FileCheck %s --match-full-lines

// Arguments made from a seed: one splitmix64 stream through all arguments.

func.func @main(
    %a0: tensor<2x3xf32>, %a1: tensor<2xf64>, %a2: tensor<2xf16>,
    %a3: tensor<2xbf16>, %a4: tensor<5xi8>, %a5: tensor<i64>,
    %a6: tensor<5xui16>, %a7: tensor<4xi1>, %a8: tensor<0x3xf32>,
    %a9: index) -> (
    tensor<2x3xf32>, tensor<2xf64>, tensor<2xf16>, tensor<2xbf16>,
    tensor<5xi8>, tensor<i64>, tensor<5xui16>, tensor<4xi1>,
    tensor<0x3xf32>, index) {
  // CHECK: result 0: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0.48313, -0.680179, -0.442798],
  // CHECK-NEXT: [-0.311619, -0.92394, 0.736456]]
  // CHECK: result 1: tensor<2xf64>
  // CHECK-NEXT: [-0.56319, 0.601264]
  // CHECK: result 2: tensor<2xf16>
  // CHECK-NEXT: [-0.320312, 0.236328]
  // CHECK: result 3: tensor<2xbf16>
  // CHECK-NEXT: [-0.59375, -0.015625]
  // CHECK: result 4: tensor<5xi8>
  // CHECK-NEXT: [1, 3, 0, 5, 6]
  // CHECK: result 5: tensor<i64>
  // CHECK-NEXT: 3
  // CHECK: result 6: tensor<5xui16>
  // CHECK-NEXT: [0, 5, 7, 0, 4]
  // CHECK: result 7: tensor<4xi1>
  // CHECK-NEXT: [True, False, False, True]
  // CHECK: result 8: tensor<0x3xf32>
  // CHECK-NEXT: []
  // CHECK: result 9: index
  // CHECK-NEXT: 6
  return %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9 :
      tensor<2x3xf32>, tensor<2xf64>, tensor<2xf16>, tensor<2xbf16>,
      tensor<5xi8>, tensor<i64>, tensor<5xui16>, tensor<4xi1>,
      tensor<0x3xf32>, index
}
