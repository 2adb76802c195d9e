//===- ControlFlow.h - Blocks of programs with branches ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_CONTROLFLOW_H
#define METAOPS_DIALECT_METAOP_CONTROLFLOW_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Region.h"
#include "mlir/Support/LLVM.h"
#include <type_traits>
#include <utility>

namespace mlir::metaop {

/// Whether the op is a branch or a loop: its regions read values from around
/// it, and what they hold is a part of the program like what is beside it. The
/// bodies of stages and kernels are none.
bool isControlFlow(Operation *op);

/// The first branch or loop of a function's body, in the order of its text;
/// null if there is none.
Operation *findControlFlow(Region &body);

/// The blocks of a function's body and of its branches and loops at any depth,
/// each before those inside of it.
SmallVector<Block *> collectBlocks(Region &body);

/// Calls `visit` for each of these blocks. If it returns LogicalResult, the
/// walk ends with the first failure, and fails. Ops may be made, moved and
/// erased meanwhile, except for branches and loops.
template <typename Visit> auto walkBlocks(Region &body, Visit &&visit) {
  using Result = decltype(visit(std::declval<Block &>()));
  for (Block *block : collectBlocks(body)) {
    if constexpr (std::is_void_v<Result>)
      visit(*block);
    else if (failed(visit(*block)))
      return failure();
  }
  if constexpr (!std::is_void_v<Result>)
    return success();
}

/// The ops of one kind in all of these blocks.
template <typename OpTy> SmallVector<OpTy> collectOps(Region &body) {
  SmallVector<OpTy> ops;
  walkBlocks(body, [&](Block &block) {
    llvm::append_range(ops, block.getOps<OpTy>());
  });
  return ops;
}

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_CONTROLFLOW_H
