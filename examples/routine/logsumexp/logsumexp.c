/*===- logsumexp.c - A routine of a plugin ------------------------*- C -*-===*\
|*                                                                            *|
|* Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.       *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

/*
 * The logarithm of the sum of the exponentials of each row, of float32 or
 * float64. A row's exponentials are in scratch memory: each thread has its own
 * part of it.
 *
 *   operands  source, of any shape but () and dense
 *   results   values, of that shape without the last dimension
 *
 * logsumexp.py builds it, and gives it derivatives.
 */

#include "metaops-c/routine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rows are shared among threads by blocks, each with scratch memory. */
enum { kBlocks = 64 };

static int64_t count_rows(const metaops_routine *routine) {
  int64_t rows = 1;
  for (size_t dim = 0; dim < routine->results[0].rank; ++dim)
    rows *= routine->results[0].shape[dim];
  return rows;
}

static int64_t get_length(const metaops_routine *routine) {
  return routine->operands[0].shape[routine->operands[0].rank - 1];
}

static int is_dense(const metaops_routine_tensor *tensor) {
  int64_t stride = 1;
  for (size_t dim = tensor->rank; dim-- > 0;) {
    if (tensor->shape[dim] != 1 && tensor->strides[dim] != stride)
      return 0;
    stride *= tensor->shape[dim];
  }
  return 1;
}

/* Says why a routine is none of these; 0 if it is one. */
static const char *find_problem(const metaops_routine *routine) {
  if (routine->num_operands != 1 || routine->num_results != 1 ||
      routine->num_attributes != 0)
    return "it takes one operand, no attributes, and has one result";
  const metaops_routine_tensor *source = &routine->operands[0];
  const metaops_routine_tensor *values = &routine->results[0];
  if (source->dtype != METAOPS_FLOAT32 && source->dtype != METAOPS_FLOAT64)
    return "it is of float32 and float64 alone";
  if (source->rank == 0 || values->rank != source->rank - 1 ||
      values->dtype != source->dtype ||
      memcmp(source->shape, values->shape, values->rank * sizeof(int64_t)) != 0)
    return "its result has the operand's shape but for the last dimension";
  if (!is_dense(source) || !is_dense(values))
    return "it is of dense tensors alone";
  return 0;
}

static int plan(const metaops_routine *routine, metaops_routine_plan *plan,
                char *message, size_t message_size) {
  const char *problem = find_problem(routine);
  if (problem) {
    snprintf(message, message_size, "%s", problem);
    return 1;
  }
  int64_t elements = count_rows(routine) * get_length(routine);
  plan->scratch_bytes = kBlocks * get_length(routine) * (int64_t)sizeof(double);
  plan->work = 5000 * elements;
  plan->flops = 3 * elements;
  return 0;
}

struct job {
  const metaops_routine *routine;
  const metaops_routine_run *run;
  int64_t rows, length;
};

static double read_number(const struct job *job, int64_t place) {
  if (job->routine->operands[0].dtype == METAOPS_FLOAT32)
    return ((const float *)job->run->operands[0])[place];
  return ((const double *)job->run->operands[0])[place];
}

static double reduce_row(const struct job *job, int64_t row, double *terms) {
  double largest = -INFINITY, sum = 0;
  for (int64_t k = 0; k < job->length; ++k) {
    terms[k] = read_number(job, row * job->length + k);
    largest = terms[k] > largest || isnan(terms[k]) ? terms[k] : largest;
  }
  if (isinf(largest))
    return largest;
  for (int64_t k = 0; k < job->length; ++k)
    sum += exp(terms[k] - largest);
  return largest + log(sum);
}

static void reduce_blocks(void *data, int64_t begin, int64_t end) {
  const struct job *job = data;
  for (int64_t block = begin; block < end; ++block) {
    double *terms = (double *)job->run->scratch + block * job->length;
    int64_t first = job->rows * block / kBlocks;
    int64_t last = job->rows * (block + 1) / kBlocks;
    for (int64_t row = first; row < last; ++row) {
      double value = reduce_row(job, row, terms);
      if (job->routine->results[0].dtype == METAOPS_FLOAT32)
        ((float *)job->run->results[0])[row] = (float)value;
      else
        ((double *)job->run->results[0])[row] = value;
    }
  }
}

static int run(const metaops_routine *routine, const metaops_routine_run *run,
               char *message, size_t message_size) {
  (void)message;
  (void)message_size;
  struct job job = {routine, run, count_rows(routine), get_length(routine)};
  run->parallel_for(run, kBlocks, 1, reduce_blocks, &job);
  return 0;
}

static const metaops_routine_implementation logsumexp = {
    "logsumexp", "example", "1.0", /*may_fail=*/0, plan, run};

int metaops_add_routines(int version, void *registry, metaops_add_routine add) {
  if (version == METAOPS_ROUTINE_VERSION)
    add(registry, &logsumexp);
  return METAOPS_ROUTINE_VERSION;
}
