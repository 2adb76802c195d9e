//===- Folder.h - A folder that only this user writes to --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files are reached from the folder's descriptor, never by their path: what was
// checked when the folder was opened holds for what is read and written later,
// even if the path leads elsewhere by then.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CACHE_FOLDER_H
#define METAOPS_LIB_RUNTIME_CACHE_FOLDER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <sys/stat.h>

namespace metaops {

/// A file descriptor that is closed in the end.
class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd(fd) {}
  Descriptor(Descriptor &&other) : fd(other.release()) {}
  Descriptor &operator=(Descriptor &&other);
  ~Descriptor();

  explicit operator bool() const { return fd >= 0; }
  int get() const { return fd; }
  int release();

  /// Reads exactly `size` bytes from the descriptor's position.
  bool read(void *data, size_t size) const;
  /// 0, or the errno of what went wrong.
  int write(llvm::StringRef data) const;
  /// The same for the end of writing, when some file systems report errors.
  int close();

private:
  int fd;
};

/// Opens a folder, after making it and those above it where `create` says so.
/// An empty descriptor where there is none; an error where it cannot be opened
/// or somebody else could write to it.
llvm::Expected<Descriptor> openFolder(const std::string &path, bool create);

/// Returns whether the file is a regular one that nobody else may write to.
bool isOwn(const struct stat &status);

/// Calls `visit` for each file of a folder; the order is not defined. Files may
/// come and go meanwhile.
llvm::Error forEachFile(
    const Descriptor &folder,
    llvm::function_ref<void(llvm::StringRef name, const struct stat &status)>
        visit);

/// "what: reason of the operating system".
std::string describe(const llvm::Twine &what, int error);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CACHE_FOLDER_H
