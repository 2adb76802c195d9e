//===- DiskStore.cpp - Compiled code that outlives the process ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry is a file: "kernel-", "program-" or "cubin-" and the key in
// hexadecimal. It starts with a header that says the same once more, so that a
// file under a wrong name is noticed, and a checksum of everything.
//
// An entry is written to a temporary file beside it, which is renamed when it
// is complete. Renaming is atomic: others see the old entry, the new one or
// none, never a part. Nothing waits for the disk; should the machine go down,
// a file may be left empty or in parts, and the checksum tells.
//
// Entries are read into memory, not mapped: a mapped file that somebody
// truncates ends the process, and what was checked could change later.
//
// A hit sets the file's time, at most once an hour, so that the time orders
// entries by their use. The size of the folder is found by listing it, before
// the first write and then whenever this process has written a good part of
// what was free; several processes may exceed the bound for a while.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Cache/DiskStore.h"
#include "Folder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <tuple>
#include <unistd.h>
#include <vector>

using namespace metaops;
using llvm::StringRef;

static constexpr StringRef kKernelPrefix = "kernel-";
static constexpr StringRef kProgramPrefix = "program-";
static constexpr StringRef kCubinPrefix = "cubin-";
static constexpr StringRef kTemporaryPrefix = "temporary-";
/// A temporary file of this age is one that nobody will finish.
static constexpr int64_t kStaleSeconds = 3600;
/// Precision of files' times, which tell when an entry was used last.
static constexpr int64_t kTouchSeconds = 3600;

//===----------------------------------------------------------------------===//
// Format
//===----------------------------------------------------------------------===//

namespace {
/// The start of a file; numbers are little-endian.
struct Header {
  static constexpr uint32_t kFormatVersion = 1;
  /// Magic, format, kind, key, and the size of the payload; then a checksum of
  /// these and the payload.
  static constexpr size_t kFieldBytes = 8 + 4 + 4 + 32 + 8;
  static constexpr size_t kBytes = kFieldBytes + 32;

  std::array<uint8_t, kBytes> bytes = {};

  Header() = default;
  Header(DiskEntryKind kind, const DiskKey &key, uint64_t payloadBytes) {
    std::memcpy(&bytes[0], "MetaOps\0", 8);
    llvm::support::endian::write32le(&bytes[8], kFormatVersion);
    llvm::support::endian::write32le(&bytes[12], uint32_t(kind));
    std::copy(key.begin(), key.end(), &bytes[16]);
    llvm::support::endian::write64le(&bytes[48], payloadBytes);
  }

  llvm::ArrayRef<uint8_t> fields() const {
    return llvm::ArrayRef(bytes).take_front(kFieldBytes);
  }
  llvm::ArrayRef<uint8_t> checksum() const {
    return llvm::ArrayRef(bytes).drop_front(kFieldBytes);
  }
  StringRef text() const {
    return StringRef(reinterpret_cast<const char *>(bytes.data()), kBytes);
  }
};
} // namespace

static llvm::BLAKE3Result<32> sumOf(const Header &header, StringRef payload) {
  llvm::BLAKE3 hasher;
  hasher.update(header.fields());
  hasher.update(payload);
  return hasher.final<32>();
}

static StringRef prefixOf(DiskEntryKind kind) {
  switch (kind) {
  case DiskEntryKind::Kernel:
    return kKernelPrefix;
  case DiskEntryKind::Program:
    return kProgramPrefix;
  case DiskEntryKind::Cubin:
    return kCubinPrefix;
  }
  llvm_unreachable("all kinds are handled");
}

static std::string nameOf(DiskEntryKind kind, const DiskKey &key) {
  return prefixOf(kind).str() + toHex(key);
}

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

namespace {
struct FoundFile {
  std::string name;
  int64_t bytes;
  timespec time;
  int64_t DiskUsage::*counter;

  bool isTemporary() const { return counter == &DiskUsage::temporaries; }
  bool isStale() const {
    // A time in the future is a clock that was put right.
    return std::abs(int64_t(std::time(nullptr)) - time.tv_sec) > kStaleSeconds;
  }
};
} // namespace

static bool isKeyName(StringRef name, StringRef prefix) {
  return name.consume_front(prefix) && name.size() == 2 * sizeof(DiskKey) &&
         llvm::all_of(name, llvm::isHexDigit);
}

/// As `makeTemporary` names files: two hexadecimal numbers.
static bool isTemporaryName(StringRef name) {
  if (!name.consume_front(kTemporaryPrefix))
    return false;
  auto [process, number] = name.split('-');
  auto isNumber = [](StringRef text) {
    return !text.empty() && llvm::all_of(text, llvm::isHexDigit);
  };
  return isNumber(process) && isNumber(number);
}

