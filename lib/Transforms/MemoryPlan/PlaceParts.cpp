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
// * a kernel makes it, or another placement op (whose parts then lie there);
// * its window is contiguous, or the kernel's result has the result's pitch;
// * it is no result of the program, and no part of anything else;
// * where a file's schedule stores it past the caches, it begins at a line.
//
// From then on its memory is the owner's: it lives from when the first part is
// made until the last of owner and parts is read.
//
// What an insert puts its part on top of is a part as well, if nothing reads it
// from then on, and the insert's result is one of the program: what returns has
// a buffer of its own from the beginning. (Otherwise it is written over like
// any value that dies; see PlanMemory.cpp.) So placements are visited from the
// last to the first.
//
//===----------------------------------------------------------------------===//

#include "PlaceParts.h"

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Schedule/ScheduleFile.h"

using namespace mlir;
using namespace mlir::metaop;

Value metaop::getViewed(Value value) {
  while (auto view = value.getDefiningOp<ViewOpInterface>())
    value = view->getOperand(0);
  return value;
}

namespace {
class PartPlacer {
public:
  PartPlacer(func::FuncOp main, SymbolTable &symbols)
      : main(main), symbols(symbols) {
    Block &body = main.getBody().front();
    for (Value value : body.getTerminator()->getOperands())
      returned.insert(getViewed(value));
    SmallVector<PlacementOpInterface> ops(body.getOps<PlacementOpInterface>());
    for (PlacementOpInterface op : llvm::reverse(ops))
      place(op);
  }

  llvm::DenseMap<Value, PartPlace> take() { return std::move(places); }

private:
  void place(PlacementOpInterface op);
  bool isMadeForThis(Value value, int64_t offset) const;
  bool isReturned(Value value) const;
  bool isMadeOfDonated(Value value);
  Operation *getOverwriter(Value value) const;

  func::FuncOp main;
  SymbolTable &symbols;
  llvm::DenseSet<Value> returned;
  llvm::DenseMap<Value, PartPlace> places;
  /// The ops that put something on top of these values.
  llvm::DenseMap<Value, Operation *> overwriters;
};
} // namespace

/// The bytes before a window of `result`, if its elements follow each other
/// there.
static std::optional<int64_t> findOffset(const Placement &placement,
                                         RankedTensorType part,
                                         RankedTensorType result) {
  if (!placement.symbols.empty())
    return std::nullopt;
  int64_t bytes = getElementBytes(result);
  int64_t offset = 0, outer = 1;
  for (auto [start, extent, room] :
       llvm::zip_equal(placement.starts, part.getShape(), result.getShape())) {
    if (extent != room && outer != 1)
      return std::nullopt;
    offset = offset * room + start;
    outer *= extent;
  }
  return offset * bytes;
}

/// Whether nothing else decides where the value is.
bool PartPlacer::isMadeForThis(Value value, int64_t offset) const {
  if (returned.contains(value) || places.contains(value))
    return false;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<PlacementOpInterface>(op))
    return true;
  auto call = dyn_cast_or_null<func::CallOp>(op);
  auto callee =
      call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
  if (!callee || callee.isDeclaration())
    return false;
  auto kernel = dyn_cast<KernelOp>(callee.getBody().front().front());
  if (!kernel)
    return false;
  Value yielded =
      kernel.getYield().getOperand(cast<OpResult>(value).getResultNumber());
  auto stage = yielded.getDefiningOp<FusedOp>();
  return stage &&
         (offset % kBufferAlignment == 0 || !getOverrideLine(stage.getLoc()));
}

/// Whether the value's memory is that of a result of the program.
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

/// Whether `op` is the last to read the value, whatever its views are called.
static bool isLastReader(Operation *op, Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<ViewOpInterface>(user))
      return isLastReader(op, user->getResult(0));
    return user == op || user->isBeforeInBlock(op);
  });
}

/// Whether the value is an argument that may be overwritten, with something on
/// top of it.
bool PartPlacer::isMadeOfDonated(Value value) {
  while (auto op = value.getDefiningOp<PlacementOpInterface>()) {
    Value below = op->getOperand(op.getPlacements().front().operand);
    if (below.getType() != value.getType())
      return false;
    value = getViewed(below);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         main.getArgAttr(argument.getArgNumber(), "metaop.donatable");
}

/// Whether the op does not put the value into itself.
static bool isReadOnce(Operation *op, Value value) {
  return llvm::count_if(op->getOperands(), [&](Value operand) {
           return getViewed(operand) == value;
         }) == 1;
}

void PartPlacer::place(PlacementOpInterface op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.hasStaticShape())
    return;
  for (const Placement &placement : op.getPlacements()) {
    Value part = op->getOperand(placement.operand);
    auto partType = cast<RankedTensorType>(part.getType());
    std::optional<int64_t> offset = findOffset(placement, partType, type);
    Value made = getViewed(part);
    if (!offset || !isMadeForThis(made, *offset))
      continue;
    bool isCovered = partType == type;
    if (isCovered && (!isReturned(op->getResult(0)) || isMadeOfDonated(made) ||
                      !isReadOnce(op, made)))
      continue;
    // What is read after it has been written over needs memory of its own.
    Operation *overwriter =
        isCovered ? op.getOperation() : getOverwriter(op->getResult(0));
    if (overwriter && !isLastReader(overwriter, made))
      continue;
    places[made] = {op->getResult(0), *offset};
    if (isCovered)
      overwriters[made] = op;
  }
}

llvm::DenseMap<Value, PartPlace> metaop::placeParts(func::FuncOp main,
                                                    SymbolTable &symbols) {
  return PartPlacer(main, symbols).take();
}
