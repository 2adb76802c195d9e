//===- InstructionClass.h - Classes of a GPU's instructions -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_SUPPORT_INSTRUCTIONCLASS_H
#define METAOPS_SUPPORT_INSTRUCTIONCLASS_H

#include <cstdint>

namespace metaops {

/// Classes of instructions, each of which counts once for each thread and
/// element.
enum class InstructionClass : uint8_t {
  Float,
  Integer,
  Conversion,
  Function,
  Control,
  Global,
  Shared,
  Local,
  Atomic,
  Exchange,
  Barrier,
  Fence,
  AsyncCopy,
  Count
};

} // namespace metaops

#endif // METAOPS_SUPPORT_INSTRUCTIONCLASS_H
