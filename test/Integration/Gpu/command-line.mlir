// What metaop-run says of GPUs that it cannot compile for, and of options that do
// not go together.

// RUN: not metaop-run %s --emulate 2>&1 | FileCheck %s --check-prefix=EMULATE
// EMULATE: error: --emulate is for GPUs: it expects --target=cuda, given --target=cpu

// RUN: not metaop-run %s --chip=sm_80 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: --chip is for GPUs: it expects --target=cuda, given --target=cpu

// RUN: not metaop-run %s --target=gpu 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: --target=gpu: expected one of cpu, cuda

// RUN: not metaop-run %s --target=cuda --emulate --chip=sm_91 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: --chip: there is no chip 'sm_91'; expected one of sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a

// RUN: not metaop-run %s --target=cuda --emulate --chip=sm_75 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OLD
// OLD: error: --chip: the chip 'sm_75' is too old; code is made for sm_80, sm_86

// RUN: not metaop-run %s --target=cuda --emulate --interpret 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INTERPRET
// INTERPRET: error: --interpret compiles nothing, so --target, --chip, --emulate and --times cannot be given

// RUN: metaop-run %s --target=cuda --emulate --chip=sm_80 --seed=1 > %t.gpu
// RUN: metaop-run %s --seed=1 | diff - %t.gpu

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = metaop.neg %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
