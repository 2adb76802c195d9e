//===- Lapack.h - A library of linear algebra -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_LAPACK_H
#define METAOPS_LIB_RUNTIME_ROUTINES_LAPACK_H

#include "MetaOps/Runtime/Memory/DType.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace metaops {

/// LAPACK and BLAS of a shared library.
class Lapack {
public:
  /// Looks for a library: first what the process has loaded, such as that of
  /// NumPy's wheel, then what the system has. Fails saying what was looked for.
  static llvm::Expected<std::shared_ptr<const Lapack>> find();

  /// Returns a function for float32 or float64 by its name without the letter
  /// of the type, such as "potrf"; null where the library lacks it.
  void *lookUp(llvm::StringRef name, DType dtype) const;
  bool hasWideIntegers() const { return isWide; }
  const std::string &getPath() const { return path; }

private:
  Lapack(void *library, std::string path) : library(library), path(path) {}
  bool chooseNames();

  void *library;
  std::string path;
  /// Begins and ends of names.
  std::string prefix, suffix;
  bool isWide = false;
};

/// Finds the library when it is asked for first.
class LazyLapack {
public:
  llvm::Expected<const Lapack &> get();

private:
  std::mutex mutex;
  std::shared_ptr<const Lapack> found;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_LAPACK_H
