//===- ElementTypes.h - Element types in the IR -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_COMPILER_ELEMENTTYPES_H
#define METAOPS_RUNTIME_COMPILER_ELEMENTTYPES_H

#include "MetaOps/Runtime/Memory/DType.h"
#include "mlir/IR/Types.h"

#include <optional>

namespace metaops {

/// The element type in the IR. Signed integers are signless there.
mlir::Type toElementType(DType dtype, mlir::MLIRContext *context);
std::optional<DType> fromElementType(mlir::Type type);

} // namespace metaops

#endif // METAOPS_RUNTIME_COMPILER_ELEMENTTYPES_H
