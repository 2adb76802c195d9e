//===- PlaceParts.cpp - Values inside of others ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of a concat needs no memory of its own, and no copy, if the kernel
// that makes it writes it where the concat wants it. That is so if
//
// * a kernel of the same block makes it, or another placement op (whose parts
//   then lie there);
// * its window is contiguous, or the kernel's result lies in the window's rows;
// * it is no result of the program, and no part of anything else, nor does a
//   branch or a loop hand it on, whose results might be returned;
// * where a file's schedule stores it past the caches, it begins at a line. In
//   branches and loops nobody knows, as the concat may become a row of a scan.
//
// From then on its memory is the owner's: it lives from when the first part is
// made until the last of owner and parts is read.
//
// The tensor that an insert puts its part on top of is a part as well, if
// nothing reads it from then on, and the insert's result is one of the program:
// what returns has a buffer of its own from the beginning. (Otherwise it is
// written over like any value that dies; see PlanMemory.cpp.) So placements are
// visited from the last to the first.
//
//===----------------------------------------------------------------------===//

#include "PlaceParts.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::metaop;

Value metaop::getViewed(Value value) {
  for (;;) {
    if (auto barrier = value.getDefiningOp<BarrierOp>())
      value = barrier.getOperand(cast<OpResult>(value).getResultNumber());
    else if (auto view = value.getDefiningOp<ViewOpInterface>())
      value = view->getOperand(0);
    else
      return value;
  }
}

std::optional<Window> metaop::findWindow(const Placement &placement,
                                         RankedTensorType part,
                                         RankedTensorType result) {
  if (!placement.symbols.empty())
    return std::nullopt;
  ArrayRef<int64_t> extents = part.getShape(), rooms = result.getShape();
  Window window = {0, nullptr};
  for (auto [start, room] : llvm::zip_equal(placement.starts, rooms))
    window.offset = window.offset * room + start;
  // The innermost dimensions that fill their room, and the one outside of them.
  unsigned dim = extents.size();
  int64_t row = 1, pitch = 1;
  while (dim > 0 && row == pitch) {
    --dim;
    pitch *= rooms[dim];
    row *= extents[dim];
  }
  int64_t count = 1;
  for (unsigned outer = 0; outer < dim; ++outer) {
    if (count != 1 && extents[outer] != rooms[outer])
      return std::nullopt;
    count *= extents[outer];
  }
  if (count == 1 || row == pitch)
    return window;
  if (count == 0 || row == 0)
    return std::nullopt;
  window.rows = RowsAttr::get(part.getContext(), row, pitch);
  return window;
}

KernelOp metaop::getKernel(func::FuncOp callee) {
  if (!callee || callee.isDeclaration() ||
      !llvm::hasSingleElement(callee.getBody()))
    return {};
  auto kernel = dyn_cast<KernelOp>(callee.getBody().front().front());
  auto end = kernel ? dyn_cast<func::ReturnOp>(kernel->getNextNode()) : nullptr;
  return end && end.getOperands() == kernel.getResults() ? kernel : KernelOp();
}

RowsAttr metaop::getRows(Value value, SymbolTable &symbols) {
  value = getViewed(value);
  auto call = value.getDefiningOp<func::CallOp>();
  KernelOp kernel =
      call ? getKernel(symbols.lookup<func::FuncOp>(call.getCallee()))
           : KernelOp();
  return kernel
             ? kernel.getRowsOfResult(cast<OpResult>(value).getResultNumber())
             : RowsAttr();
}

bool metaop::isScheduledByFile(OpResult result, SymbolTable &symbols) {
  auto call = dyn_cast<func::CallOp>(result.getOwner());
  KernelOp kernel =
      call ? getKernel(symbols.lookup<func::FuncOp>(call.getCallee()))
           : KernelOp();
  if (!kernel)
    return false;
  Value yielded = kernel.getYield().getOperand(result.getResultNumber());
  // The location is the stage's.
  return getOverrideLine(yielded.getLoc()) != 0;
}

bool metaop::isReadOnce(Operation *op, Value value) {
  return llvm::count_if(op->getOperands(), [&](Value operand) {
           return getViewed(operand) == value;
         }) == 1;
}

namespace {
class PartPlacer {
public:
  PartPlacer(func::FuncOp main, SymbolTable &symbols, int64_t alignment)
      : main(main), symbols(symbols), alignment(alignment) {
    for (Value value : main.getBody().front().getTerminator()->getOperands())
      returned.insert(getViewed(value));
    walkBlocks(main.getBody(), [&](Block &block) {
      SmallVector<PlacementOpInterface> ops(
          block.getOps<PlacementOpInterface>());
      for (PlacementOpInterface op : llvm::reverse(ops))
        place(op);
    });
  }

