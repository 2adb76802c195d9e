//===- DiskStore.h - Compiled code that outlives the process ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CACHE_DISKSTORE_H
#define METAOPS_RUNTIME_CACHE_DISKSTORE_H

#include "MetaOps/Runtime/Cache/DiskKey.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <mutex>
#include <string>

namespace metaops {

/// Kind of an entry; a part of its address.
enum class DiskEntryKind : uint32_t {
  /// The object code of a kernel.
  Kernel = 1,
  /// The kernel calls and the memory plan of a program.
  Program = 2,
  /// The code of a kernel for a GPU.
  Cubin = 3,
};

/// Counts of a store since it was made.
struct DiskStoreStatistics {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t writes = 0;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
  /// Entries that were there, but damaged or not to be trusted.
  int64_t rejected = 0;
  /// Why nothing is written any more; empty where all is well.
  std::string disabledReason;
};

/// Contents of a folder, or of what was removed from it.
struct DiskUsage {
  int64_t kernels = 0;
  int64_t programs = 0;
  /// Of files that a process has not finished to write.
  int64_t temporaries = 0;
  int64_t bytes = 0;
};

/// Entries in a folder of the file system, by kind and key. Any number of
/// processes and threads may use a folder at once and be killed at any moment.
///
/// Entries by their keys, in a folder. What is loaded will be executed, so a
/// folder or file that another user owns or may write to is not used. Nothing
/// that is wrong with the folder is an error for those who load and store: an
/// entry that cannot be had is a miss, and one that cannot be written is not
/// written. See DiskStore.cpp.
class DiskStore {
public:
  static constexpr int64_t kDefaultMaxBytes = int64_t(1) << 30;

  /// The folder is made when the first entry is stored.
  explicit DiskStore(std::string folder, int64_t maxBytes = kDefaultMaxBytes);

  /// The entry's payload, or null. Checked, and in memory of its own.
  std::unique_ptr<llvm::MemoryBuffer> load(DiskEntryKind kind,
                                           const DiskKey &key);

  /// Writes an entry, or replaces it.
  void store(DiskEntryKind kind, const DiskKey &key, llvm::StringRef payload);

  /// Removes an entry that turned out to be of no use.
  void remove(DiskEntryKind kind, const DiskKey &key);

  DiskStoreStatistics getStatistics() const;

  /// Returns the contents of the folder; nothing where there is none. Like the
  /// functions below an error where the folder cannot be read or is not to be
  /// trusted.
  llvm::Expected<DiskUsage> getUsage() const;

  /// Removes all entries and returns what they were. Files that the store does
  /// not know stay.
  llvm::Expected<DiskUsage> clear();

  /// Removes the entries that were used least recently until at most
  /// `maxBytes` are left, and what killed processes have left behind. Returns
  /// what was removed.
  llvm::Expected<DiskUsage> prune(int64_t maxBytes);

private:
  void stopWriting(std::string reason);

  const std::string path;
  const int64_t maxBytes;

  mutable std::mutex mutex;
  DiskStoreStatistics statistics;
  /// Bytes to write before the folder's size is looked at again.
  int64_t untilScan = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_CACHE_DISKSTORE_H
