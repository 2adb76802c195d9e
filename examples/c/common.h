/*===- common.h - What examples in C have in common ---------------*- C -*-===*\
|*                                                                            *|
|* Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.       *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef METAOPS_EXAMPLES_C_COMMON_H
#define METAOPS_EXAMPLES_C_COMMON_H

#include <metaops-c/metaops.h>

#include <stdio.h>
#include <stdlib.h>

/* Ends the process where a call has failed. */
static void check(metaops_status status, char **error) {
  if (status == METAOPS_OK)
    return;
  fprintf(stderr, "error %d: %s\n", (int)status, *error ? *error : "");
  metaops_free_error(*error);
  exit(1);
}

static void *allocate(size_t bytes) {
  /* Of multiples of 64 bytes, so that results are computed in place. */
  void *memory = aligned_alloc(64, (bytes / 64 + 1) * 64);
  if (!memory) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return memory;
}

static size_t count_elements(const metaops_tensor_info *info) {
  size_t count = 1;
  for (size_t i = 0; i < info->rank; ++i)
    count *= (size_t)info->shape[i];
  return count;
}

#endif
