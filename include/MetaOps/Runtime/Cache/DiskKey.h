//===- DiskKey.h - What an entry on disk is found by ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CACHE_DISKKEY_H
#define METAOPS_RUNTIME_CACHE_DISKKEY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"

#include <array>
#include <cstdint>
#include <string>

namespace metaops {

/// A hash of everything that an entry depends on. Entries are executed without
/// being compared with what they were made from, so it is a cryptographic one.
using DiskKey = std::array<uint8_t, 32>;

/// Hashes a sequence of texts and numbers. Each is told from its neighbours:
/// the texts "ab", "c" give another key than "a", "bc".
class DiskKeyBuilder {
public:
  DiskKeyBuilder &add(llvm::StringRef text);
  DiskKeyBuilder &add(uint64_t number);
  DiskKeyBuilder &add(const DiskKey &key);
  DiskKeyBuilder &add(llvm::ArrayRef<bool> flags);

  DiskKey finish() { return hasher.final<32>(); }

private:
  llvm::BLAKE3 hasher;
};

/// 64 hexadecimal digits.
std::string toHex(const DiskKey &key);

} // namespace metaops

#endif // METAOPS_RUNTIME_CACHE_DISKKEY_H