  llvm::DenseMap<Value, PartPlace> take() { return std::move(places); }

private:
  void place(PlacementOpInterface op);
  bool isMadeForThis(Value value, PartPlace place);
  bool isReturned(Value value) const;
  bool isMadeOfDonated(Value value);
  Operation *getOverwriter(Value value) const;

  func::FuncOp main;
  SymbolTable &symbols;
  int64_t alignment;
  llvm::DenseSet<Value> returned;
  llvm::DenseMap<Value, PartPlace> places;
  /// The ops that put something on top of these values.
  llvm::DenseMap<Value, Operation *> overwriters;
};
} // namespace

/// Returns whether a branch or a loop gives the value, or a view of it, another
/// name.
static bool isHandedOn(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<scf::ConditionOp, scf::WhileOp, scf::YieldOp, ScanOp,
               ScanYieldOp>(user) ||
           (isa<ViewOpInterface>(user) && isHandedOn(user->getResult(0)));
  });
}

/// Returns whether nothing else decides where the value is.
bool PartPlacer::isMadeForThis(Value value, PartPlace place) {
  if (returned.contains(value) || places.contains(value) || isHandedOn(value) ||
      place.offset % alignment != 0)
    return false;
  Operation *op = value.getDefiningOp();
  Block *block = place.owner.getParentBlock();
  if (!op || op->getBlock() != block)
    return false;
  if (isa<PlacementOpInterface>(op))
    return !place.rows;
  auto call = dyn_cast<func::CallOp>(op);
  KernelOp kernel =
      call ? getKernel(symbols.lookup<func::FuncOp>(call.getCallee()))
           : KernelOp();
  if (!kernel)
    return false;
  auto result = cast<OpResult>(value);
  bool isAtLine =
      block == &main.getBody().front() && place.offset % kBufferAlignment == 0;
  return kernel.getRowsOfResult(result.getResultNumber()) == place.rows &&
         (isAtLine || place.rows || !isScheduledByFile(result, symbols));
}

/// Returns whether the value's memory is that of a result of the program.
bool PartPlacer::isReturned(Value value) const {
  for (auto place = places.find(value); place != places.end();
       place = places.find(value))
    value = place->second.owner;
  return returned.contains(value);
}

/// The first op that writes over memory of the value, or null.
Operation *PartPlacer::getOverwriter(Value value) const {
  for (;;) {
    if (Operation *op = overwriters.lookup(value))
      return op;
    auto place = places.find(value);
    if (place == places.end())
      return nullptr;
    value = place->second.owner;
  }
}

/// Returns whether `op` is the last to read the value, whatever its views are
/// called.
static bool isLastReader(Operation *op, Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<ViewOpInterface>(user))
      return isLastReader(op, user->getResult(0));
    // A read inside of a branch or a loop is done where that is.
    Operation *step = op->getBlock()->findAncestorOpInBlock(*user);
    return step == op || (step && step->isBeforeInBlock(op));
  });
}

/// Returns whether the value is an argument that may be overwritten, with
/// something on top of it.
bool PartPlacer::isMadeOfDonated(Value value) {
  while (auto op = value.getDefiningOp<PlacementOpInterface>()) {
    Value below = op->getOperand(op.getPlacements().front().operand);
    if (below.getType() != value.getType())
      return false;
    value = getViewed(below);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         main.getArgAttr(argument.getArgNumber(),
                         MetaOpDialect::DonatableAttrHelper::getNameStr());
}

void PartPlacer::place(PlacementOpInterface op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.hasStaticShape())
    return;
  for (const Placement &placement : op.getPlacements()) {
    Value part = op->getOperand(placement.operand);
    auto partType = cast<RankedTensorType>(part.getType());
    std::optional<Window> window = findWindow(placement, partType, type);
    if (!window)
      continue;
    Value made = getViewed(part);
    PartPlace place = {op->getResult(0), window->offset * getElementBytes(type),
                       window->rows};
    if (!isMadeForThis(made, place))
      continue;
    bool isCovered = partType == type;
    if (isCovered && (!isReturned(op->getResult(0)) || isMadeOfDonated(made) ||
                      !isReadOnce(op, made)))
      continue;
    // A value that is read after it has been written over needs memory of its
    // own.
    Operation *overwriter =
        isCovered ? op.getOperation() : getOverwriter(op->getResult(0));
    if (overwriter && !isLastReader(overwriter, made))
      continue;
    places[made] = place;
    if (isCovered)
      overwriters[made] = op;
  }
}

llvm::DenseMap<Value, PartPlace>
metaop::placeParts(func::FuncOp main, SymbolTable &symbols, int64_t alignment) {
  return PartPlacer(main, symbols, alignment).take();
}
