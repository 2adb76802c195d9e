// RUN: metaop-compile %s -o %t.o --header=%t.h --name=two_sums --target=x86-64-v3
// RUN: FileCheck %s --input-file=%t.h
// RUN: %python -c "print(open(r'%t.o', 'rb').read(4))" | FileCheck %s --check-prefix=ELF
// The name is that of the object otherwise, and the header is beside it.
// RUN: rm -rf %t.folder && mkdir %t.folder
// RUN: metaop-compile %s -o %t.folder/my-model.1.o
// RUN: FileCheck %s --input-file=%t.folder/my-model.1.h --check-prefix=DEFAULT
// RUN: metaop-compile - -o %t.folder/7.o --target=aarch64 < %s
// RUN: FileCheck %s --input-file=%t.folder/7.h --check-prefix=DIGIT

// ELF: b'\x7fELF'

// CHECK: The model two_sums, for x86-64-v3 under Linux.
// CHECK: #ifndef METAOPS_MODEL_TWO_SUMS_H
// CHECK: extern "C" {
// CHECK: #define TWO_SUMS_ALIGNMENT 64
// CHECK: #define TWO_SUMS_ARENA_BYTES 1
// CHECK: #define TWO_SUMS_NUM_INPUTS 2
// CHECK-NEXT: #define TWO_SUMS_NUM_OUTPUTS 3
// CHECK: /* float16 (2, 3) */
// CHECK-NEXT: #define TWO_SUMS_INPUT_0_DTYPE "float16"
// CHECK-NEXT: #define TWO_SUMS_INPUT_0_TYPE uint16_t
// CHECK-NEXT: #define TWO_SUMS_INPUT_0_RANK 2
// CHECK-NEXT: #define TWO_SUMS_INPUT_0_SHAPE {2, 3}
// CHECK-NEXT: #define TWO_SUMS_INPUT_0_ELEMENTS 6
// CHECK-NEXT: #define TWO_SUMS_INPUT_0_BYTES 12
// CHECK: /* bool (5,) */
// CHECK: #define TWO_SUMS_INPUT_1_TYPE uint8_t
// CHECK: #define TWO_SUMS_OUTPUT_0_BYTES 12
// CHECK: /* int64 () */
// CHECK-NEXT: #define TWO_SUMS_OUTPUT_1_DTYPE "int64"
// CHECK-NEXT: #define TWO_SUMS_OUTPUT_1_TYPE int64_t
// CHECK-NEXT: #define TWO_SUMS_OUTPUT_1_RANK 0
// CHECK-NEXT: #define TWO_SUMS_OUTPUT_1_ELEMENTS 1
// CHECK: #define TWO_SUMS_OUTPUT_2_BYTES 0
// CHECK: #define TWO_SUMS_OK 0
// CHECK-NEXT: #define TWO_SUMS_ERROR_ARENA 1
// CHECK-NEXT: #define TWO_SUMS_ERROR_INPUT 2
// CHECK-NEXT: #define TWO_SUMS_ERROR_OUTPUT 3
// CHECK: int two_sums_init(void *arena, size_t bytes);
// CHECK: int two_sums_run(const void *const *inputs, void *const *outputs, void *arena);
// CHECK: const char *two_sums_error_string(int error);

// DEFAULT: The model my_model_1, for native under Linux.
// DIGIT: int model_7_run(

func.func @main(%x: tensor<2x3xf16>, %b: tensor<5xi1>)
    -> (tensor<2x3xf16>, tensor<i64>, tensor<0x3xf32>) {
  %0 = metaop.add %x, %x : tensor<2x3xf16>
  %1 = metaop.cast %b : tensor<5xi1> -> tensor<5xi64>
  %2 = metaop.reduce add %1 dims = [0] : tensor<5xi64> -> tensor<i64>
  %3 = metaop.constant dense<0.0> : tensor<0x3xf32>
  return %0, %2, %3 : tensor<2x3xf16>, tensor<i64>, tensor<0x3xf32>
}
