/*===- static.c - Runs a model that is linked into the program ----*- C -*-===*\
|*                                                                            *|
|* Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.       *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

/*
 * Runs examples/matmul.mlir, relu(x @ w), on i % 17 - 8 for element i of each
 * input, and prints a line for each row of the result. All memory is variables.
 *
 *   metaop-compile examples/matmul.mlir -o matmul.o
 *   cc -I. examples/c/static.c matmul.o -lm -o static
 *   ./static
 */

#include "matmul.h"

#include <stdio.h>

static _Alignas(MATMUL_ALIGNMENT) char arena[MATMUL_ARENA_BYTES];
static MATMUL_INPUT_0_TYPE x[MATMUL_INPUT_0_ELEMENTS];
static MATMUL_INPUT_1_TYPE w[MATMUL_INPUT_1_ELEMENTS];
static _Alignas(MATMUL_ALIGNMENT)
    MATMUL_OUTPUT_0_TYPE y[MATMUL_OUTPUT_0_ELEMENTS];

static void fill(float *data, int count) {
  for (int i = 0; i < count; ++i)
    data[i] = (float)(i % 17 - 8);
}

int main(void) {
  static const int shape[MATMUL_OUTPUT_0_RANK] = MATMUL_OUTPUT_0_SHAPE;
  const void *inputs[MATMUL_NUM_INPUTS] = {x, w};
  void *outputs[MATMUL_NUM_OUTPUTS] = {y};
  fill(x, MATMUL_INPUT_0_ELEMENTS);
  fill(w, MATMUL_INPUT_1_ELEMENTS);
  int error = matmul_init(arena, sizeof(arena));
  if (!error)
    error = matmul_run(inputs, outputs, arena);
  if (error) {
    fprintf(stderr, "error %d: %s\n", error, matmul_error_string(error));
    return 1;
  }
  for (int i = 0; i < shape[0]; ++i)
    for (int j = 0; j < shape[1]; ++j)
      printf("%g%c", y[i * shape[1] + j], j + 1 < shape[1] ? ' ' : '\n');
  return 0;
}
