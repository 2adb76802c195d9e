//===- Toolkits.h - Where NVIDIA's tools are --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CUDA_TOOLKITS_H
#define METAOPS_RUNTIME_CUDA_TOOLKITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace metaops {

/// Folders that are laid out as a CUDA toolkit is, with bin, lib or lib64, and
/// nvvm in them: toolkits, and what Python's packages of NVIDIA install. They
/// are looked through in order, for the few files that compiling needs.
class Toolkits {
public:
  explicit Toolkits(std::vector<std::string> roots) : roots(std::move(roots)) {}

  /// `first`, then what CUDA_HOME and CUDA_PATH name, then /usr/local/cuda and
  /// the versions beside it, the newest first.
  static Toolkits detect(std::vector<std::string> first = {});
  /// The folders that NVIDIA's packages have made in a folder of Python
  /// packages, in order of their names, for `detect`.
  static std::vector<std::string> listPackages(llvm::StringRef sitePackages);

  llvm::ArrayRef<std::string> getRoots() const { return roots; }
  /// The roots as a list in a sentence.
  std::string str() const;

  /// Files of this name in folders of libraries, whether or not they load.
  std::vector<std::string> findLibraries(llvm::StringRef name) const;
  /// A program, in the roots or else on the path.
  std::optional<std::string> findProgram(llvm::StringRef name) const;
  /// libdevice.10.bc; the error says where it was looked for and who brings it.
  llvm::Expected<std::string> findLibdevice() const;

private:
  std::vector<std::string> roots;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_CUDA_TOOLKITS_H
