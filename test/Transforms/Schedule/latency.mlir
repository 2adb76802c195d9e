// RUN: metaop-opt %s -metaop-schedule | FileCheck %s
// RUN: metaop-opt %s -metaop-schedule=processor=avx2 | FileCheck %s --check-prefix=AVX2

// The next vectors hide the latency of a function or two instructions.
// CHECK-LABEL: func @short
// CHECK: <[step(0, 16)], tile = [0: 16], lanes = 0: 16>
func.func @short(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = metaop.fused(%a = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %1 = metaop.tanh %a : tensor<1000xf32>
    %2 = metaop.mul %1, %a : tensor<1000xf32>
    metaop.yield %2 : tensor<1000xf32>
  }
  return %0 : tensor<1000xf32>
}

// Functions of functions wait for each other: four vectors are side by side.
// CHECK-LABEL: func @long
// CHECK: <[step(0, 64)], tile = [0: 64], lanes = 0: 16>
// AVX2-LABEL: func @long
// AVX2: <[step(0, 32)], tile = [0: 32], lanes = 0: 8>
func.func @long(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = metaop.fused(%a = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %1 = metaop.tanh %a : tensor<1000xf32>
    %2 = metaop.exp %1 : tensor<1000xf32>
    metaop.yield %2 : tensor<1000xf32>
  }
  return %0 : tensor<1000xf32>
}

// As many functions of one argument do not.
// CHECK-LABEL: func @wide
// CHECK: <[step(0, 16)], tile = [0: 16], lanes = 0: 16>
func.func @wide(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = metaop.fused(%a = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %1 = metaop.tanh %a : tensor<1000xf32>
    %2 = metaop.exp %a : tensor<1000xf32>
    %3 = metaop.add %1, %2 : tensor<1000xf32>
    metaop.yield %3 : tensor<1000xf32>
  }
  return %0 : tensor<1000xf32>
}

// Eight of a longer chain, if there are registers for them.
// CHECK-LABEL: func @longer
// CHECK: <[step(0, 128)], tile = [0: 128], lanes = 0: 16>
// AVX2-LABEL: func @longer
// AVX2: <[step(0, 32)], tile = [0: 32], lanes = 0: 8>
func.func @longer(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = metaop.fused(%a = %x : tensor<1000xf32>) -> tensor<1000xf32> {
    %1 = metaop.tanh %a : tensor<1000xf32>
    %2 = metaop.erf %1 : tensor<1000xf32>
    %3 = metaop.exp %2 : tensor<1000xf32>
    %4 = metaop.tanh %3 : tensor<1000xf32>
    metaop.yield %4 : tensor<1000xf32>
  }
  return %0 : tensor<1000xf32>
}

// And if there are elements.
// CHECK-LABEL: func @few
// CHECK: <[step(0, 64)], tile = [0: 64], lanes = 0: 16>
func.func @few(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = metaop.fused(%a = %x : tensor<100xf32>) -> tensor<100xf32> {
    %1 = metaop.tanh %a : tensor<100xf32>
    %2 = metaop.erf %1 : tensor<100xf32>
    %3 = metaop.exp %2 : tensor<100xf32>
    %4 = metaop.tanh %3 : tensor<100xf32>
    metaop.yield %4 : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}

// Functions that are called for each lane have no vectors to put side by side.
// CHECK-LABEL: func @called
// CHECK: <[step(0, 8)], tile = [0: 8], lanes = 0: 8>
func.func @called(%x: tensor<1000xf64>) -> tensor<1000xf64> {
  %0 = metaop.fused(%a = %x : tensor<1000xf64>) -> tensor<1000xf64> {
    %1 = metaop.tanh %a : tensor<1000xf64>
    %2 = metaop.exp %1 : tensor<1000xf64>
    metaop.yield %2 : tensor<1000xf64>
  }
  return %0 : tensor<1000xf64>
}

// What is the same in all vectors is not waited for.
// CHECK-LABEL: func @invariant
// CHECK: <[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 16>
func.func @invariant(%x: tensor<50x100xf32>, %s: tensor<50xf32>) -> tensor<50x100xf32> {
  %0 = metaop.fused(%a = %x : tensor<50x100xf32>, %b = %s : tensor<50xf32>) -> tensor<50x100xf32> {
    %1 = metaop.broadcast %b dims = [0] : tensor<50xf32> -> tensor<50x100xf32>
    %2 = metaop.tanh %1 : tensor<50x100xf32>
    %3 = metaop.exp %2 : tensor<50x100xf32>
    %4 = metaop.mul %a, %3 : tensor<50x100xf32>
    metaop.yield %4 : tensor<50x100xf32>
  }
  return %0 : tensor<50x100xf32>
}

// A random number is a chain by itself.
// CHECK-LABEL: func @random
// CHECK: tile = [0: 64], lanes = 0: 16
func.func @random(%seed: tensor<i64>, %counter: tensor<i64>) -> tensor<1000xf32> {
  %0 = metaop.fused(%a = %seed : tensor<i64>, %b = %counter : tensor<i64>) -> tensor<1000xf32> {
    %1 = metaop.random %a, %b : tensor<1000xf32>
    metaop.yield %1 : tensor<1000xf32>
  }
  return %0 : tensor<1000xf32>
}

// Elements that are results and terms of a sum.
// CHECK-LABEL: func @both
// CHECK: tile = [1: 64], lanes = 1: 16
func.func @both(%x: tensor<50x100xf32>) -> (tensor<50x100xf32>, tensor<50xf32>) {
  %0:2 = metaop.fused(%a = %x : tensor<50x100xf32>) -> (tensor<50x100xf32>, tensor<50xf32>) {
    %1 = metaop.tanh %a : tensor<50x100xf32>
    %2 = metaop.exp %1 : tensor<50x100xf32>
    %3 = metaop.reduce add %2 dims = [1] : tensor<50x100xf32> -> tensor<50xf32>
    metaop.yield %2, %3 : tensor<50x100xf32>, tensor<50xf32>
  }
  return %0#0, %0#1 : tensor<50x100xf32>, tensor<50xf32>
}
