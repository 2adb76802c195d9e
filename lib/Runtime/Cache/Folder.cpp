//===- Folder.cpp - A folder that only this user writes to ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Folder.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errno.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <utility>

using namespace metaops;

Descriptor &Descriptor::operator=(Descriptor &&other) {
  std::swap(fd, other.fd);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd >= 0)
    ::close(fd);
}

int Descriptor::release() { return std::exchange(fd, -1); }

bool Descriptor::read(void *data, size_t size) const {
  char *at = static_cast<char *>(data);
  while (size > 0) {
    ssize_t count = llvm::sys::RetryAfterSignal(-1, ::read, fd, at, size);
    if (count <= 0)
      return false;
    at += count;
    size -= count;
  }
  return true;
}

int Descriptor::write(llvm::StringRef data) const {
  while (!data.empty()) {
    ssize_t count =
        llvm::sys::RetryAfterSignal(-1, ::write, fd, data.data(), data.size());
    if (count <= 0)
      return count < 0 ? errno : EIO;
    data = data.drop_front(count);
  }
  return 0;
}

int Descriptor::close() { return ::close(release()) == 0 ? 0 : errno; }

std::string metaops::describe(const llvm::Twine &what, int error) {
  return (what + ": " + llvm::sys::StrError(error)).str();
}

/// Makes a folder and those above it, for this user alone. Returns errno.
static int makeFolders(const std::string &path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      // A folder on the way may be one that can be passed, but not written.
      int error = errno;
      struct stat status;
      if (stat(part.c_str(), &status) != 0)
        return error;
    }
    if (slash == std::string::npos)
      return 0;
  }
}

static bool mayOthersWrite(mode_t mode) {
  return (mode & (S_IWGRP | S_IWOTH)) != 0;
}

llvm::Expected<Descriptor> metaops::openFolder(const std::string &path,
                                               bool create) {
  if (create)
    if (int error = makeFolders(path))
      return llvm::createStringError(
          describe("the folder " + path + " cannot be made", error));
  Descriptor folder(llvm::sys::RetryAfterSignal(-1, [&] {
    return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }));
  if (!folder) {
    if (errno == ENOENT)
      return Descriptor();
    return llvm::createStringError(
        describe("the folder " + path + " cannot be opened", errno));
  }
  struct stat status;
  if (fstat(folder.get(), &status) != 0)
    return llvm::createStringError(
        describe("the folder " + path + " cannot be read", errno));
  if (status.st_uid != geteuid())
    return llvm::createStringError("the folder " + path +
                                   " belongs to another user");
  if (mayOthersWrite(status.st_mode))
    return llvm::createStringError(
        "other users may write to the folder " + path +
        "; expected write permission for its owner alone");
  return folder;
}

bool metaops::isOwn(const struct stat &status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         !mayOthersWrite(status.st_mode);
}

llvm::Error metaops::forEachFile(
    const Descriptor &folder,
    llvm::function_ref<void(llvm::StringRef, const struct stat &)> visit) {
  // A stream takes its descriptor, and shares its position with duplicates.
  Descriptor own(openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::unique_ptr<DIR, int (*)(DIR *)> stream(
      own ? fdopendir(own.get()) : nullptr, &closedir);
  if (!stream)
    return llvm::createStringError(
        describe("the folder cannot be listed", errno));
  own.release();
  while (const dirent *entry = readdir(stream.get())) {
    struct stat status;
    if (fstatat(folder.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
      visit(entry->d_name, status);
  }
  return llvm::Error::success();
}
