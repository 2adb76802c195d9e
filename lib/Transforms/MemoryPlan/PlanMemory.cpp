//===- PlanMemory.cpp - Memory of a program's values ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// @main is a straight line of calls, so the life of a value is an interval:
// from the call that makes it to the last call that reads it or a view of it.
// Calls are visited in order. Each result first tries to take over the memory
// of an operand whose life ends at that call (see InPlace.cpp). Failing that,
// a returned value gets a buffer of its own, and any other the lowest place in
// the arena that is free for its size. Then the operands that die are freed.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/MemoryPlan/Passes.h"
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

/// Places in the arena begin at multiples of this.
static constexpr int64_t kAlignment = 64;

/// Larger programs are refused, so that sums of sizes do not overflow.
static constexpr int64_t kMaxBytes = int64_t(1) << 60;

int64_t metaop::getTensorBytes(RankedTensorType type) {
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return std::numeric_limits<int64_t>::max();
  return bytes;
}

namespace {

/// Free and used ranges of the arena.
class Arena {
public:
  /// The lowest free range of that size.
  int64_t allocate(int64_t bytes) {
    bytes = llvm::alignTo(std::max<int64_t>(bytes, 1), kAlignment);
    int64_t offset = 0;
    auto place = used.begin();
    for (; place != used.end(); ++place) {
      if (place->first - offset >= bytes)
        break;
      offset = place->second;
    }
    used.insert(place, {offset, offset + bytes});
    size = std::max(size, offset + bytes);
    return offset;
  }

  void free(int64_t offset) {
    llvm::erase_if(used, [&](auto range) { return range.first == offset; });
  }

  int64_t getSize() const { return size; }

private:
  /// Sorted by offset.
  SmallVector<std::pair<int64_t, int64_t>> used;
  int64_t size = 0;
};

class MemoryPlanner {
public:
  MemoryPlanner(func::FuncOp main, SymbolTable &symbols)
      : main(main), symbols(symbols) {}

  LogicalResult plan();

private:
  /// The value whose memory a view shares.
  static Value getRoot(Value value) {
    while (auto view = value.getDefiningOp<ViewOpInterface>())
      value = view->getOperand(0);
    return value;
  }
  LogicalResult findLives();
  LogicalResult planCall(func::CallOp call, int64_t time);
  std::optional<SlotAttr> tryInPlace(func::CallOp call, KernelOp kernel,
                                     OpResult result, int64_t time);
  bool mayOverwrite(Value root, int64_t time);

  func::FuncOp main;
  SymbolTable &symbols;
  Arena arena;
  llvm::DenseMap<Value, SlotAttr> slots;
  /// The number of the last call that reads a root.
  llvm::DenseMap<Value, int64_t> lastRead;
  /// Roots that are returned, and the first result that each is.
  llvm::MapVector<Value, unsigned> returned;
  /// Roots whose memory another value has taken over.
  llvm::DenseSet<Value> takenOver;
};

} // namespace

/// Whether the planner can give memory to a value of this type.
static LogicalResult verifyType(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && !tensor.hasStaticShape())
    return op->emitOpError("memory is planned for static shapes, given ")
           << type;
  if (tensor && getTensorBytes(tensor) > kMaxBytes)
    return op->emitOpError("needs more memory than can be addressed for ")
           << type;
  return success();
}

LogicalResult MemoryPlanner::findLives() {
  if (!llvm::hasSingleElement(main.getBody()))
    return main.emitOpError("expects one block, given ")
           << main.getBody().getBlocks().size();
  int64_t time = 0;
  for (Operation &op : main.getBody().front()) {
    for (Type type : op.getResultTypes())
      if (failed(verifyType(&op, type)))
        return failure();
    if (auto call = dyn_cast<func::CallOp>(op)) {
      for (Value operand : call.getOperands())
        lastRead[getRoot(operand)] = time;
      ++time;
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
  if (takenOver.contains(root) || returned.contains(root) ||
      lastRead.lookup(root) != time)
    return false;
  auto argument = dyn_cast<BlockArgument>(root);
  return !argument || main.getArgAttr(argument.getArgNumber(),
                                      "metaop.donatable") != nullptr;
}

std::optional<SlotAttr> MemoryPlanner::tryInPlace(func::CallOp call,
                                                  KernelOp kernel,
                                                  OpResult result,
                                                  int64_t time) {
  auto type = cast<RankedTensorType>(result.getType());
  bool isReturned = returned.contains(result);
  for (Value operand : call.getOperands()) {
    Value root = getRoot(operand);
    auto rootType = dyn_cast<RankedTensorType>(root.getType());
    if (!rootType || !mayOverwrite(root, time) ||
        getTensorBytes(rootType) != getTensorBytes(type))
      continue;
    // A returned value must not stay in the arena.
    SlotAttr slot = slots.lookup(root);
    if (isReturned && slot.getKind() == SlotKind::Arena)
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
    return slot;
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
  MLIRContext *ctx = call.getContext();
  SmallVector<Attribute> callSlots;
  for (OpResult result : call->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    std::optional<SlotAttr> slot = tryInPlace(call, kernel, result, time);
    if (!slot) {
      if (auto it = returned.find(result); it != returned.end())
        slot = SlotAttr::get(ctx, SlotKind::Result, it->second);
      else
        slot = SlotAttr::get(ctx, SlotKind::Arena,
                             arena.allocate(getTensorBytes(type)));
      if (arena.getSize() > kMaxBytes)
        return call.emitOpError("needs more memory than can be addressed");
    }
    slots[result] = *slot;
    callSlots.push_back(*slot);
  }
  call->setAttr("metaop.slots", ArrayAttr::get(ctx, callSlots));

  llvm::SmallDenseSet<Value> dying;
  for (Value operand : call.getOperands()) {
    Value root = getRoot(operand);
    if (lastRead.lookup(root) == time && !takenOver.contains(root))
      dying.insert(root);
  }
  for (OpResult result : call->getResults())
    if (!lastRead.contains(result) && !returned.contains(result))
      dying.insert(result);
  for (Value root : dying)
    if (SlotAttr slot = slots.lookup(root);
        slot && slot.getKind() == SlotKind::Arena)
      arena.free(slot.getIndex());
  return success();
}

LogicalResult MemoryPlanner::plan() {
  if (failed(findLives()))
    return failure();
  MLIRContext *ctx = main.getContext();
  for (BlockArgument argument : main.getArguments())
    slots[argument] =
        SlotAttr::get(ctx, SlotKind::Argument, argument.getArgNumber());
  int64_t time = 0;
  for (auto call : main.getBody().front().getOps<func::CallOp>())
    if (failed(planCall(call, time++)))
      return failure();
  auto end = cast<func::ReturnOp>(main.getBody().front().getTerminator());
  SmallVector<Attribute> resultSlots;
  for (Value operand : end.getOperands())
    resultSlots.push_back(slots.lookup(getRoot(operand)));
  Builder b(ctx);
  main->setAttr("metaop.results", b.getArrayAttr(resultSlots));
  main->setAttr("metaop.arena_bytes", b.getI64IntegerAttr(arena.getSize()));
  return success();
}

namespace {
struct PlanMemoryPass : metaop::impl::PlanMemoryPassBase<PlanMemoryPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto main = symbols.lookup<func::FuncOp>("main");
    if (!main || main.isDeclaration()) {
      getOperation().emitError("expects a function @main");
      return signalPassFailure();
    }
    if (failed(MemoryPlanner(main, symbols).plan()))
      signalPassFailure();
  }
};
} // namespace
