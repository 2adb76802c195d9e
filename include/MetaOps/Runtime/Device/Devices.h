//===- Devices.h - The devices that there are -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_DEVICE_DEVICES_H
#define METAOPS_RUNTIME_DEVICE_DEVICES_H

#include "MetaOps/Runtime/Device/Device.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace metaops {

/// Devices that differ in their ordinals alone.
struct DeviceKind {
  std::string name;
  /// 0 for a single device that is called as its kind is.
  unsigned count = 1;
  std::shared_ptr<Compiler> backend;
  std::function<std::shared_ptr<MemorySource>()> createMemory =
      createHostMemory;
};

/// Devices by name. The first is there; each other is made when it is first
/// asked for, and stays.
class Devices {
public:
  /// At least one kind.
  explicit Devices(std::vector<DeviceKind> kinds);

  /// By kind and ordinal, or the first of a kind by the kind alone. Null where
  /// there is none of that name.
  Device *find(llvm::StringRef name);
  /// The first of the first kind.
  Device &getFirst() const { return *made.front(); }
  /// Returns the device on which what is made now is placed. For those who use
  /// `find`.
  Device &getCurrent() const { return *current; }
  void setCurrent(Device &device) { current = &device; }
  /// Of all devices, also those that are yet to be made; see Allocator.
  void setPoisons(bool isOn);
  /// "cpu:0 to cpu:7, interpreter:0".
  std::string describeNames() const;
  std::vector<std::string> getNames() const;
  llvm::ArrayRef<DeviceKind> getKinds() const { return kinds; }

  /// Those that have been asked for. From any thread, as `find` is not.
  llvm::ArrayRef<std::unique_ptr<Device>> getMade() const {
    return {made.data(), numMade.load(std::memory_order_acquire)};
  }

private:
  std::vector<DeviceKind> kinds;
  /// With room for all, so that they stay where they are.
  std::vector<std::unique_ptr<Device>> made;
  std::atomic<size_t> numMade{0};
  Device *current;
  bool poisons = false;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_DEVICE_DEVICES_H