/// Which of the store's files has this name; null for any other.
static int64_t DiskUsage::*classify(StringRef name) {
  if (isKeyName(name, kKernelPrefix) || isKeyName(name, kCubinPrefix))
    return &DiskUsage::kernels;
  if (isKeyName(name, kProgramPrefix))
    return &DiskUsage::programs;
  if (isTemporaryName(name))
    return &DiskUsage::temporaries;
  return nullptr;
}

static llvm::Expected<std::vector<FoundFile>> list(const Descriptor &folder) {
  std::vector<FoundFile> files;
  llvm::Error error = forEachFile(folder, [&](StringRef name,
                                              const struct stat &status) {
    if (auto counter = classify(name); counter && !S_ISDIR(status.st_mode))
      files.push_back({name.str(), status.st_size, status.st_mtim, counter});
  });
  if (error)
    return std::move(error);
  return files;
}

static void count(DiskUsage &usage, const FoundFile &file) {
  ++(usage.*file.counter);
  usage.bytes += file.bytes;
}

/// Removes a file, which another process may have done already.
static void removeFile(const Descriptor &folder, const FoundFile &file,
                       DiskUsage &removed) {
  if (unlinkat(folder.get(), file.name.c_str(), 0) == 0)
    count(removed, file);
}

/// Removes stale temporaries and, where there are more than `limit` bytes, the
/// oldest entries until `target` bytes are left. `left` is what stays.
static llvm::Expected<DiskUsage> pruneFolder(const Descriptor &folder,
                                             int64_t limit, int64_t target,
                                             int64_t &left) {
  auto files = list(folder);
  if (!files)
    return files.takeError();
  std::sort(files->begin(), files->end(),
            [](const FoundFile &a, const FoundFile &b) {
              return std::tie(a.time.tv_sec, a.time.tv_nsec, a.name) <
                     std::tie(b.time.tv_sec, b.time.tv_nsec, b.name);
            });
  DiskUsage all, removed;
  for (const FoundFile &file : *files) {
    count(all, file);
    if (file.isTemporary() && file.isStale())
      removeFile(folder, file, removed);
  }
  if (all.bytes - removed.bytes > limit)
    for (const FoundFile &file : *files) {
      if (all.bytes - removed.bytes <= target)
        break;
      if (!file.isTemporary())
        removeFile(folder, file, removed);
    }
  left = all.bytes - removed.bytes;
  return removed;
}

/// Makes room for another entry. Returns how many bytes may be written before
/// this should be asked again.
static int64_t makeRoom(const Descriptor &folder, int64_t maxBytes,
                        int64_t needed) {
  int64_t left = 0;
  // Some more than needed, so that not every write has to make room.
  auto removed =
      pruneFolder(folder, maxBytes - needed, maxBytes / 4 * 3 - needed, left);
  if (!removed)
    llvm::consumeError(removed.takeError());
  return std::max((maxBytes - left) / 4, maxBytes / 64);
}

llvm::Expected<DiskUsage> DiskStore::getUsage() const {
  DiskUsage usage;
  auto folder = openFolder(path, /*create=*/false);
  if (!folder)
    return folder.takeError();
  if (!*folder)
    return usage;
  auto files = list(*folder);
  if (!files)
    return files.takeError();
  for (const FoundFile &file : *files)
    count(usage, file);
  return usage;
}

llvm::Expected<DiskUsage> DiskStore::clear() {
  DiskUsage removed;
  auto folder = openFolder(path, /*create=*/false);
  if (!folder)
    return folder.takeError();
  if (!*folder)
    return removed;
  auto files = list(*folder);
  if (!files)
    return files.takeError();
  for (const FoundFile &file : *files)
    removeFile(*folder, file, removed);
  return removed;
}

