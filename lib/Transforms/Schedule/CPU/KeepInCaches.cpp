//===- KeepInCaches.cpp - Results in place are stored in caches -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory is planned, and each call says where its results lie. A result that
// lies where an operand does is written in place: what a call reads lives until
// it is done, so nothing else is there. Slots of pointers say nothing of that,
// since a pointer never is what a result takes over. Where a pointer goes along
// rows that are no whole lines, some of these begin inside of a line.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_KEEPINCACHESPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
/// Facts of one of a kernel's results, by its calls.
struct Stores {
  /// Each call writes it in place.
  bool areInPlace = true;
  /// Some call has it begin inside of a cache line.
  bool areUnaligned = false;
};

struct KeepInCachesPass : metaop::impl::KeepInCachesPassBase<KeepInCachesPass> {
  void runOnOperation() override;
};
} // namespace

/// Returns where the memory plan has put a value; null if it does not say so of
/// the value alone.
static SlotAttr findSlot(Value value) {
  while (auto view = value.getDefiningOp<ViewOpInterface>())
    value = view->getOperand(0);
  auto result = dyn_cast<OpResult>(value);
  if (!result) {
    auto argument = cast<BlockArgument>(value);
    bool isOfProgram = isa<func::FuncOp>(argument.getOwner()->getParentOp());
    return isOfProgram ? SlotAttr::get(value.getContext(), SlotKind::Argument,
                                       argument.getArgNumber(), 0, 0, 0)
                       : SlotAttr();
  }
  Operation *step = result.getOwner();
  auto slots = step->getAttrOfType<ArrayAttr>("metaop.slots");
  // A routine may leave out what nobody reads.
  unsigned number =
      llvm::count_if(step->getResults().take_front(result.getResultNumber()),
                     [&](OpResult before) {
                       auto routine = dyn_cast<RoutineOpInterface>(step);
                       return !routine || routine.makes(before);
                     });
  if (!slots || number >= slots.size())
    return nullptr;
  return dyn_cast<SlotAttr>(slots[number]);
}

static bool isInPlace(func::CallOp call, SlotAttr slot) {
  return slot.getKind() != SlotKind::Pointer &&
         llvm::any_of(call.getOperands(), [slot](Value operand) {
           return findSlot(operand) == slot;
         });
}

/// Returns true if a value begins where no line does. Slots of the arena are
/// numbered by bytes.
static bool isUnaligned(SlotAttr slot) {
  int64_t place =
      slot.getKind() == SlotKind::Arena ? slot.getIndex() : slot.getOffset();
  return place % kLineBytes != 0;
}

/// Returns the pointers that scans have to rows which do not all begin at
/// lines.
static llvm::DenseSet<int64_t> findUnalignedRows(ModuleOp module) {
  llvm::DenseSet<int64_t> pointers;
  module.walk([&](ScanOp loop) {
    auto attrs = loop->getAttrOfType<ArrayAttr>(
        MetaOpDialect::RowsAttrHelper::getNameStr());
    if (!attrs)
      return;
    auto made = attrs.getValue().drop_front(loop.getRows().size());
    for (auto [slots, row] : llvm::zip_equal(made, loop.getYieldedRows()))
      if (countBytes(row.getType()) % kLineBytes != 0)
        pointers.insert(cast<SlotAttr>(cast<ArrayAttr>(slots)[0]).getIndex());
  });
  return pointers;
}

/// Leaves the results of a stage to the caches of which `stores` says so.
static void keepInCaches(OpResult result, const Stores &stores) {
  auto stage = dyn_cast<FusedOp>(result.getOwner());
  ScheduleAttr schedule = stage ? stage.getScheduleAttr() : ScheduleAttr();
  if (!(stores.areInPlace || stores.areUnaligned) || !schedule ||
      getOverrideLine(stage.getLoc()))
    return;
  auto streamed = llvm::to_vector(schedule.getStream());
  llvm::erase(streamed, result.getResultNumber());
  stage.setScheduleAttr(schedule.withStream(streamed));
}

void KeepInCachesPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  llvm::DenseSet<int64_t> unalignedRows = findUnalignedRows(getOperation());
  llvm::MapVector<Value, Stores> storesOf;
  getOperation().walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return;
    auto kernels = callee.getBody().front().getOps<KernelOp>();
    if (kernels.empty())
      return;
    KernelOp kernel = *kernels.begin();
    for (OpResult result : call->getResults()) {
      SlotAttr slot = findSlot(result);
      if (!slot)
        continue;
      Stores &stores =
          storesOf[kernel.getYield().getOperand(result.getResultNumber())];
      stores.areInPlace &= isInPlace(call, slot);
      stores.areUnaligned |=
          isUnaligned(slot) || (slot.getKind() == SlotKind::Pointer &&
                                unalignedRows.contains(slot.getIndex()));
    }
  });
  for (auto [value, stores] : storesOf)
    if (auto result = dyn_cast<OpResult>(value))
      keepInCaches(result, stores);
}
