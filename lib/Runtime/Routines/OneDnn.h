//===- OneDnn.h - A library of products of matrices -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_ONEDNN_H
#define METAOPS_LIB_RUNTIME_ROUTINES_ONEDNN_H

#include "MetaOps/Runtime/Memory/DType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace metaops {

/// A product of matrices, or a batch of them: c = a b, with sums in float32
/// that are rounded to c's type. Strides are in elements.
struct ProductForm {
  /// Of a and b, and of c.
  DType dtype = DType::BF16, result = DType::F32;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  /// Of (batch, m, k), (batch, k, n) and (batch, m, n).
  std::array<int64_t, 3> a, b, c;
};

/// The functions of a copy of oneDNN (OneDnn.cpp).
struct OneDnnFunctions;

/// A copy of oneDNN 3, which is loaded for as long as the process lives.
class OneDnn {
public:
  /// Looks for a library: the one of a path, if there is one, else in folders,
  /// and then where the system has it. Fails saying what was looked for, and
  /// what is wrong with what was found.
  static llvm::Expected<std::shared_ptr<const OneDnn>>
  find(llvm::StringRef path, llvm::ArrayRef<std::string> folders);

  const std::string &getPath() const { return path; }
  /// Returns its version, such as "3.2.0".
  const std::string &getVersion() const { return version; }
  /// Returns whether it multiplies tiles of bf16 here (AMX).
  bool hasTiles() const;
  const OneDnnFunctions &getFunctions() const { return *functions; }

private:
  OneDnn(std::string path, std::string version,
         std::shared_ptr<const OneDnnFunctions> functions)
      : path(std::move(path)), version(std::move(version)),
        functions(std::move(functions)) {}

  std::string path, version;
  std::shared_ptr<const OneDnnFunctions> functions;
};

/// A product as the library computes it, on the thread that calls it. May run
/// on several threads at once, each time in other memory.
class OneDnnProduct {
public:
  /// Fails where the library has no code of this processor for the form.
  static llvm::Expected<std::shared_ptr<const OneDnnProduct>>
  create(std::shared_ptr<const OneDnn> library, const ProductForm &form);
  ~OneDnnProduct();
  OneDnnProduct(const OneDnnProduct &) = delete;
  OneDnnProduct &operator=(const OneDnnProduct &) = delete;

  int64_t getScratchBytes() const { return scratchBytes; }
  bool hasTiles() const { return library->hasTiles(); }
  /// Computes the product; the scratch memory is aligned to 64 bytes.
  llvm::Error run(const void *a, const void *b, void *c, void *scratch) const;

private:
  struct Parts;
  OneDnnProduct(std::shared_ptr<const OneDnn> library,
                std::unique_ptr<Parts> parts, int64_t scratchBytes);

  std::shared_ptr<const OneDnn> library;
  std::unique_ptr<Parts> parts;
  int64_t scratchBytes;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_ONEDNN_H
