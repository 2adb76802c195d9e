//===- Devices.cpp - The devices that there are ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Device/Devices.h"

#include "llvm/ADT/StringExtras.h"

#include <cassert>

using namespace metaops;

Devices::Devices(std::vector<DeviceKind> given) : kinds(std::move(given)) {
  assert(!kinds.empty() && "a session has a device");
  size_t count = 0;
  for (const DeviceKind &kind : kinds)
    count += std::max(kind.count, 1u);
  made.reserve(count);
  current = find(kinds.front().name);
}

static std::string formatName(const DeviceKind &kind, unsigned ordinal) {
  if (kind.count == 0)
    return kind.name;
  return kind.name + ":" + std::to_string(ordinal);
}

/// The kind of a device and its ordinal; none where there is no such device.
static std::optional<std::pair<const DeviceKind *, unsigned>>
findKind(llvm::ArrayRef<DeviceKind> kinds, llvm::StringRef name) {
  for (const DeviceKind &kind : kinds) {
    llvm::StringRef rest = name;
    unsigned ordinal = 0;
    if (!rest.consume_front(kind.name))
      continue;
    bool hasOrdinal = !rest.empty();
    if (hasOrdinal &&
        (!rest.consume_front(":") || rest.getAsInteger(10, ordinal)))
      continue;
    if (ordinal < kind.count || (kind.count == 0 && !hasOrdinal))
      return std::pair(&kind, ordinal);
  }
  return std::nullopt;
}

Device *Devices::find(llvm::StringRef name) {
  for (const std::unique_ptr<Device> &device : made)
    if (device->getName() == name)
      return device.get();
  auto found = findKind(kinds, name);
  if (!found)
    return nullptr;
  const DeviceKind &kind = *found->first;
  std::string full = formatName(kind, found->second);
  // Of several spellings ("cpu", "cpu:00") there is one device.
  if (full != name)
    return find(full);
  made.push_back(
      std::make_unique<Device>(full, kind.backend, kind.createMemory()));
  made.back()->getMemory().setPoisons(poisons);
  numMade.store(made.size(), std::memory_order_release);
  return made.back().get();
}

void Devices::setPoisons(bool isOn) {
  poisons = isOn;
  for (const std::unique_ptr<Device> &device : made)
    device->getMemory().setPoisons(isOn);
}

std::string Devices::describeNames() const {
  std::vector<std::string> texts;
  for (const DeviceKind &kind : kinds) {
    std::string &text = texts.emplace_back(formatName(kind, 0));
    if (kind.count > 1)
      text += " to " + formatName(kind, kind.count - 1);
  }
  return llvm::join(texts, ", ");
}

std::vector<std::string> Devices::getNames() const {
  std::vector<std::string> names;
  for (const DeviceKind &kind : kinds)
    for (unsigned ordinal = 0; ordinal < std::max(kind.count, 1u); ++ordinal)
      names.push_back(formatName(kind, ordinal));
  return names;
}
