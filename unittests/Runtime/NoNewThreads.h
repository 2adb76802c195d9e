//===- NoNewThreads.h - A process that gets no more threads -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_NONEWTHREADS_H
#define METAOPS_UNITTESTS_RUNTIME_NONEWTHREADS_H

#include <cstddef>
#include <pthread.h>

/// While one lives no thread can be started: new ones would get a stack larger
/// than the address space.
class NoNewThreads {
public:
  NoNewThreads() {
    pthread_getattr_default_np(&before);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, size_t(1) << 50);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoNewThreads() {
    pthread_setattr_default_np(&before);
    pthread_attr_destroy(&before);
  }
  NoNewThreads(const NoNewThreads &) = delete;
  NoNewThreads &operator=(const NoNewThreads &) = delete;

private:
  pthread_attr_t before;
};

#endif // METAOPS_UNITTESTS_RUNTIME_NONEWTHREADS_H
