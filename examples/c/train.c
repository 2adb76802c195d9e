/*===- train.c - Trains with an exported step ---------------------*- C -*-===*\
|*                                                                            *|
|* Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.       *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

/*
 * Runs a step of training that was exported with state="outputs" so many times.
 * A state is an input, an output and a weight of one name: it begins with the
 * weight, and each run's output is the next one's input. Of the other inputs,
 * element i is i % 17 - 8. Prints the other outputs of all runs, and the state
 * in the end: a line with the name, then one per element. All are float32 or
 * int64. Numbers of an optimiser are those of Adam with a rate of 0.01, by
 * their names: "optimizer.rate".
 *
 *   cc train.c $(pkg-config --cflags --libs metaops-execute) -lm -o train
 *   ./train step.metaops STEPS
 */

#include "common.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void fill(const metaops_tensor_info *info, void *data) {
  for (size_t i = 0, count = count_elements(info); i < count; ++i)
    if (info->dtype == METAOPS_FLOAT32)
      ((float *)data)[i] = (float)((int)(i % 17) - 8);
    else
      ((int64_t *)data)[i] = (int64_t)(i % 17) - 8;
}

static void print(const metaops_tensor_info *info, const void *data) {
  printf("%s\n", info->name);
  for (size_t i = 0, count = count_elements(info); i < count; ++i)
    if (info->dtype == METAOPS_FLOAT32)
      printf("%.9g\n", ((const float *)data)[i]);
    else
      printf("%" PRId64 "\n", ((const int64_t *)data)[i]);
}

/* Finds the input that an output of a state is next; returns whether it is. */
static int find_state(const metaops_program *program, size_t output,
                      size_t *input) {
  metaops_tensor_info info;
  size_t weight;
  return metaops_get_output(program, output, &info, NULL) == METAOPS_OK &&
         metaops_find_weight(program, info.name, &weight, NULL) == METAOPS_OK &&
         metaops_find_input(program, info.name, input, NULL) == METAOPS_OK;
}

/* Fills the memory of an input with a weight of its name, or with numbers. */
static void begin(const metaops_program *program,
                  const metaops_tensor_info *info, void *data) {
  size_t weight;
  metaops_tensor_info of_weight;
  const void *initial;
  if (metaops_find_weight(program, info->name, &weight, NULL) == METAOPS_OK &&
      metaops_get_weight(program, weight, &of_weight, &initial, NULL) ==
          METAOPS_OK &&
      of_weight.bytes == info->bytes)
    memcpy(data, initial, info->bytes);
  else
    fill(info, data);
}

/* Sets an input that is a number of Adam's, by the last part of its name. */
static void set_number(const metaops_tensor_info *info, void *data, long step) {
  const double beta1 = 0.9, beta2 = 0.999;
  const struct {
    const char *name;
    double value;
  } numbers[] = {{"beta1", beta1},
                 {"rest1", 1.0 - beta1},
                 {"beta2", beta2},
                 {"rest2", 1.0 - beta2},
                 {"rate", 0.01 / (1.0 - pow(beta1, (double)step))},
                 {"scale", 1.0 / sqrt(1.0 - pow(beta2, (double)step))},
                 {"eps", 1e-8}};
  const char *last = strrchr(info->name, '.');
  for (size_t i = 0; last && i < sizeof(numbers) / sizeof(*numbers); ++i)
    if (strcmp(last + 1, numbers[i].name) == 0 && info->rank == 0 &&
        info->dtype == METAOPS_FLOAT32)
      *(float *)data = (float)numbers[i].value;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: train PROGRAM STEPS\n");
    return 2;
  }
  metaops_program *program;
  char *error = NULL;
  check(metaops_open(argv[1], NULL, &program, &error), &error);

  size_t num_inputs = metaops_num_inputs(program), next;
  size_t num_outputs = metaops_num_outputs(program);
  metaops_input_memory *inputs = calloc(num_inputs + 1, sizeof(*inputs));
  metaops_output_memory *outputs = calloc(num_outputs + 1, sizeof(*outputs));
  if (!inputs || !outputs)
    return 1;
  metaops_tensor_info info;
  for (size_t i = 0; i < num_inputs; ++i) {
    check(metaops_get_input(program, i, &info, &error), &error);
    void *data = allocate(info.bytes);
    begin(program, &info, data);
    inputs[i].data = data;
    inputs[i].bytes = info.bytes;
  }
  for (size_t i = 0; i < num_outputs; ++i) {
    check(metaops_get_output(program, i, &info, &error), &error);
    outputs[i].data = allocate(info.bytes);
    outputs[i].bytes = info.bytes;
  }

  long steps = strtol(argv[2], NULL, 10);
  for (long step = 1; step <= steps; ++step) {
    for (size_t i = 0; i < num_inputs; ++i) {
      check(metaops_get_input(program, i, &info, &error), &error);
      set_number(&info, (void *)inputs[i].data, step);
    }
    check(
        metaops_run(program, inputs, num_inputs, outputs, num_outputs, &error),
        &error);
    for (size_t i = 0; i < num_outputs; ++i) {
      check(metaops_get_output(program, i, &info, &error), &error);
      if (find_state(program, i, &next)) {
        /* The memory changes places: nothing is copied. */
        void *former = (void *)inputs[next].data;
        inputs[next].data = outputs[i].data;
        outputs[i].data = former;
      } else {
        print(&info, outputs[i].data);
      }
    }
  }
  for (size_t i = 0; i < num_outputs; ++i)
    if (find_state(program, i, &next)) {
      check(metaops_get_input(program, next, &info, &error), &error);
      print(&info, inputs[next].data);
    }

  for (size_t i = 0; i < num_outputs; ++i)
    free(outputs[i].data);
  for (size_t i = 0; i < num_inputs; ++i)
    free((void *)inputs[i].data);
  free(inputs);
  free(outputs);
  metaops_close(program);
  return 0;
}
