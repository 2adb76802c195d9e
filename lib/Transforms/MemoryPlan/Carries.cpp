//===- Carries.cpp - Where loops have what they carry ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A carry of a loop has one of three kinds of memory:
//
// * One place, if the body makes the next value over this trip's: inserts into
//   it, or computes it element by element, perhaps in one block of a branch
//   whose other one leaves it. Nothing reads this trip's behind that. The
//   initial value is copied there, unless it can be made there, for lack of
//   other readers; only then is that worth it where a kernel computes the
//   value, unless a branch may leave it.
// * A row, if a scan makes that of the next value anyway.
// * Two places in turn.
//
//===----------------------------------------------------------------------===//

#include "Lives.h"

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

bool Lives::mayBeRow(Value value) const {
  int64_t bytes = countBytes(value.getType());
  if (bytes % partAlignment != 0)
    return false;
  Operation *maker = value.getDefiningOp();
  if (bytes % kBufferAlignment == 0 || !maker)
    return true;
  return !maker
              ->walk([&](func::CallOp call) {
                bool isByFile =
                    llvm::any_of(call->getResults(), [&](OpResult result) {
                      return isScheduledByFile(result, symbols);
                    });
                return isByFile ? WalkResult::interrupt()
                                : WalkResult::advance();
              })
              .wasInterrupted();
}

bool Lives::isMadeInRow(OpOperand &yielded) const {
  auto loop = cast<ScanOp>(yielded.getOwner()->getParentOp());
  Value root = getRoot(yielded.get());
  unsigned number = yielded.getOperandNumber() - loop.getNumCarries();
  return isOwn(yielded) && mayBeRow(root) &&
         llvm::none_of(loop.getYieldedRows().take_front(number),
                       [&](Value other) { return getRoot(other) == root; });
}

/// Returns the rows of which what a scan yields for a carry is one; null where
/// it is none.
Value Lives::findRows(ScanOp loop, Value next) const {
  auto rows = loop.getYield()->getOpOperands().drop_front(loop.getNumCarries());
  for (auto [row, stacked] : llvm::zip_equal(rows, loop.getStackedRows()))
    if (isWhole(next) && getRoot(row.get()) == getRoot(next) &&
        isMadeInRow(row))
      return stacked;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Returns whether what an operation reads comes before another one in the same
/// trip, or is that one, or is never reached together with it. Readers in a
/// condition come before the body.
static bool comesBefore(Operation *reader, Operation *maker, Operation *loop) {
  for (Operation *op = maker; op != loop; op = op->getParentOp())
    if (Operation *step = op->getBlock()->findAncestorOpInBlock(*reader))
      return step == op || step->isBeforeInBlock(op);
  return true;
}

/// Returns whether what a loop carries, by the name `value`, or what may be in
/// the same memory, is read at `maker` or before it in each trip. The results
/// `made` of branches are the next value.
static bool isReadBefore(Value value, Operation *maker, Operation *loop,
                         ArrayRef<Value> made) {
  auto recurse = [&](Value other) {
    return llvm::is_contained(made, other) ||
           isReadBefore(other, maker, loop, made);
  };
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<ViewOpInterface>(user))
      return recurse(user->getResult(0));
    if (auto yield = dyn_cast<scf::YieldOp>(user);
        yield && isa<scf::IfOp>(yield->getParentOp()))
      return recurse(yield->getParentOp()->getResult(use.getOperandNumber()));
    if (auto end = dyn_cast<scf::ConditionOp>(user)) {
      auto around = cast<scf::WhileOp>(end->getParentOp());
      unsigned number = use.getOperandNumber();
      return around == loop &&
             (number == 0 || recurse(around.getAfterArguments()[number - 1]));
    }
    return !isLoop(user) && comesBefore(user, maker, loop);
  });
}

