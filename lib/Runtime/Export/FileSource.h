//===- FileSource.h - Where the bytes of a program file are -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EXPORT_FILESOURCE_H
#define METAOPS_LIB_RUNTIME_EXPORT_FILESOURCE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>

namespace metaops {

/// Bytes that can be read in parts: of a file, or in memory.
class FileSource {
public:
  static llvm::Expected<std::unique_ptr<FileSource>> open(llvm::StringRef path);
  /// Copies the bytes to memory that is aligned to 64.
  static llvm::Expected<std::unique_ptr<FileSource>>
  copy(llvm::StringRef bytes);
  ~FileSource();
  FileSource(const FileSource &) = delete;
  FileSource &operator=(const FileSource &) = delete;

  uint64_t getSize() const { return size; }
  /// A copy of some bytes, all of which have to be there.
  llvm::Expected<std::string> read(uint64_t offset, uint64_t bytes) const;
  /// Memory that holds some bytes, of which there is one at least, and may not
  /// be written. It outlives the source. Where `offset` is a multiple of 64,
  /// the memory is aligned so.
  llvm::Expected<std::shared_ptr<const char>> map(uint64_t offset,
                                                  uint64_t bytes) const;

private:
  FileSource() = default;

  /// Of a file; -1 for bytes in memory.
  int descriptor = -1;
  std::shared_ptr<const char> memory;
  uint64_t size = 0;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_EXPORT_FILESOURCE_H
