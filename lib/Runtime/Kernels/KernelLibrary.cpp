//===- KernelLibrary.cpp - Loaded kernels by name -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLibrary.h"

namespace metaops {

void KernelLibrary::setDiskStore(std::shared_ptr<DiskStore> store,
                                 const DiskKey &target) {
  this->store = std::move(store);
  this->target = target;
}

DiskKey KernelLibrary::keyOf(llvm::StringRef name) const {
  return DiskKeyBuilder().add(target).add(name).finish();
}

llvm::Expected<std::shared_ptr<const Kernel>>
KernelLibrary::load(llvm::StringRef name,
                    std::unique_ptr<llvm::MemoryBuffer> code) {
  auto kernel = backend->load(name, std::move(code));
  if (!kernel)
    return kernel.takeError();
  auto shared = std::make_shared<const Kernel>(std::move(*kernel));
  loaded[name] = shared;
  return shared;
}

std::shared_ptr<const Kernel> KernelLibrary::find(llvm::StringRef name) {
  if (auto it = loaded.find(name); it != loaded.end())
    return it->second;
  if (!store)
    return nullptr;
  auto code = store->load(DiskEntryKind::Kernel, keyOf(name));
  if (!code)
    return nullptr;
  auto kernel = load(name, std::move(code));
  if (!kernel) {
    // Compiled and written again, it may be loaded.
    llvm::consumeError(kernel.takeError());
    store->remove(DiskEntryKind::Kernel, keyOf(name));
    return nullptr;
  }
  ++numLoaded;
  return *kernel;
}

llvm::Expected<std::shared_ptr<const Kernel>>
KernelLibrary::add(llvm::StringRef name,
                   std::unique_ptr<llvm::MemoryBuffer> code) {
  if (store)
    store->store(DiskEntryKind::Kernel, keyOf(name), code->getBuffer());
  auto kernel = load(name, std::move(code));
  if (!kernel && store)
    store->remove(DiskEntryKind::Kernel, keyOf(name));
  return kernel;
}

} // namespace metaops
