//===- PlanMemory.cpp - Memory of a program's values ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// @main is a straight line of calls, so the live range of a value is an
// interval: from the call that makes it to the last call that reads it or a
// view of it. Calls are visited in order. Each result first tries to take over
// the memory of an operand whose live range ends at that call (see
// InPlace.cpp). Failing that, a returned value gets a buffer of its own, and
// any other memory of the arena. What takes over memory prolongs it. When all
// live ranges are known, places in the arena are chosen (see Arena.cpp), and
// results that were to be stored past the caches, but are written in place, are
// so no longer.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"

#include "Arena.h"
#include "MetaOps/Transforms/Schedule/ScheduleFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace mlir::metaop {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {

class MemoryPlanner {
public:
  MemoryPlanner(func::FuncOp main, SymbolTable &symbols, bool reuse)
      : main(main), symbols(symbols), reuse(reuse) {}

  LogicalResult plan();
  int64_t getLeastBytes() const { return getMostLiveBytes(stored); }

private:
  /// The value whose memory a view shares.
  static Value getRoot(Value value) {
    while (auto view = value.getDefiningOp<ViewOpInterface>())
      value = view->getOperand(0);
    return value;
  }
  /// Where a value is; the index of one in the arena is that in `stored`.
  struct Place {
    SlotKind kind;
    int64_t index;
  };

  LogicalResult findLives();
  LogicalResult planCall(func::CallOp call, int64_t time);
  std::optional<Place> tryInPlace(func::CallOp call, KernelOp kernel,
                                  OpResult result, int64_t time);
  bool mayOverwrite(Value root, int64_t time);
  int64_t getEnd(Value value, int64_t time) const;
  void keepInCaches();
  void writePlan(const ArenaPlan &plan);

  func::FuncOp main;
  SymbolTable &symbols;
  bool reuse;
  int64_t numCalls = 0;
  SmallVector<ArenaValue> stored;
  llvm::DenseMap<Value, Place> places;
  /// The number of the last call that reads a root.
  llvm::DenseMap<Value, int64_t> lastRead;
  /// Roots that are returned, and the first result that each is.
  llvm::MapVector<Value, unsigned> returned;
  /// Roots whose memory another value has taken over.
  llvm::DenseSet<Value> takenOver;
  /// Values that kernels yield, and whether each call writes them in place.
  llvm::MapVector<Value, bool> isAlwaysInPlace;
};

} // namespace

/// Whether the planner can give memory to a value of this type.
static LogicalResult verifyType(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && !tensor.hasStaticShape())
    return op->emitOpError("memory is planned for static shapes, given ")
           << type;
  if (countBytes(type) > kMaxArenaBytes)
    return op->emitOpError("needs more memory than can be addressed for ")
           << type;
  return success();
}

LogicalResult MemoryPlanner::findLives() {
  if (!llvm::hasSingleElement(main.getBody()))
    return main.emitOpError("expects one block, given ")
           << main.getBody().getBlocks().size();
  for (Operation &op : main.getBody().front()) {
    for (Type type : op.getResultTypes())
      if (failed(verifyType(&op, type)))
        return failure();
    if (auto call = dyn_cast<func::CallOp>(op)) {
      for (Value operand : call.getOperands())
        lastRead[getRoot(operand)] = numCalls;
      ++numCalls;
    } else if (!isa<ViewOpInterface, func::ReturnOp>(op) &&
               (op.getNumResults() == 0 ||
                llvm::any_of(op.getResultTypes(), llvm::IsaPred<TensorType>))) {
      // Numbers, such as extents, take no memory.
      return op.emitOpError("is neither a call, a view nor the end of a "
                            "program");
    }
  }
  auto end = cast<func::ReturnOp>(main.getBody().front().getTerminator());
  for (auto [i, operand] : llvm::enumerate(end.getOperands()))
    returned.insert({getRoot(operand), i});
  return success();
}

/// Whether nothing reads the memory of `root` after the call at `time`.
bool MemoryPlanner::mayOverwrite(Value root, int64_t time) {
  if (!reuse || takenOver.contains(root) || returned.contains(root) ||
      lastRead.lookup(root) != time)
    return false;
  auto argument = dyn_cast<BlockArgument>(root);
  return !argument || main.getArgAttr(argument.getArgNumber(),
                                      "metaop.donatable") != nullptr;
}

/// The last call that needs the memory of a value made at `time`.
int64_t MemoryPlanner::getEnd(Value value, int64_t time) const {
  auto read = lastRead.find(value);
  return read == lastRead.end() ? time : read->second;
}

