//===- CodeImage.cpp - Machine code that was linked before ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An image is checked as a whole and its imports are looked up before any
// memory is taken. Then: fresh pages, which can be written, are filled with the
// segments; words of pointers get the addresses of imports, or the image's own
// start added; and each segment's pages get the protection that they keep. Code
// lies as far from its data as the linker assumed, so it is not touched.
//
// The bytes are copied, not mapped: a mapped file that somebody truncates ends
// the process, and what was checked could change later.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Image/CodeImage.h"
#include "MetaOps/Runtime/Image/ImageFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

using namespace metaops;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static Error checkHost(const ImageContents &contents) {
  std::optional<ImageArchitecture> host = getHostArchitecture();
  if (host != contents.architecture)
    return createStringError("the code image is for " +
                             getName(contents.architecture) +
                             ", and this process runs on " +
                             (host ? getName(*host) : "another architecture"));
  long pageBytes = sysconf(_SC_PAGESIZE);
  if (pageBytes <= 0 || contents.pageBytes % pageBytes != 0)
    return createStringError(
        "the code image is for pages of " + Twine(contents.pageBytes) +
        " bytes, and those of this system have " + Twine(int64_t(pageBytes)));
  return Error::success();
}

/// The addresses of all imports, in their order.
static Expected<std::vector<void *>>
resolveImports(const ImageContents &contents, CodeImage::Resolver resolve) {
  std::vector<void *> addresses;
  std::vector<StringRef> missing;
  for (const ImageContents::Import &import : contents.imports) {
    addresses.push_back(resolve(import.name));
    if (!addresses.back())
      missing.push_back(import.name);
  }
  if (!missing.empty())
    return createStringError(
        "the code image needs symbols that are not there: " +
        llvm::join(missing, ", "));
  return addresses;
}

/// Puts the segments into place, with addresses in their pointers.
static void fill(char *base, const ImageContents &contents,
                 ArrayRef<void *> imports) {
  auto copy = [&](uint64_t offset, ArrayRef<char> segment) {
    if (!segment.empty())
      std::memcpy(base + offset, segment.data(), segment.size());
  };
  char *pointers = base + contents.getPointersOffset();
  copy(0, contents.code);
  copy(contents.getConstantsOffset(), contents.constants);
  copy(contents.getPointersOffset(), contents.pointers);
  for (auto [import, address] : llvm::zip_equal(contents.imports, imports))
    for (uint32_t slot : import.slots)
      llvm::support::endian::write64le(pointers + slot,
                                       reinterpret_cast<uintptr_t>(address));
  for (uint32_t place : contents.bases)
    llvm::support::endian::write64le(
        pointers + place, llvm::support::endian::read64le(pointers + place) +
                              reinterpret_cast<uintptr_t>(base));
}

/// Gives the pages the protection that they keep.
static Error protect(char *base, const ImageContents &contents) {
  uint64_t codeBytes = contents.getConstantsOffset();
  uint64_t dataBytes = contents.getMappedBytes() - codeBytes;
  __builtin___clear_cache(base, base + codeBytes);
  if (mprotect(base, codeBytes, PROT_READ | PROT_EXEC) != 0 ||
      (dataBytes != 0 && mprotect(base + codeBytes, dataBytes, PROT_READ) != 0))
    return createStringError("the system refuses to have memory executed: " +
                             Twine(std::strerror(errno)));
  return Error::success();
}

Expected<std::shared_ptr<const CodeImage>> CodeImage::load(ArrayRef<char> bytes,
                                                           Resolver resolve) {
  auto contents = parseImage(bytes);
  if (!contents)
    return contents.takeError();
  if (Error error = checkHost(*contents))
    return std::move(error);
  auto addresses = resolveImports(*contents, resolve);
  if (!addresses)
    return addresses.takeError();

  size_t mappedBytes = contents->getMappedBytes();
  void *memory = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return createStringError("there is no memory for a code image of " +
                             Twine(mappedBytes) +
                             " bytes: " + std::strerror(errno));
  char *base = static_cast<char *>(memory);
  std::shared_ptr<CodeImage> image(new CodeImage(base, mappedBytes));
  fill(base, *contents, *addresses);
  if (Error error = protect(base, *contents))
    return std::move(error);
  for (const ImageContents::Entry &entry : contents->entries)
    image->entries.emplace_back(entry.name.str(), base + entry.offset);
  for (const ImageContents::Import &import : contents->imports)
    image->imports.push_back(import.name.str());
  return image;
}

CodeImage::~CodeImage() { munmap(base, mappedBytes); }

void *CodeImage::lookup(StringRef name) const {
  auto entry = llvm::partition_point(entries, [&](const auto &entry) {
    return StringRef(entry.first) < name;
  });
  return entry != entries.end() && entry->first == name ? entry->second
                                                        : nullptr;
}
