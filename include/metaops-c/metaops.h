/*===- metaops.h - Running exported programs from C ---------------*- C -*-===*\
|*                                                                            *|
|* Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.       *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

/*
 * Runs programs of files (docs/ProgramFile.md) without a compiler. Link it with
 * -lMetaOpsExecute.
 *
 * Calls that can fail return a status. Where `error` is not null and the status
 * is not METAOPS_OK, `*error` becomes a text that says what was given and what
 * was expected; metaops_free_error gives it back. It is null if there was no
 * memory for it.
 *
 * All functions may be called from several threads at once, for one program,
 * too, but for metaops_close, which has to be the last call. Runs beside each
 * other have scratch memory each and share the program's threads.
 *
 * A file with machine code is trusted like any other program: load none that
 * you would not run. No file may be changed while a program of it is open.
 */

#ifndef METAOPS_C_METAOPS_H
#define METAOPS_C_METAOPS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define METAOPS_EXPORT __attribute__((visibility("default")))
#else
#define METAOPS_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this header; see metaops_version. */
#define METAOPS_VERSION_MAJOR 0
#define METAOPS_VERSION_MINOR 1

/** An open function of a program file. */
typedef struct metaops_program metaops_program;

typedef enum metaops_status {
  METAOPS_OK = 0,
  /** An argument: null, or of a wrong number, size or alignment. */
  METAOPS_INVALID_ARGUMENT = 1,
  /** The file: not there, damaged, or for other processors. */
  METAOPS_INVALID_FILE = 2,
  /** The data that a program was run on, such as an index out of range. */
  METAOPS_RUN_FAILED = 3,
  METAOPS_OUT_OF_MEMORY = 4,
  /** What should not happen. */
  METAOPS_INTERNAL_ERROR = 5
} metaops_status;

/** Element types. A bool is a byte of 0 or 1. */
typedef enum metaops_dtype {
  METAOPS_BOOL = 0,
  METAOPS_INT8 = 1,
  METAOPS_INT16 = 2,
  METAOPS_INT32 = 3,
  METAOPS_INT64 = 4,
  METAOPS_UINT8 = 5,
  METAOPS_UINT16 = 6,
  METAOPS_UINT32 = 7,
  METAOPS_UINT64 = 8,
  METAOPS_FLOAT16 = 9,
  METAOPS_BFLOAT16 = 10,
  METAOPS_FLOAT32 = 11,
  METAOPS_FLOAT64 = 12
} metaops_dtype;

/** How a program is opened. All zeros but for the size are the defaults. */
typedef struct metaops_options {
  /** sizeof(metaops_options): later versions may have more members. */
  size_t size;
  /** Threads of a run, the caller's included; 0: one for each processor. */
  uint32_t threads;
  /** Not 0: compare all checksums, those of weights included. */
  uint32_t verify;
  /** Not 0: load no code. The program can be looked at, but not run. */
  uint32_t no_code;
} metaops_options;

/** What a program takes or gives. Names and shapes live as long as it. */
typedef struct metaops_tensor_info {
  const char *name;
  metaops_dtype dtype;
  size_t rank;
  /** `rank` extents; -1 for those that sizes decide (metaops_open_sizes). */
  const int64_t *shape;
  /** Of the whole tensor, in row-major order; 0 where sizes decide. */
  size_t bytes;
} metaops_tensor_info;

/** Memory of an input, aligned to its elements. */
typedef struct metaops_input_memory {
  const void *data;
  size_t bytes;
} metaops_input_memory;

/** Memory of an output, aligned to its elements. Where it is aligned to 64
    bytes and is no input, the result is computed in it, else copied to it. */
typedef struct metaops_output_memory {
  void *data;
  size_t bytes;
} metaops_output_memory;

/** The version of the library, "0.1.0". Programs that were built with a header
    of the same first number, or of 0 and the same second one, can use it. */
METAOPS_EXPORT const char *metaops_version(void);

/** Gives back the text of an error; null is allowed. */
METAOPS_EXPORT void metaops_free_error(char *error);

/** Opens a file, to run its first function. `options` may be null. */
METAOPS_EXPORT metaops_status metaops_open(const char *path,
                                           const metaops_options *options,
                                           metaops_program **program,
                                           char **error);

/** The same for a file in memory, which is copied. */
METAOPS_EXPORT metaops_status metaops_open_bytes(const void *data, size_t bytes,
                                                 const metaops_options *options,
                                                 metaops_program **program,
                                                 char **error);

/** How many functions the program's file has, and the name of one, from 0 on;
    0 and null for null, and for a number that there is not. A file is opened
    with its first function. Names live as long as the program. */
METAOPS_EXPORT size_t metaops_num_functions(const metaops_program *program);
METAOPS_EXPORT const char *metaops_get_function(const metaops_program *program,
                                                size_t number);

