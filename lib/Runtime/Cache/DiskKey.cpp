//===- DiskKey.cpp - What an entry on disk is found by --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Cache/DiskKey.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace metaops;

DiskKeyBuilder &DiskKeyBuilder::add(uint64_t number) {
  std::array<uint8_t, sizeof(number)> bytes;
  llvm::support::endian::write64le(bytes.data(), number);
  hasher.update(bytes);
  return *this;
}

DiskKeyBuilder &DiskKeyBuilder::add(llvm::StringRef text) {
  add(uint64_t(text.size()));
  hasher.update(text);
  return *this;
}

DiskKeyBuilder &DiskKeyBuilder::add(const DiskKey &key) {
  hasher.update(key);
  return *this;
}

DiskKeyBuilder &DiskKeyBuilder::add(llvm::ArrayRef<bool> flags) {
  llvm::SmallVector<uint8_t> bytes(flags.begin(), flags.end());
  add(uint64_t(bytes.size()));
  hasher.update(bytes);
  return *this;
}

std::string metaops::toHex(const DiskKey &key) {
  return llvm::toHex(key, /*LowerCase=*/true);
}
