//===- GpuDriver.h - The driver of the session ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PYTHON_BINDINGS_GPUDRIVER_H
#define METAOPS_PYTHON_BINDINGS_GPUDRIVER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace metaops::python {

/// Has a driver that emulates GPUs (see EmulatedDriverOptions) take the place
/// of NVIDIA's in a session that is made later.
llvm::Error setGpuDriver(llvm::StringRef text);

/// Says why a GPU cannot be used; empty if it can.
std::string whyNoGpu(int64_t ordinal);

} // namespace metaops::python

#endif // METAOPS_PYTHON_BINDINGS_GPUDRIVER_H