/** Opens a function of the program's file by its name, as a program of its own
    that shares the file's weights: each may be closed before the other. */
METAOPS_EXPORT metaops_status metaops_open_function(
    const metaops_program *program, const char *name,
    const metaops_options *options, metaops_program **function, char **error);

/** Returns the number of extents of a function that are not fixed, as of a
    batch, and the name of one, from 0 on; 0 and null for null, for a program of
   fixed shapes, and for a number that there is not. Names live as long as the
   program. */
METAOPS_EXPORT size_t metaops_num_extents(const metaops_program *program);
METAOPS_EXPORT const char *metaops_get_extent(const metaops_program *program,
                                              size_t number);

/** Finds the extent of a dimension of an input; `number` becomes
    METAOPS_NO_EXTENT where that is fixed. */
#define METAOPS_NO_EXTENT ((size_t)-1)
METAOPS_EXPORT
metaops_status metaops_find_extent(const metaops_program *program, size_t input,
                                   size_t dimension, size_t *number,
                                   char **error);

/** Opens the program of a function for sizes of its extents, in their order: it
    has fixed shapes, and can be run. It shares the weights, the code and the
    threads of `program`; each may be closed before the other. That there is no
    program for the sizes is METAOPS_INVALID_ARGUMENT. */
METAOPS_EXPORT metaops_status metaops_open_sizes(const metaops_program *program,
                                                 const int64_t *sizes,
                                                 size_t num_sizes,
                                                 metaops_program **sized,
                                                 char **error);

/** Waits for runs to end, and gives the program back. No other call may begin
    any more. Null is allowed. */
METAOPS_EXPORT void metaops_close(metaops_program *program);

/** How many inputs and outputs a program has; 0 for null. */
METAOPS_EXPORT size_t metaops_num_inputs(const metaops_program *program);
METAOPS_EXPORT size_t metaops_num_outputs(const metaops_program *program);

/** Describes an input or output, from 0 on. */
METAOPS_EXPORT metaops_status metaops_get_input(const metaops_program *program,
                                                size_t number,
                                                metaops_tensor_info *info,
                                                char **error);
METAOPS_EXPORT metaops_status metaops_get_output(const metaops_program *program,
                                                 size_t number,
                                                 metaops_tensor_info *info,
                                                 char **error);

/** Finds an input or output by its name. */
METAOPS_EXPORT metaops_status metaops_find_input(const metaops_program *program,
                                                 const char *name,
                                                 size_t *number, char **error);
METAOPS_EXPORT metaops_status
metaops_find_output(const metaops_program *program, const char *name,
                    size_t *number, char **error);

/** How many weights the program's file has, which all its functions share; 0
    for null. */
METAOPS_EXPORT size_t metaops_num_weights(const metaops_program *program);

/** Describes a weight, from 0 on, and says where it is: not to be written, and
    there as long as the program is open. `data` may be null. */
METAOPS_EXPORT metaops_status metaops_get_weight(const metaops_program *program,
                                                 size_t number,
                                                 metaops_tensor_info *info,
                                                 const void **data,
                                                 char **error);

/** Finds a weight by its name. */
METAOPS_EXPORT metaops_status
metaops_find_weight(const metaops_program *program, const char *name,
                    size_t *number, char **error);

/** The target whose code runs ("x86-64-v3"; empty without code) and the build
    that wrote the file; null for null. They live as long as the program. */
METAOPS_EXPORT const char *metaops_target(const metaops_program *program);
METAOPS_EXPORT const char *metaops_producer(const metaops_program *program);

/** A text that the file has under a key; null where there is none. */
METAOPS_EXPORT const char *metaops_get_key(const metaops_program *program,
                                           const char *key);

/** The memory that each run takes beside its outputs; 0 for null. */
METAOPS_EXPORT size_t metaops_scratch_bytes(const metaops_program *program);

/** Runs a program on its inputs, in their order, and writes all outputs. Nobody
    may write the memory meanwhile. Outputs may overlap inputs, but not each
    other. After a failure, the contents of outputs are not defined. */
METAOPS_EXPORT metaops_status metaops_run(metaops_program *program,
                                          const metaops_input_memory *inputs,
                                          size_t num_inputs,
                                          const metaops_output_memory *outputs,
                                          size_t num_outputs, char **error);

/** Sets the number of threads, one at least, when no run is on its way: of all
    sizes of a function. */
METAOPS_EXPORT metaops_status metaops_set_threads(metaops_program *program,
                                                  uint32_t threads,
                                                  char **error);
/** The number of threads; 0 for null. */
METAOPS_EXPORT uint32_t metaops_get_threads(const metaops_program *program);

#ifdef __cplusplus
}
#endif

#endif /* METAOPS_C_METAOPS_H */
