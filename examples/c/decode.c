/*===- decode.c - Writes texts with an exported decoder -----------*- C -*-===*\
|*                                                                            *|
|* Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.       *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

/*
 * Runs a program whose input is a token and whose output is the text behind it:
 * one run writes all of it, for the program has the loop over the tokens and
 * the memory of what was read. Tokens are of int64. For each token that is
 * given prints a line, with the text.
 *
 *   cc decode.c $(pkg-config --cflags --libs metaops-execute) -o decode
 *   ./decode decoder.metaops TOKEN...
 */

#include "common.h"

#include <inttypes.h>

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: decode PROGRAM TOKEN...\n");
    return 2;
  }
  metaops_program *program;
  char *error = NULL;
  check(metaops_open(argv[1], NULL, &program, &error), &error);

  metaops_tensor_info token, text;
  if (metaops_num_inputs(program) != 1 || metaops_num_outputs(program) != 1) {
    fprintf(stderr, "expected a program of one input and one output\n");
    return 1;
  }
  check(metaops_get_input(program, 0, &token, &error), &error);
  check(metaops_get_output(program, 0, &text, &error), &error);
  if (token.dtype != METAOPS_INT64 || token.rank != 0 ||
      text.dtype != METAOPS_INT64) {
    fprintf(stderr, "expected a token and a text of int64\n");
    return 1;
  }
  int64_t first;
  int64_t *tokens = allocate(text.bytes);
  metaops_input_memory input = {.data = &first, .bytes = sizeof(first)};
  metaops_output_memory output = {.data = tokens, .bytes = text.bytes};
  for (int i = 2; i < argc; ++i) {
    first = strtoll(argv[i], NULL, 10);
    check(metaops_run(program, &input, 1, &output, 1, &error), &error);
    for (size_t place = 0, count = count_elements(&text); place < count;
         ++place)
      printf(place ? " %" PRId64 : "%" PRId64, tokens[place]);
    printf("\n");
  }
  free(tokens);
  metaops_close(program);
  return 0;
}
