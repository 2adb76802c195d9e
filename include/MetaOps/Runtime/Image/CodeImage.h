//===- CodeImage.h - Machine code that was linked before --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_IMAGE_CODEIMAGE_H
#define METAOPS_RUNTIME_IMAGE_CODEIMAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

/// Linked machine code in the memory of this process, ready to be called. No
/// page of it can be written and executed, and none can be written once it is
/// loaded. Safe to use from several threads.
class CodeImage {
public:
  /// The address of a symbol that an image needs; null if there is none.
  using Resolver = llvm::function_ref<void *(llvm::StringRef name)>;

  /// Maps the image that `bytes` are, which may go away afterwards. Fails if
  /// they are damaged or for another architecture, or if `resolve` does not
  /// know all imports.
  static llvm::Expected<std::shared_ptr<const CodeImage>>
  load(llvm::ArrayRef<char> bytes, Resolver resolve);
  /// Unmaps the code; nothing may be running in it.
  ~CodeImage();
  CodeImage(const CodeImage &) = delete;
  CodeImage &operator=(const CodeImage &) = delete;

  /// The address of an entry; null if there is none of this name.
  void *lookup(llvm::StringRef name) const;
  /// All entries and their addresses, in the order of their names.
  llvm::ArrayRef<std::pair<std::string, void *>> getEntries() const {
    return entries;
  }
  /// The names of what was asked for, in order.
  llvm::ArrayRef<std::string> getImports() const { return imports; }
  /// Returns the bytes of memory that the image takes.
  size_t getMappedBytes() const { return mappedBytes; }

private:
  CodeImage(char *base, size_t mappedBytes)
      : base(base), mappedBytes(mappedBytes) {}

  char *base;
  size_t mappedBytes;
  std::vector<std::pair<std::string, void *>> entries;
  std::vector<std::string> imports;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_IMAGE_CODEIMAGE_H
