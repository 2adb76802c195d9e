//===- Device.cpp - Where programs run ------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Device/Device.h"

using namespace metaops;

Device::Device(std::string name, std::shared_ptr<Compiler> backend,
               std::shared_ptr<MemorySource> givenSource)
    : name(std::move(name)), backend(std::move(backend)),
      source(std::move(givenSource)), memory(source) {}
