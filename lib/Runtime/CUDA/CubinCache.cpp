//===- CubinCache.cpp - Machine code that was made before -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry is found by the PTX, the chip and the assembler, and by nothing of
// this compiler: the text says all that it has done. So what one assembler has
// made is never taken for another's, unless that is asked for: a bundle brings
// cubins to machines where only the driver's assembler is. What is kept to know
// that an assembler takes the PTX is found by the assembler's very build.
//
// An entry holds what the assembler tells of the kernels, then the code:
//
//   number of kernels; of each, bytes of its name, the name, six numbers
//   the code, up to the end
//
// Numbers are of 64 bits, little-endian. What does not fit that is no entry.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CUDA/CubinCache.h"
#include "llvm/Support/Endian.h"

using namespace metaops;
using llvm::StringRef;

static constexpr int64_t KernelResources::*kNumbers[] = {
    &KernelResources::registers,       &KernelResources::localBytes,
    &KernelResources::spillStoreBytes, &KernelResources::spillLoadBytes,
    &KernelResources::sharedBytes,     &KernelResources::barriers};

static void write(std::string &bytes, uint64_t number) {
  char word[sizeof(number)];
  llvm::support::endian::write64le(word, number);
  bytes.append(word, sizeof(word));
}

static std::string toBytes(const Cubin &cubin) {
  std::string bytes;
  write(bytes, cubin.kernels.size());
  for (const KernelResources &kernel : cubin.kernels) {
    write(bytes, kernel.name.size());
    bytes += kernel.name;
    for (auto number : kNumbers)
      write(bytes, uint64_t(kernel.*number));
  }
  return bytes + cubin.code;
}

/// Takes a number from the beginning; false where there is none.
static bool read(StringRef &bytes, uint64_t &number) {
  if (bytes.size() < sizeof(number))
    return false;
  number = llvm::support::endian::read64le(bytes.data());
  bytes = bytes.drop_front(sizeof(number));
  return true;
}

static std::optional<Cubin> fromBytes(StringRef bytes) {
  Cubin cubin;
  uint64_t count = 0, size = 0;
  if (!read(bytes, count))
    return std::nullopt;
  for (uint64_t i = 0; i < count; ++i) {
    KernelResources &kernel = cubin.kernels.emplace_back();
    if (!read(bytes, size) || bytes.size() < size)
      return std::nullopt;
    kernel.name = bytes.take_front(size).str();
    bytes = bytes.drop_front(size);
    for (auto number : kNumbers) {
      uint64_t value = 0;
      if (!read(bytes, value))
        return std::nullopt;
      kernel.*number = int64_t(value);
    }
  }
  cubin.code = bytes.str();
  return cubin;
}

/// Returns the key by which a cubin is found.
static DiskKey getKey(StringRef ptx, const mlir::metaop::Chip &chip,
                      StringRef assembler) {
  return DiskKeyBuilder().add(ptx).add(chip.name).add(assembler).finish();
}

static std::optional<Cubin> load(DiskStore &store, const DiskKey &key) {
  auto entry = store.load(DiskEntryKind::Cubin, key);
  if (!entry)
    return std::nullopt;
  std::optional<Cubin> cubin = fromBytes(entry->getBuffer());
  if (!cubin)
    store.remove(DiskEntryKind::Cubin, key);
  return cubin;
}

void CubinCache::setStore(std::shared_ptr<DiskStore> newStore) {
  std::lock_guard lock(mutex);
  store = std::move(newStore);
}

std::shared_ptr<DiskStore> CubinCache::getStore() const {
  std::lock_guard lock(mutex);
  return store;
}

llvm::Expected<Cubin> CubinCache::get(StringRef ptx,
                                      const mlir::metaop::Chip &chip) {
  DiskKey key = getKey(ptx, chip,
                       keyedBy == KeyedBy::Build ? assembler->getBuild()
                                                 : assembler->getDescription());
  std::shared_ptr<DiskStore> store = getStore();
  if (!store)
    return getFromMemory(ptx, chip, toHex(key));
  if (std::optional<Cubin> cubin = load(*store, key))
    return std::move(*cubin);
  for (const std::string &other : others)
    if (std::optional<Cubin> cubin = load(*store, getKey(ptx, chip, other)))
      return std::move(*cubin);
  auto cubin = assembler->assemble(ptx, chip);
  if (cubin)
    store->store(DiskEntryKind::Cubin, key, toBytes(*cubin));
  return cubin;
}

llvm::Expected<Cubin> CubinCache::getFromMemory(StringRef ptx,
                                                const mlir::metaop::Chip &chip,
                                                const std::string &key) {
  {
    std::lock_guard lock(mutex);
    if (auto found = made.find(key); found != made.end())
      return found->second;
  }
  auto cubin = assembler->assemble(ptx, chip);
  if (cubin) {
    std::lock_guard lock(mutex);
    made.try_emplace(key, *cubin);
  }
  return cubin;
}
