//===- FileSource.cpp - Where the bytes of a program file are -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only weights are mapped. What decides how the program runs is copied before
// it is looked at: a file that somebody changes then cannot be one thing when
// it is checked and another one when it is used.
//
//===----------------------------------------------------------------------===//

#include "FileSource.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace metaops;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static Error describeErrno(const Twine &what) {
  return createStringError(what + ": " + std::strerror(errno));
}

Expected<std::unique_ptr<FileSource>> FileSource::open(StringRef path) {
  std::unique_ptr<FileSource> source(new FileSource());
  // Opening a pipe is not to wait for a writer.
  source->descriptor =
      ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (source->descriptor < 0)
    return describeErrno("it cannot be opened");
  struct stat status = {};
  if (fstat(source->descriptor, &status) != 0)
    return describeErrno("its size cannot be found out");
  if (!S_ISREG(status.st_mode))
    return createStringError("it is no regular file");
  source->size = status.st_size;
  return source;
}

Expected<std::unique_ptr<FileSource>> FileSource::copy(StringRef bytes) {
  std::unique_ptr<FileSource> source(new FileSource());
  constexpr size_t alignment = 64;
  size_t room = bytes.size() / alignment * alignment + alignment;
  char *memory = static_cast<char *>(std::aligned_alloc(alignment, room));
  if (!memory)
    return createStringError("there is no memory for its " +
                             Twine(bytes.size()) + " bytes");
  source->memory.reset(memory, [](char *given) { std::free(given); });
  std::copy(bytes.begin(), bytes.end(), memory);
  source->size = bytes.size();
  return source;
}

FileSource::~FileSource() {
  if (descriptor >= 0)
    ::close(descriptor);
}

static Error checkRange(uint64_t offset, uint64_t bytes, uint64_t size) {
  if (offset <= size && bytes <= size - offset)
    return Error::success();
  return createStringError("it has " + Twine(size) + " bytes, and " +
                           Twine(bytes) + " at " + Twine(offset) +
                           " are asked for");
}

Expected<std::string> FileSource::read(uint64_t offset, uint64_t bytes) const {
  if (Error error = checkRange(offset, bytes, size))
    return std::move(error);
  if (memory)
    return std::string(memory.get() + offset, bytes);
  std::string text(bytes, '\0');
  for (uint64_t done = 0; done < bytes;) {
    ssize_t count =
        pread(descriptor, text.data() + done, bytes - done, offset + done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return describeErrno("it cannot be read");
    if (count == 0)
      return createStringError("it has become shorter");
    done += count;
  }
  return text;
}

Expected<std::shared_ptr<const char>> FileSource::map(uint64_t offset,
                                                      uint64_t bytes) const {
  if (Error error = checkRange(offset, bytes, size))
    return std::move(error);
  if (memory)
    return std::shared_ptr<const char>(memory, memory.get() + offset);
  // Mappings begin at pages.
  uint64_t before = offset % sysconf(_SC_PAGESIZE);
  size_t length = bytes + before;
  void *mapped = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor,
                      off_t(offset - before));
  if (mapped == MAP_FAILED)
    return describeErrno("it cannot be mapped");
  return std::shared_ptr<const char>(
      static_cast<const char *>(mapped) + before,
      [mapped, length](const char *) { munmap(mapped, length); });
}
