/*===- run.c - Runs an exported program ---------------------------*- C -*-===*\
|*                                                                            *|
|* Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.       *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

/*
 * Fills the inputs of a program with i % 17 - 8 for element i (i % 2 for
 * booleans), runs it, and prints its outputs that are floats or integers of 32
 * or 64 bits: a line with the name, then one per element.
 *
 *   cc run.c $(pkg-config --cflags --libs metaops-execute) -o run
 *   ./run model.metaops [THREADS]
 */

#include "common.h"

#include <inttypes.h>

/* Writes a number as one element. */
static void store(void *data, metaops_dtype dtype, size_t i, int number) {
  switch (dtype) {
  case METAOPS_BOOL:
    ((uint8_t *)data)[i] = i % 2;
    return;
  case METAOPS_INT8:
  case METAOPS_UINT8:
    ((int8_t *)data)[i] = (int8_t)number;
    return;
  case METAOPS_INT16:
  case METAOPS_UINT16:
    ((int16_t *)data)[i] = (int16_t)number;
    return;
  case METAOPS_INT32:
  case METAOPS_UINT32:
    ((int32_t *)data)[i] = number;
    return;
  case METAOPS_INT64:
  case METAOPS_UINT64:
    ((int64_t *)data)[i] = number;
    return;
  case METAOPS_FLOAT16: /* zeros: C has no such type everywhere */
  case METAOPS_BFLOAT16:
    ((uint16_t *)data)[i] = 0;
    return;
  case METAOPS_FLOAT32:
    ((float *)data)[i] = (float)number;
    return;
  case METAOPS_FLOAT64:
    ((double *)data)[i] = number;
    return;
  }
}

static void print(const metaops_tensor_info *info, const void *data) {
  size_t count = count_elements(info);
  printf("%s\n", info->name);
  for (size_t i = 0; i < count; ++i)
    if (info->dtype == METAOPS_FLOAT32)
      printf("%.9g\n", ((const float *)data)[i]);
    else if (info->dtype == METAOPS_FLOAT64)
      printf("%.17g\n", ((const double *)data)[i]);
    else if (info->dtype == METAOPS_INT32)
      printf("%" PRId32 "\n", ((const int32_t *)data)[i]);
    else if (info->dtype == METAOPS_INT64)
      printf("%" PRId64 "\n", ((const int64_t *)data)[i]);
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: run PROGRAM [THREADS]\n");
    return 2;
  }
  metaops_options options = {sizeof(options), 0, 0, 0};
  if (argc == 3)
    options.threads = (uint32_t)strtoul(argv[2], NULL, 10);
  metaops_program *program;
  char *error = NULL;
  check(metaops_open(argv[1], &options, &program, &error), &error);

  size_t num_inputs = metaops_num_inputs(program);
  size_t num_outputs = metaops_num_outputs(program);
  metaops_input_memory *inputs = calloc(num_inputs + 1, sizeof(*inputs));
  metaops_output_memory *outputs = calloc(num_outputs + 1, sizeof(*outputs));
  if (!inputs || !outputs)
    return 1;
  metaops_tensor_info info;
  for (size_t i = 0; i < num_inputs; ++i) {
    check(metaops_get_input(program, i, &info, &error), &error);
    void *data = allocate(info.bytes);
    size_t count = count_elements(&info);
    for (size_t j = 0; j < count; ++j)
      store(data, info.dtype, j, (int)(j % 17) - 8);
    inputs[i].data = data;
    inputs[i].bytes = info.bytes;
  }
  for (size_t i = 0; i < num_outputs; ++i) {
    check(metaops_get_output(program, i, &info, &error), &error);
    outputs[i].data = allocate(info.bytes);
    outputs[i].bytes = info.bytes;
  }

  check(metaops_run(program, inputs, num_inputs, outputs, num_outputs, &error),
        &error);
  for (size_t i = 0; i < num_outputs; ++i) {
    check(metaops_get_output(program, i, &info, &error), &error);
    print(&info, outputs[i].data);
    free(outputs[i].data);
  }
  for (size_t i = 0; i < num_inputs; ++i)
    free((void *)inputs[i].data);
  free(inputs);
  free(outputs);
  metaops_close(program);
  return 0;
}
