//===- Target.h - What compiled functions run on ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TOOLS_METAOP_RUN_TARGET_H
#define METAOPS_TOOLS_METAOP_RUN_TARGET_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Memory/MemorySource.h"

namespace mlir::metaop {

/// Values of --target, --chip and --emulate.
struct TargetChoice {
  std::string name = "cpu";
  /// Empty where none is given.
  std::string chip;
  bool emulate = false;
  /// Folders laid out as a CUDA toolkit, before the usual ones.
  std::vector<std::string> toolkits;
};

/// Compiler of functions, and the place of their arguments and results.
struct Target {
  std::unique_ptr<metaops::Compiler> compiler;
  std::shared_ptr<metaops::MemorySource> memory;

  /// Fails where options do not go together, for chips that are not known, and
  /// for targets that this machine does not have.
  static llvm::Expected<Target> create(const TargetChoice &choice);
};

} // namespace mlir::metaop

#endif // METAOPS_TOOLS_METAOP_RUN_TARGET_H
