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

/// Results of the functions of a model.
struct ModelError {
  enum : int { None, Arena, Input, Output, FirstIndex };

  /// The suffix of the name in C.
  std::string suffix;
  std::string message;
};

/// A model as a C program has to know it.
struct ModelInterface {
  /// The prefixes of names, and of macros.
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
