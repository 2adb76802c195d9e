//===- ControlFlow.h - Blocks of programs with branches ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_CONTROLFLOW_H
#define METAOPS_DIALECT_METAOP_IR_CONTROLFLOW_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace mlir::metaop {

/// Returns whether the op is a branch or a loop: its regions read values from
/// around it, and what they hold is a part of the program like what is beside
/// it. The bodies of stages and kernels are none.
bool isControlFlow(Operation *op);

/// The first branch or loop of a function's body, in the order of its text;
/// null if there is none.
Operation *findControlFlow(Region &body);

/// Returns the most trips that an `scf.while` may make, if it says so by
/// `metaop.max_trips`. The last value that it carries counts them, from 0, and
/// its condition hands all on that it is given. The program fails before it
/// would make more.
std::optional<int64_t> getMaxTrips(Operation *op);

/// Returns whether an operation is an `scf.execute_region` with
/// `metaop.checkpoint`: its gradient computes what is in it again, rather than
/// read values that have been kept.
bool isCheckpoint(Operation *op);
/// Has an operation be one, whose gradient reads so many of its last results.
void setCheckpoint(scf::ExecuteRegionOp op, int64_t numKept = 0);
/// Returns how many of the last results of a checkpoint its gradient reads.
int64_t getNumKept(Operation *checkpoint);

/// Creates an `scf.execute_region` of what `emit` emits in its block: its
/// results are the values that this returns. `emit` may throw.
scf::ExecuteRegionOp
createRegion(OpBuilder &builder, Location loc,
             llvm::function_ref<SmallVector<Value>(OpBuilder &)> emit);

/// Returns whether an operation is a loop whose text does not say how many
/// trips it makes at most: it has no derivatives in reverse mode.
bool isUnboundedLoop(Operation *op);
/// Returns whether an operation may have no derivatives in some mode, or has
/// one in its regions that may have none: such a loop, or a function with
/// derivatives of its own that does not say all of them.
bool mayMissDerivatives(Operation *op);

/// Returns whether a float that a region of the operation, at any depth, hands
/// on may be read there, too: one of the operation's results may be made of
/// another one (SiblingResults.h).
bool mayReadResults(Operation *op);

/// Returns whether an operation is a routine without derivatives: one by its
/// name, or code of the user's own.
bool lacksDerivatives(Operation *op);

/// Returns whether an operation, or one in its regions, may fail the program: a
/// check of numbers, or a routine that says so.
bool mayFail(Operation *op);

/// Returns the values that an operation's regions use, at any depth, and that
/// are defined outside of it: each once, in the order in which the regions'
/// text uses them first. They may be in a block that is in no region. None of
/// an operation without regions.
SmallVector<Value> findCaptures(Operation *op);

/// Appends the blocks of the branches and loops of `block` itself.
void appendNestedBlocks(Block &block, SmallVectorImpl<Block *> &blocks);

/// Calls `visit` for the blocks of a function's body and of its branches and
/// loops at any depth, for each before those inside of it. If it returns
/// LogicalResult, the walk ends with the first failure, and fails. It may make
/// and move any ops, and erase the branches and loops of the block that it is
/// called for.
template <typename Visit> auto walkBlocks(Region &body, Visit &&visit) {
  using Result = decltype(visit(std::declval<Block &>()));
  SmallVector<Block *> blocks(llvm::make_pointer_range(body));
  for (size_t next = 0; next < blocks.size(); ++next) {
    Block &block = *blocks[next];
    if constexpr (std::is_void_v<Result>)
      visit(block);
    else if (failed(visit(block)))
      return failure();
    appendNestedBlocks(block, blocks);
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

#endif // METAOPS_DIALECT_METAOP_IR_CONTROLFLOW_H