std::optional<MemoryPlanner::Place> MemoryPlanner::tryInPlace(func::CallOp call,
                                                              KernelOp kernel,
                                                              OpResult result,
                                                              int64_t time) {
  auto type = cast<RankedTensorType>(result.getType());
  bool isReturned = returned.contains(result);
  for (Value operand : call.getOperands()) {
    Value root = getRoot(operand);
    auto rootType = dyn_cast<RankedTensorType>(root.getType());
    if (!rootType || !mayOverwrite(root, time) ||
        countBytes(rootType) != countBytes(type))
      continue;
    // A returned value must not stay in the arena.
    Place place = places.find(root)->second;
    if (isReturned && place.kind == SlotKind::Arena)
      continue;
    SmallVector<unsigned> inputs;
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      unsigned number = cast<BlockArgument>(input).getArgNumber();
      if (getRoot(call.getOperand(number)) == root)
        inputs.push_back(i);
    }
    if (!canWriteInPlace(kernel, inputs, result.getResultNumber()))
      continue;
    takenOver.insert(root);
    if (place.kind == SlotKind::Arena)
      stored[place.index].end = getEnd(result, time);
    return place;
  }
  return std::nullopt;
}

LogicalResult MemoryPlanner::planCall(func::CallOp call, int64_t time) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  auto kernel = callee && !callee.isDeclaration()
                    ? dyn_cast<KernelOp>(callee.getBody().front().front())
                    : KernelOp();
  if (!kernel)
    return call.emitOpError("does not call a kernel");
  for (OpResult result : call->getResults()) {
    std::optional<Place> place = tryInPlace(call, kernel, result, time);
    Value yielded = kernel.getYield().getOperand(result.getResultNumber());
    isAlwaysInPlace.insert({yielded, true}).first->second &= place.has_value();
    if (!place) {
      if (auto *it = returned.find(result); it != returned.end()) {
        place = Place{SlotKind::Result, it->second};
      } else {
        place = Place{SlotKind::Arena, int64_t(stored.size())};
        int64_t bytes = countBytes(result.getType());
        stored.push_back(reuse ? ArenaValue{bytes, time, getEnd(result, time)}
                               : ArenaValue{bytes, 0, numCalls});
      }
    }
    places[result] = *place;
  }
  return success();
}

/// What is written in place has just been read: it is in the first cache, and
/// to store it past the caches saves nothing. A file's schedule stays.
void MemoryPlanner::keepInCaches() {
  for (auto [value, isInPlace] : isAlwaysInPlace) {
    auto stage = value.getDefiningOp<FusedOp>();
    ScheduleAttr schedule = stage ? stage.getScheduleAttr() : ScheduleAttr();
    if (!isInPlace || !schedule || getOverrideLine(stage.getLoc()))
      continue;
    auto streamed = llvm::to_vector(schedule.getStream());
    llvm::erase(streamed, cast<OpResult>(value).getResultNumber());
    stage.setScheduleAttr(schedule.withStream(streamed));
  }
}

void MemoryPlanner::writePlan(const ArenaPlan &plan) {
  MLIRContext *ctx = main.getContext();
  auto toSlots = [&](ValueRange values) {
    SmallVector<Attribute> slots;
    for (Value value : values) {
      Place place = places.find(getRoot(value))->second;
      slots.push_back(SlotAttr::get(ctx, place.kind,
                                    place.kind == SlotKind::Arena
                                        ? plan.offsets[place.index]
                                        : place.index));
    }
    return ArrayAttr::get(ctx, slots);
  };
  Block &body = main.getBody().front();
  for (auto call : body.getOps<func::CallOp>())
    call->setAttr("metaop.slots", toSlots(call.getResults()));
  main->setAttr("metaop.results", toSlots(body.getTerminator()->getOperands()));
  main->setAttr("metaop.arena_bytes",
                Builder(ctx).getI64IntegerAttr(plan.bytes));
}

LogicalResult MemoryPlanner::plan() {
  if (failed(findLives()))
    return failure();
  for (BlockArgument argument : main.getArguments())
    places[argument] = {SlotKind::Argument, argument.getArgNumber()};
  int64_t time = 0;
  for (auto call : main.getBody().front().getOps<func::CallOp>())
    if (failed(planCall(call, time++)))
      return failure();
  std::optional<ArenaPlan> plan = packArena(stored);
  if (!plan)
    return main.emitOpError("needs more memory than can be addressed");
  keepInCaches();
  writePlan(*plan);
  return success();
}

namespace {
struct PlanMemoryPass : metaop::impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto main = symbols.lookup<func::FuncOp>("main");
    if (!main || main.isDeclaration()) {
      getOperation().emitError("expects a function @main");
      return signalPassFailure();
    }
    MemoryPlanner planner(main, symbols, reuse);
    if (failed(planner.plan()))
      return signalPassFailure();
    if (report)
      emitRemark(main.getLoc())
          << "memory: an arena of "
          << main->getAttrOfType<IntegerAttr>("metaop.arena_bytes").getInt()
          << " bytes, of which at most " << planner.getLeastBytes()
          << " live at a time";
  }
};
} // namespace
