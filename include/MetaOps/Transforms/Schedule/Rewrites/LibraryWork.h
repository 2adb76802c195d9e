//===- LibraryWork.h - Work of libraries ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_REWRITES_LIBRARYWORK_H
#define METAOPS_TRANSFORMS_SCHEDULE_REWRITES_LIBRARYWORK_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace mlir::metaop {

/// Returns the picoseconds that a library should take for a routine on one
/// thread; nothing where none computes it.
using LibraryWork = std::function<std::optional<int64_t>(RoutineOpInterface)>;

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_REWRITES_LIBRARYWORK_H
