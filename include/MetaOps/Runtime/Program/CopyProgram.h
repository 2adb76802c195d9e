//===- CopyProgram.h - Programs of copies -----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_COPYPROGRAM_H
#define METAOPS_RUNTIME_PROGRAM_COPYPROGRAM_H

#include "MetaOps/Runtime/Program/Copy.h"
#include "MetaOps/Runtime/Program/Program.h"

namespace metaops {

/// A result that is put together from arguments.
struct CopyResult {
  int64_t bytes = 0;
  /// Their sources are arguments, by number.
  std::vector<Copy> copies;
};

/// A program that computes nothing. `info` has one call per result.
std::shared_ptr<Program> createCopyProgram(unsigned numArguments,
                                           std::vector<CopyResult> results,
                                           ProgramInfo info);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_COPYPROGRAM_H
