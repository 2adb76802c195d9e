/*===- routine.h - Routines of plugins ----------------------------*- C -*-===*\
|*                                                                            *|
|* Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.       *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

/*
 * A plugin is a shared library that defines metaops_add_routines. That is
 * called once, when the plugin is loaded (metaops.load_routines), and adds
 * implementations. The library stays loaded; descriptions that it gives are to
 * live as long.
 *
 * Functions of a plugin are called from any thread, several at once. They throw
 * nothing. A function that can fail writes a text of `message_size` bytes at
 * most, its zero included, to `message`, and returns a number other than 0.
 */

#ifndef METAOPS_C_ROUTINE_H
#define METAOPS_C_ROUTINE_H

#include "metaops-c/metaops.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this header. A plugin of another one is refused. */
#define METAOPS_ROUTINE_VERSION 1

/** An attribute: `count` numbers or texts of one kind. The two other lists are
    null. */
typedef struct metaops_routine_attribute {
  const char *name;
  size_t count;
  const int64_t *integers;
  const double *floats;
  const char *const *texts;
} metaops_routine_attribute;

/** An operand or a result. */
typedef struct metaops_routine_tensor {
  /** Names what it is to the routine; may be empty. */
  const char *role;
  metaops_dtype dtype;
  size_t rank;
  const int64_t *shape;
  /** Elements from one index to the next, along each dimension. */
  const int64_t *strides;
  /** Of a result: the operand in whose memory it may be made, or -1. */
  int64_t over;
} metaops_routine_tensor;

/** A call of a routine. */
typedef struct metaops_routine {
  const char *name;
  size_t num_attributes;
  const metaops_routine_attribute *attributes;
  size_t num_operands;
  const metaops_routine_tensor *operands;
  size_t num_results;
  const metaops_routine_tensor *results;
} metaops_routine;

/** Numbers that are known before a routine runs. All are zeros at first. */
typedef struct metaops_routine_plan {
  /** Scratch memory of a run, in bytes; it is aligned to 64. */
  int64_t scratch_bytes;
  /** Predicted picoseconds on one thread. */
  int64_t work;
  /** Arithmetic operations, for profiles. */
  int64_t flops;
} metaops_routine_plan;

/** The memory and the threads of one run. */
typedef struct metaops_routine_run {
  void *const *operands;
  void *const *results;
  void *scratch;
  /** Calls `body` for ranges that together cover [0, count) once, each of
     `grain` numbers at least (but the last), on the threads of `run`. Returns
     when all is done. */
  void (*parallel_for)(const struct metaops_routine_run *run, int64_t count,
                       int64_t grain,
                       void (*body)(void *data, int64_t begin, int64_t end),
                       void *data);
  /** Returns 1 if the run is to stop. A run that does returns 0 early; it is
      done another time from its beginning, so it may not have written over an
      operand. */
  int (*should_stop)(const struct metaops_routine_run *run);
  /** The runtime's own. */
  void *internal;
} metaops_routine_run;

/** Computes the routines of one name. */
typedef struct metaops_routine_implementation {
  /** The name of the routines, and of the library that computes them; its
      version. */
  const char *routine, *library, *version;
  /** 1 if a run may fail. */
  int may_fail;
  /** Plans a routine, or says why it is not taken: whatever somebody has
     written into a file, but each of its tensors can be in memory. */
  int (*plan)(const metaops_routine *routine, metaops_routine_plan *plan,
              char *message, size_t message_size);
  /** Writes all elements of the results. */
  int (*run)(const metaops_routine *routine, const metaops_routine_run *run,
             char *message, size_t message_size);
} metaops_routine_implementation;

/** Adds an implementation. */
typedef void (*metaops_add_routine)(
    void *registry, const metaops_routine_implementation *implementation);

/** Is defined by a plugin: calls `add` with `registry` for each implementation.
    Returns METAOPS_ROUTINE_VERSION, before anything is added where `version` is
    another one. */
METAOPS_EXPORT int metaops_add_routines(int version, void *registry,
                                        metaops_add_routine add);

#ifdef __cplusplus
}
#endif

#endif /* METAOPS_C_ROUTINE_H */
