// Without a driver, what is missing is said, and that NVIDIA's driver brings it.

// UNSUPPORTED: nvidia-gpu
// RUN: not metaop-run %s --target=cuda 2>&1 | FileCheck %s
// RUN: not metaop-run %s --target=cuda --chip=sm_80 2>&1 | FileCheck %s
// RUN: not metaop-run %s --target=cuda --compare 2>&1 | FileCheck %s

// CHECK: error: there is no {{use of a GPU|assembler for GPUs}}
// CHECK-SAME: libcuda.so.1{{.*}}NVIDIA's driver

// RUN: not metaop-run %s --target=cuda --chip=sm_70 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: --chip: the chip 'sm_70' is too old; code is made for sm_80, sm_86,

// RUN: not metaop-run %s --interpret --times 2>&1 | FileCheck %s --check-prefix=INTERPRET
// INTERPRET: error: --interpret compiles nothing, so --target, --chip, --emulate and --times cannot be given

// RUN: metaop-run %s --times | FileCheck %s --check-prefix=TIMES
// TIMES: kernel_0: {{[0-9.]+}} us
// TIMES: result 0: tensor<3xf32>
func.func @main() -> tensor<3xf32> {
  %0 = metaop.iota dim = 0 : tensor<3xf32>
  %1 = metaop.exp %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}
