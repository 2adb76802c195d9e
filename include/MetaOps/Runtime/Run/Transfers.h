//===- Transfers.h - Values of several devices ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RUN_TRANSFERS_H
#define METAOPS_RUNTIME_RUN_TRANSFERS_H

#include "MetaOps/Runtime/Device/Devices.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/TensorData.h"
#include "MetaOps/Runtime/Programs/Programs.h"
#include "MetaOps/Runtime/Run/Launcher.h"
#include "MetaOps/Runtime/Run/ValueMemory.h"

namespace metaops {

/// Copies values that are there, or on their way, from device to device and to
/// the host.
class Transfers {
public:
  Transfers(Devices &devices, Programs &programs, Launcher &launcher,
            ValueMemory &memory)
      : devices(devices), programs(programs), launcher(launcher),
        memory(memory) {}

  /// Memory for what the host is about to write: the current device's where
  /// the host can.
  Allocator &getHostMemory();
  /// Brings what the host has written into memory of the current device.
  BufferRef bringOver(BufferRef buffer);
  /// A value in the host's memory.
  TensorData read(Node *node);
  /// Has the operand of a transfer copied, which is a leaf.
  void start(Node *node);

private:
  Ticket copy(Node *source, BufferRef to, llvm::StringRef name,
              mlir::Location location);

  Devices &devices;
  Programs &programs;
  Launcher &launcher;
  ValueMemory &memory;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RUN_TRANSFERS_H