/// Returns whether an insert puts something else on top of the value.
static bool insertsInto(PlacementOpInterface op, Value value,
                        const Lives &lives) {
  unsigned covering = op.getPlacements().front().operand;
  Value operand = op->getOperand(covering);
  if (operand.getType() != op->getResult(0).getType() ||
      !lives.isWhole(operand) || lives.getRoot(operand) != value)
    return false;
  return llvm::count_if(op->getOperands(), [&](Value other) {
           return lives.getRoot(other) == value;
         }) == 1;
}

bool Lives::mayComputeOver(OpResult result, Value root) const {
  auto call = cast<func::CallOp>(result.getOwner());
  KernelOp kernel = getKernel(symbols.lookup<func::FuncOp>(call.getCallee()));
  if (!kernel || countBytes(root.getType()) != countBytes(result.getType()))
    return false;
  SmallVector<unsigned> inputs;
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    Value operand = call.getOperand(cast<BlockArgument>(input).getArgNumber());
    if (!isa<TensorType>(operand.getType()) || getRoot(operand) != root)
      continue;
    if (!isWhole(operand))
      return false;
    inputs.push_back(i);
  }
  return canWriteInPlace(kernel, inputs, result.getResultNumber());
}

/// Finds what makes the next value of a carry over that of the trip: an
/// operation of the body, or of each block of a branch that does not yield that
/// of the trip.
bool Lives::findMakers(Value argument, OpOperand &yielded,
                       NextValue &next) const {
  auto made = dyn_cast<OpResult>(getRoot(yielded.get()));
  if (!made || !isWhole(yielded.get()))
    return false;
  auto branch = dyn_cast<scf::IfOp>(made.getOwner());
  if (!branch) {
    next.makers.push_back(made);
    return isMadeHere(yielded);
  }
  auto isThis = [&](Value other) {
    return isa<TensorType>(other.getType()) && getRoot(other) == made;
  };
  if (branch->getBlock() != yielded.getOwner()->getBlock() ||
      llvm::count_if(yielded.getOwner()->getOperands(), isThis) != 1)
    return false;
  next.branches.push_back(made);
  unsigned number = made.getResultNumber();
  for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
    OpOperand &inner = yield->getOpOperand(number);
    bool stays = getRoot(inner.get()) == argument && isWhole(inner.get());
    next.mayStay |= stays;
    if (!stays && !findMakers(argument, inner, next))
      return false;
  }
  return true;
}

/// Returns whether a loop's body makes the next value of a carry over that of
/// the trip, where that is worth it: inserts, and branches that may leave it,
/// save copies in each trip.
bool Lives::mayHaveOnePlace(Value argument, OpOperand &yielded, Value initial,
                            NextValue &next) const {
  if (!findMakers(argument, yielded, next))
    return false;
  Operation *loop = argument.getParentRegion()->getParentOp();
  Operation *maker = initial.getDefiningOp();
  bool isForThis = maker && isStep(maker) && initial.hasOneUse() &&
                   getRoot(initial) == initial && !returned.contains(initial) &&
                   maker->getBlock() == loop->getBlock();
  return llvm::all_of(next.makers, [&](OpResult made) {
    if (!isReadBefore(argument, made.getOwner(), loop, next.branches))
      return false;
    if (auto insert = dyn_cast<PlacementOpInterface>(made.getOwner()))
      return insertsInto(insert, argument, *this);
    return (isForThis || next.mayStay) && isa<func::CallOp>(made.getOwner()) &&
           mayComputeOver(made, argument);
  });
}

void Lives::choosePlaces(Operation *loop) {
  for (auto [argument, initial, yielded] : llvm::zip_equal(
           getCarried(loop), getInitials(loop), getNextValues(loop))) {
    NextValue next;
    if (mayHaveOnePlace(argument, yielded, initial, next)) {
      inOnePlace.insert(argument);
      // Both blocks have the result where it is carried.
      for (Value result : next.branches)
        sources.erase(result);
      continue;
    }
    sources[argument].push_back(getRoot(initial));
    auto scan = dyn_cast<ScanOp>(loop);
    if (Value stacked = scan ? findRows(scan, yielded.get()) : Value()) {
      carriedRows[argument] = stacked;
      sources[argument].push_back(stacked);
    }
  }
}
