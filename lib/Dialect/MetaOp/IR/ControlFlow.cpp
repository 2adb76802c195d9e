//===- ControlFlow.cpp - Blocks of programs with branches -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes take a program block by block. Those inside of a block are found when
// it has been visited, as a branch may be gone then; an op that is moved keeps
// its blocks. A list of blocks stands for the recursion, so that no depth of a
// program is too much.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::metaop;

bool metaop::isControlFlow(Operation *op) {
  return isa<RegionBranchOpInterface>(op);
}

Operation *metaop::findControlFlow(Region &body) {
  for (Operation &op : body.getOps())
    if (isControlFlow(&op))
      return &op;
  return nullptr;
}

std::optional<int64_t> metaop::getMaxTrips(Operation *op) {
  auto most = op->getAttrOfType<IntegerAttr>(
      MetaOpDialect::MaxTripsAttrHelper::getNameStr());
  return most ? std::optional(most.getInt()) : std::nullopt;
}

bool metaop::isCheckpoint(Operation *op) {
  return isa<scf::ExecuteRegionOp>(op) &&
         op->hasAttr(MetaOpDialect::CheckpointAttrHelper::getNameStr());
}

scf::ExecuteRegionOp
metaop::createRegion(OpBuilder &builder, Location loc,
                     llvm::function_ref<SmallVector<Value>(OpBuilder &)> emit) {
  Region region;
  SmallVector<Type> types;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&region.emplaceBlock());
    SmallVector<Value> results = emit(builder);
    scf::YieldOp::create(builder, loc, results);
    llvm::append_range(types, ValueRange(results).getTypes());
  }
  auto op = scf::ExecuteRegionOp::create(builder, loc, TypeRange(types));
  op.getRegion().takeBody(region);
  return op;
}

void metaop::setCheckpoint(scf::ExecuteRegionOp op, int64_t numKept) {
  op.setNoInline(true);
  Builder builder(op.getContext());
  op->setAttr(MetaOpDialect::CheckpointAttrHelper::getNameStr(),
              numKept > 0 ? Attribute(builder.getI64IntegerAttr(numKept))
                          : Attribute(builder.getUnitAttr()));
}

int64_t metaop::getNumKept(Operation *checkpoint) {
  auto number = checkpoint->getAttrOfType<IntegerAttr>(
      MetaOpDialect::CheckpointAttrHelper::getNameStr());
  return number ? number.getInt() : 0;
}

bool metaop::isUnboundedLoop(Operation *op) {
  if (auto scan = dyn_cast<ScanOp>(op))
    return !scan.getTrips();
  return isa<scf::ForOp>(op) || (isa<scf::WhileOp>(op) && !getMaxTrips(op));
}

bool metaop::mayMissDerivatives(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        auto custom = dyn_cast<CustomDerivativeOp>(inner);
        bool isMissing =
            custom ? !custom.getCaptures().empty() || !custom.getTangentRule()
                   : isUnboundedLoop(inner) || lacksDerivatives(inner);
        return isMissing ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool metaop::mayReadResults(Operation *op) {
  auto isRead = [](Operation *terminator) {
    return llvm::any_of(terminator->getOperands(), [&](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && isa<FloatType>(type.getElementType()) &&
             value.getDefiningOp() &&
             value.getParentBlock() == terminator->getBlock() &&
             llvm::any_of(value.getUsers(),
                          [&](Operation *user) { return user != terminator; });
    });
  };
  return op
      ->walk([&](Operation *inner) {
        return inner != op && inner->hasTrait<OpTrait::IsTerminator>() &&
                       isRead(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool metaop::lacksDerivatives(Operation *op) {
  return isa<RoutineOpInterface>(op) && !isa<DifferentiableOpInterface>(op);
}

bool metaop::mayFail(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        auto routine = dyn_cast<RoutineOpInterface>(inner);
        return isa<CheckRangeOp>(inner) || (routine && routine.mayFail())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns whether a value is defined in the operation's regions. MLIR's own
/// walk looks for regions further out; a session's block is in none.
static bool isInside(Value value, Operation *op) {
  Block *block = value.getParentBlock();
  Operation *owner = block ? block->getParentOp() : nullptr;
  return owner && op->isAncestor(owner);
}

SmallVector<Value> metaop::findCaptures(Operation *op) {
  llvm::SmallSetVector<Value, 8> captures;
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value operand : inner->getOperands())
      if (!isInside(operand, op))
        captures.insert(operand);
  });
  return captures.takeVector();
}

void metaop::appendNestedBlocks(Block &block,
                                SmallVectorImpl<Block *> &blocks) {
  for (Operation &op : block)
    if (isControlFlow(&op))
      for (Region &region : op.getRegions())
        llvm::append_range(blocks, llvm::make_pointer_range(region));
}
