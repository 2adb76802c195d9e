//===- ModelInterface.h - What a model's functions take ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_AOT_MODELINTERFACE_H
#define METAOPS_LIB_RUNTIME_AOT_MODELINTERFACE_H

#include "MetaOps/Runtime/Export/ProgramSignature.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace metaops {

/// What the functions of a model return.
struct ModelError {
  enum : int { None, Arena, Input, Output, FirstIndex };

  /// What the name in C ends with.
  std::string suffix;
  std::string message;
};

/// What a C program has to know of a model.
struct ModelInterface {
  /// What names begin with, and macros.
  std::string name, macro;
  /// For people.
  std::string targetName;
  std::vector<TensorSpec> inputs, outputs;
  int64_t arenaBytes = 0;
  /// By their numbers; those from ModelError::FirstIndex on are of the checks
  /// of the program, in the order of walkSteps.
  std::vector<ModelError> errors;
};

/// Of arenas and outputs.
inline constexpr int64_t kModelAlignment = 64;

/// The C header of a model.
std::string writeModelHeader(const ModelInterface &model);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_AOT_MODELINTERFACE_H
