//===- FakeDriver.h - A driver without a GPU --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_CUDA_FAKEDRIVER_H
#define METAOPS_UNITTESTS_CUDA_FAKEDRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// State of the fake driver that tests have loaded, for these to see and set.
struct FakeDriver {
  int version = 13000;
  int devices = 1;
  /// Of the GPU.
  int capability = 90;
  /// The code that it assembles PTX to.
  std::string code = "driver's code";
  /// The call that fails, as it is written down; code that is not loaded.
  std::string failing, refused;
  /// Stands for a kernel, with its arguments.
  void (*kernel)(void **arguments) = nullptr;
  /// The milliseconds between two events, by the blocks of the launch between.
  float (*time)(unsigned blocks) = nullptr;
  std::vector<std::string> calls;
  /// Of the last launch.
  unsigned blocks = 0, threads = 0;
  /// Contexts that are pushed; things that were made and not given back.
  int depth = 0, live = 0;
  /// Of the last link.
  char *info = nullptr, *errors = nullptr;
  int target = 0;
};

extern "C" FakeDriver *fakeDriver();

#endif // METAOPS_UNITTESTS_CUDA_FAKEDRIVER_H