llvm::Expected<DiskUsage> DiskStore::prune(int64_t limit) {
  auto folder = openFolder(path, /*create=*/false);
  if (!folder)
    return folder.takeError();
  int64_t left = 0;
  return *folder ? pruneFolder(*folder, limit, limit, left) : DiskUsage();
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

DiskStore::DiskStore(std::string folder, int64_t maxBytes)
    : path(std::move(folder)), maxBytes(maxBytes) {}

DiskStoreStatistics DiskStore::getStatistics() const {
  std::lock_guard<std::mutex> lock(mutex);
  return statistics;
}

void DiskStore::stopWriting(std::string reason) {
  std::lock_guard<std::mutex> lock(mutex);
  if (statistics.disabledReason.empty())
    statistics.disabledReason = std::move(reason);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Reads and checks an entry. Null where it is not what its name says.
static std::unique_ptr<llvm::MemoryBuffer> readEntry(const Descriptor &file,
                                                     const struct stat &status,
                                                     DiskEntryKind kind,
                                                     const DiskKey &key) {
  if (!isOwn(status) || status.st_size < int64_t(Header::kBytes))
    return nullptr;
  Header expected(kind, key, status.st_size - Header::kBytes), found;
  if (!file.read(found.bytes.data(), found.bytes.size()) ||
      found.fields() != expected.fields())
    return nullptr;
  auto payload = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      status.st_size - Header::kBytes, nameOf(kind, key));
  if (!payload ||
      !file.read(payload->getBufferStart(), payload->getBufferSize()))
    return nullptr;
  StringRef text(payload->getBufferStart(), payload->getBufferSize());
  if (found.checksum() != llvm::ArrayRef(sumOf(expected, text)))
    return nullptr;
  return payload;
}

static void touch(const Descriptor &file, const struct stat &status) {
  if (std::time(nullptr) - status.st_mtim.tv_sec < kTouchSeconds)
    return;
  // If this fails the entry looks older than it is.
  const timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  (void)futimens(file.get(), times);
}

/// Returns whether a file that cannot be opened is none that the store wrote,
/// rather than absent or out of reach at the moment.
static bool isOddFile(int error) {
  return error == EACCES || error == EPERM || error == ELOOP || error == ENXIO;
}

std::unique_ptr<llvm::MemoryBuffer> DiskStore::load(DiskEntryKind kind,
                                                    const DiskKey &key) {
  auto folder = openFolder(path, /*create=*/false);
  if (!folder) {
    stopWriting(toString(folder.takeError()));
    std::lock_guard<std::mutex> lock(mutex);
    ++statistics.misses;
    return nullptr;
  }
  std::unique_ptr<llvm::MemoryBuffer> payload;
  bool isRejected = false;
  if (*folder) {
    std::string name = nameOf(kind, key);
    // A pipe under an entry's name must not make this wait.
    Descriptor file(openat(folder->get(), name.c_str(),
                           O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status;
    if (file && fstat(file.get(), &status) == 0)
      payload = readEntry(file, status, kind, key);
    if (payload)
      touch(file, status);
    else
      isRejected = file || isOddFile(errno);
    if (isRejected)
      unlinkat(folder->get(), name.c_str(), 0);
  }
  std::lock_guard<std::mutex> lock(mutex);
  ++(payload ? statistics.hits : statistics.misses);
  statistics.rejected += isRejected;
  if (payload)
    statistics.bytesRead += payload->getBufferSize();
  return payload;
}

void DiskStore::remove(DiskEntryKind kind, const DiskKey &key) {
  auto folder = openFolder(path, /*create=*/false);
  if (!folder)
    return llvm::consumeError(folder.takeError());
  if (*folder)
    unlinkat(folder->get(), nameOf(kind, key).c_str(), 0);
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// Makes a file under a name that no other process uses.
static Descriptor makeTemporary(const Descriptor &folder, std::string &name) {
  for (int attempt = 0; attempt < 16; ++attempt) {
    name = kTemporaryPrefix.str() + llvm::utohexstr(getpid(), true) + "-" +
           llvm::utohexstr(llvm::sys::Process::GetRandomNumber(), true);
    Descriptor file(openat(folder.get(), name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file || errno != EEXIST)
      return file;
  }
  return Descriptor();
}

/// Writes a whole file and gives it its name. Returns errno.
static int writeEntry(const Descriptor &folder, const std::string &name,
                      StringRef header, StringRef payload) {
  std::string temporary;
  Descriptor file = makeTemporary(folder, temporary);
  if (!file)
    return errno;
  int error = file.write(header);
  if (!error)
    error = file.write(payload);
  if (int closing = file.close(); !error)
    error = closing;
  if (!error && renameat(folder.get(), temporary.c_str(), folder.get(),
                         name.c_str()) != 0)
    error = errno;
  if (error)
    unlinkat(folder.get(), temporary.c_str(), 0);
  return error;
}

void DiskStore::store(DiskEntryKind kind, const DiskKey &key,
                      StringRef payload) {
  int64_t bytes = Header::kBytes + payload.size();
  bool isScanDue;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!statistics.disabledReason.empty() || bytes > maxBytes)
      return;
    untilScan -= bytes;
    isScanDue = untilScan < 0;
  }
  auto folder = openFolder(path, /*create=*/true);
  if (!folder)
    return stopWriting(toString(folder.takeError()));
  if (!*folder)
    return;
  if (isScanDue) {
    int64_t next = makeRoom(*folder, maxBytes, bytes);
    std::lock_guard<std::mutex> lock(mutex);
    untilScan = next;
  }
  Header header(kind, key, payload.size());
  llvm::copy(sumOf(header, payload), header.bytes.data() + Header::kFieldBytes);
  int error = writeEntry(*folder, nameOf(kind, key), header.text(), payload);
  // The folder or the temporary file was removed meanwhile, which is no reason
  // not to try the next entry.
  if (error == ENOENT)
    return;
  if (error)
    return stopWriting(
        describe("an entry could not be written to " + path, error));
  std::lock_guard<std::mutex> lock(mutex);
  ++statistics.writes;
  statistics.bytesWritten += payload.size();
}
