//===- TargetRegistry.h - The targets that there are ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_TARGETREGISTRY_H
#define METAOPS_TARGET_TARGETREGISTRY_H

#include "MetaOps/Target/Target.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mlir::metaop {

/// A kind of targets: how one is made, and which passes it brings.
struct TargetKind {
  std::string name;
  /// One line, for help.
  std::string summary;
  /// The names of its options.
  std::vector<std::string> options;
  /// Makes a target of its options as text, such as `chip=sm_80`. Fails saying
  /// what is wrong with them.
  std::function<llvm::Expected<std::shared_ptr<const Target>>(StringRef)>
      create;
  /// Registers its passes by name, for tools; may be null.
  std::function<void()> registerPasses;
};

/// The kinds of targets that a program knows. It is made by `main`, or by what
/// embeds the compiler.
class TargetRegistry {
public:
  /// Adds a kind. One of a name that is there already replaces it.
  void add(TargetKind kind);
  ArrayRef<TargetKind> getKinds() const { return kinds; }
  /// Returns the kind of that name, or null.
  const TargetKind *find(StringRef name) const;
  /// Makes a target of text: a name, then its options, as `cuda chip=sm_80`.
  /// Fails saying which names, or options, there are.
  llvm::Expected<std::shared_ptr<const Target>> create(StringRef text) const;

private:
  std::vector<TargetKind> kinds;
};

/// Appends an option to a target's text, unless it has no value.
void addTargetOption(std::string &text, StringRef name, StringRef value);

/// Reads options of a target out of text. Fails saying which there are.
template <typename Options>
llvm::Expected<std::unique_ptr<Options>> parseTargetOptions(StringRef text) {
  auto options = std::make_unique<Options>();
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  // The parser has said by itself what is wrong with a value.
  if (failed(options->parseFromString(text, stream)))
    return llvm::createStringError(
        errors.empty() ? "options could not be parsed: '" + text + "'"
                       : llvm::Twine(StringRef(errors).rtrim()));
  return options;
}

} // namespace mlir::metaop

#endif // METAOPS_TARGET_TARGETREGISTRY_H
