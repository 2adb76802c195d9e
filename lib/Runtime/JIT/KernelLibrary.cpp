//===- KernelLibrary.cpp - Linked kernels by name -------------------------===//
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
KernelLibrary::link(llvm::StringRef name,
                    std::unique_ptr<llvm::MemoryBuffer> object) {
  KernelFunction function = nullptr;
  if (jit) {
    auto found = jit->link(std::move(object), name);
    if (!found)
      return found.takeError();
    function = *found;
  } else {
    objects[name] = std::move(object);
  }
  auto kernel = std::make_shared<const Kernel>(Kernel{function, name.str()});
  linked[name] = kernel;
  return kernel;
}

std::shared_ptr<const Kernel> KernelLibrary::find(llvm::StringRef name) {
  if (auto it = linked.find(name); it != linked.end())
    return it->second;
  if (!store)
    return nullptr;
  auto object = store->load(DiskEntryKind::Kernel, keyOf(name));
  if (!object)
    return nullptr;
  auto kernel = link(name, std::move(object));
  if (!kernel) {
    // Compiled and written again, it may be linked.
    llvm::consumeError(kernel.takeError());
    store->remove(DiskEntryKind::Kernel, keyOf(name));
    return nullptr;
  }
  ++numLoaded;
  return *kernel;
}

llvm::Expected<std::shared_ptr<const Kernel>>
KernelLibrary::add(llvm::StringRef name,
                   std::unique_ptr<llvm::MemoryBuffer> object) {
  if (store)
    store->store(DiskEntryKind::Kernel, keyOf(name), object->getBuffer());
  auto kernel = link(name, std::move(object));
  if (!kernel && store)
    store->remove(DiskEntryKind::Kernel, keyOf(name));
  return kernel;
}

} // namespace metaops
