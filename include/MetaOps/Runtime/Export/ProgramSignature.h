//===- ProgramSignature.h - Signatures of program files ---------*- C++ -*-===//
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
#include <utility>
#include <vector>

namespace metaops {

/// A tensor that has a name.
struct TensorSpec {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;

  int64_t getBytes() const { return getNumBytes(shape, dtype); }
};

/// Returns "float32 (2, 3)", for messages.
std::string formatType(const TensorSpec &tensor);

/// Returns the place of a tensor in a list by its name.
std::optional<unsigned> findTensor(llvm::ArrayRef<TensorSpec> tensors,
                                   llvm::StringRef name);

/// Returns their names, separated by commas, for messages.
std::string listNames(llvm::ArrayRef<TensorSpec> tensors);

/// A kind of processors.
struct ProgramTarget {
  /// For people: "x86-64-v3".
  std::string name;
  /// Features that a processor has to have, by names of HostFeatures.h.
  std::vector<std::string> features;
};

/// An extent in shapes of a function that has programs for several sizes.
inline constexpr int64_t kAnyExtent = -1;

/// An extent of inputs that is given by those who run a function.
struct NamedExtent {
  std::string name;
  /// The inputs and their dimensions that have it.
  std::vector<std::pair<unsigned, unsigned>> dims;
};

/// A function's program for sizes of its named extents.
struct SizedProgram {
  /// Of each extent.
  std::vector<int64_t> sizes;
  /// As those of a FunctionSignature.
  std::vector<std::optional<unsigned>> arguments;
  /// The shape of each output.
  std::vector<std::vector<int64_t>> outputs;
};

/// A function of a program file: what its program takes and gives.
struct FunctionSignature {
  std::string name;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  /// Of each of the program's arguments, the number of the file's weight that
  /// it is. The others are the inputs, in their order. Empty where there are
  /// named extents.
  std::vector<std::optional<unsigned>> arguments;
  /// Inputs have kAnyExtent in the dimensions of these, outputs where programs
  /// differ.
  std::vector<NamedExtent> extents;
  /// One at least where there are named extents, in ascending order of sizes;
  /// else none: there is one program.
  std::vector<SizedProgram> programs;
  /// The structure that inputs and outputs have as arguments and result of what
  /// was exported, for languages that have such: a text for their loaders,
  /// described in docs/ProgramFile.md. May be empty.
  std::string structure;

  size_t getNumPrograms() const {
    return extents.empty() ? 1 : programs.size();
  }
};

/// Returns the place of the program for sizes of a function's extents.
std::optional<unsigned> findSizes(const FunctionSignature &function,
                                  llvm::ArrayRef<int64_t> sizes);

/// Returns the signature of one of a function's programs, without extents.
FunctionSignature fixSizes(const FunctionSignature &function, unsigned program);

/// Returns "batch of 1 to 64, length of 16, 32", for messages.
std::string describeSizes(const FunctionSignature &function);

/// Signature of a file: of its functions, and of the processors that there is
/// code for.
struct ProgramSignature {
  /// Arguments of programs that the file itself has, and initial values of
  /// states. All functions share them.
  std::vector<TensorSpec> weights;
  /// One at least.
  std::vector<FunctionSignature> functions;
  /// The best one that a processor can run is the one with the most features,
  /// of equal ones the first.
  std::vector<ProgramTarget> targets;
  /// The build that wrote the file.
  std::string producer;
  /// Texts of whoever wrote the file.
  std::map<std::string, std::string> keys;
};

/// Returns the place of a function by its name.
std::optional<unsigned> findFunction(const ProgramSignature &signature,
                                     llvm::StringRef name);

/// Returns the names of functions, separated by commas, for messages.
std::string listFunctions(const ProgramSignature &signature);

/// Fails unless names are unique, and shapes can be.
llvm::Error verifySignature(const ProgramSignature &signature);

/// Writes a signature as JSON.
std::string writeSignature(const ProgramSignature &signature);

/// Reads what `writeSignature` writes, and verifies it.
llvm::Expected<ProgramSignature> readSignature(llvm::StringRef text);

} // namespace metaops

#endif // METAOPS_RUNTIME_EXPORT_PROGRAMSIGNATURE_H
