//===- RegionWords.h - Operations with regions as numbers -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_GRAPH_REGIONWORDS_H
#define METAOPS_LIB_RUNTIME_GRAPH_REGIONWORDS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <vector>

namespace metaops {

/// Returns numbers that two operations with regions have in common if they
/// differ, at most, in locations, in numbers beside a skeleton (appendNumbers),
/// and in which values their operands and captures are. `intern` gives the
/// number of the signature of an operation, of its own or in its regions,
/// without what is in its regions.
std::vector<uint64_t>
writeRegions(mlir::Operation *op,
             llvm::function_ref<uint32_t(mlir::Operation *)> intern);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_GRAPH_REGIONWORDS_H
