//===- SpaceNumbering.h - Which iteration spaces are equal ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_FUSION_SPACENUMBERING_H
#define METAOPS_LIB_TRANSFORMS_FUSION_SPACENUMBERING_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"

#include <map>

namespace mlir::metaop {

/// Gives tensors of provably equal shape one number. Static extents are
/// compared as numbers. A dynamic extent is known by where it comes from, and
/// extents that one element-wise op reads at the same dimension are equal.
class SpaceNumbering {
public:
  explicit SpaceNumbering(Block &block);

  unsigned getNumber(Value tensor);

private:
  /// A number for where a dynamic extent comes from.
  unsigned getDynamicExtent(Value tensor, unsigned dim);

  std::map<std::pair<void *, int64_t>, unsigned> origins;
  llvm::EquivalenceClasses<unsigned> classes;
  std::map<std::vector<int64_t>, unsigned> numbers;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_FUSION_SPACENUMBERING_H
