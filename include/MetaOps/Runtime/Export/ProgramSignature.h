//===- ProgramSignature.h - What a program file takes and gives -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_EXPORT_PROGRAMSIGNATURE_H
#define METAOPS_RUNTIME_EXPORT_PROGRAMSIGNATURE_H

#include "MetaOps/Runtime/Memory/DType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace metaops {

/// A tensor that has a name.
struct TensorSpec {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;

  int64_t getBytes() const { return countBytes(shape, dtype); }
};

/// "float32 (2, 3)", for messages.
std::string formatType(const TensorSpec &tensor);

/// The place of a tensor in a list by its name.
std::optional<unsigned> findTensor(llvm::ArrayRef<TensorSpec> tensors,
                                   llvm::StringRef name);

/// Their names, separated by commas, for messages.
std::string listNames(llvm::ArrayRef<TensorSpec> tensors);

/// A kind of processors.
struct ProgramTarget {
  /// For people: "x86-64-v3".
  std::string name;
  /// What a processor has to have, by names of HostFeatures.h.
  std::vector<std::string> features;
};

/// What a program takes and gives, and for what there is code.
struct ProgramSignature {
  std::vector<TensorSpec> inputs;
  /// Arguments of the program that the file itself has.
  std::vector<TensorSpec> weights;
  std::vector<TensorSpec> outputs;
  /// Which of the program's arguments, in their order, are weights. The others
  /// are the inputs.
  std::vector<bool> isWeight;
  /// The best one that a processor can run is the one with the most features,
  /// of equal ones the first.
  std::vector<ProgramTarget> targets;
  /// The build that wrote the file.
  std::string producer;
  /// Texts of whoever wrote the file.
  std::map<std::string, std::string> keys;
};

/// Whether names are unique and shapes can be; what is wrong otherwise.
llvm::Error verifySignature(const ProgramSignature &signature);

/// The signature as JSON, and back. What is read has been verified.
std::string writeSignature(const ProgramSignature &signature);
llvm::Expected<ProgramSignature> readSignature(llvm::StringRef text);

} // namespace metaops

#endif // METAOPS_RUNTIME_EXPORT_PROGRAMSIGNATURE_H
