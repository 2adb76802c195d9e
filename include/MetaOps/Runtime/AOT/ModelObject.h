//===- ModelObject.h - Models as object files -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program in an object file of its own, for C: it is linked into another
// program and needs no runtime.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_AOT_MODELOBJECT_H
#define METAOPS_RUNTIME_AOT_MODELOBJECT_H

#include "MetaOps/Runtime/JIT/Jit.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace metaops {

struct ModelOptions {
  /// The prefix of names in C: an identifier.
  std::string name;
  /// For people: what the target was asked for by.
  std::string targetName;
  /// A file of schedules that replace those of the heuristics; see
  /// metaop-schedule.
  std::string scheduleFile;
};

/// An ELF object file, and the C header that declares what it defines.
struct ModelObject {
  std::string object;
  std::string header;
};

/// A usual kind of processors, or "native" for the one of this process.
llvm::Expected<CodeTarget> findModelTarget(llvm::StringRef name);

/// Returns whether names in C may begin so.
bool isModelName(llvm::StringRef name);

/// Compiles the function @main of a module, which is changed. What is wrong is
/// told as diagnostics.
llvm::FailureOr<ModelObject> compileModel(mlir::ModuleOp module,
                                          const CodeTarget &target,
                                          const ModelOptions &options);

} // namespace metaops

#endif // METAOPS_RUNTIME_AOT_MODELOBJECT_H
