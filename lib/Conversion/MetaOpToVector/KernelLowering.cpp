//===- KernelLowering.cpp - metaop.kernel to loops over buffers -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that holds one metaop.kernel becomes a function over buffers and
// numbers (KernelFrame.h), with two more:
//
//   func.func @k(%buffers: memref<?xT>..., %numbers: index...,
//                %begin: index, %end: index)
//
// [begin, end) is the part of the kernel's parallel range that this call does:
// the leading loops that all stages mark as parallel, as one range. The length
// of the whole range stands in the attribute `metaop.entry` (where it is
// known), with the predicted picoseconds of one step, and whether the kernel is
// to run where denormal numbers count as 0.
//
// The body is a tree of the stages' loops (TreeKernel.cpp), or those of a
// contraction in blocks (BlockedKernel.cpp).
//
//===----------------------------------------------------------------------===//

#include "BlockedKernel.h"
#include "IdentityFill.h"
#include "LocalBuffers.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Conversion/StageBody/KernelFrame.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Target/Description/CostModel.h"
#include "MetaOps/Transforms/Schedule/CPU/VerifyCpuKernel.h"
#include "MetaOps/Transforms/Schedule/Report/MeasureKernel.h"
#include "TreeKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_CONVERTMETAOPTOVECTORPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {

class KernelLowering {
public:
  KernelLowering(func::FuncOp function, KernelOp kernel)
      : function(function), kernel(kernel), frame(function, kernel),
        b(function.getContext()), loc(kernel.getLoc()) {}

  LogicalResult lower();

private:
  LogicalResult readStages();
  void createFunction();
  void bindBuffers();
  FailureOr<StageBindings> bindStage(const ScheduledStage &scheduled) {
    return frame.bindStage(b, scheduled.stage,
                           function->getParentOfType<ModuleOp>());
  }

  int64_t countWork() const;
  void describeEntry();
  std::optional<int64_t> getRange() const;
  LogicalResult emitStages();
  LogicalResult fillEmptyStages();

  func::FuncOp function;
  KernelOp kernel;
  KernelFrame frame;
  OpBuilder b;
  Location loc;
  func::FuncOp lowered;
  SmallVector<ScheduledStage, 1> stages;
  /// Picoseconds that one thread is predicted to take.
  int64_t work = 0;
  /// The stages by what they are, where the kernel is a contraction in blocks.
  std::optional<BlockedStages> blocked;
  std::optional<BlockedKernel> blockedKernel;
  std::optional<TreeKernel> treeKernel;
};

} // namespace

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::readStages() {
  auto read = readScheduledStages(kernel);
  if (failed(read))
    return failure();
  stages = std::move(*read);
  // Stages without iterations count, too, and will be taken out.
  work = countWork();
  openSharedLoops(stages, countParallelLoops(stages));
  if (failed(verifyLoopTree(stages)))
    return failure();
  // A stage without iterations is no part of any loop.
  if (llvm::none_of(stages, [](auto &s) { return s.stage.isEmpty(); }))
    blocked = BlockedStages::find(stages);
  if (blocked)
    blockedKernel.emplace(b, loc, *blocked);
  treeKernel.emplace(b, loc, stages);
  return success();
}

//===----------------------------------------------------------------------===//
// The function and its buffers
//===----------------------------------------------------------------------===//

void KernelLowering::createFunction() {
  SmallVector<Type> types = frame.getTypes();
  types.append(2, b.getIndexType());
  b.setInsertionPoint(function);
  lowered = func::FuncOp::create(b, function.getLoc(), function.getName(),
                                 b.getFunctionType(types, {}));
  b.setInsertionPointToStart(lowered.addEntryBlock());
  frame.bind(lowered.getArguments().drop_back(2));
}

void KernelLowering::bindBuffers() {
  if (blocked)
    blockedKernel->bindBuffers(frame.getBuffers());
  else
    bindLocalBuffers(b, loc, stages, frame.getBuffers());
}

//===----------------------------------------------------------------------===//
// Its body
//===----------------------------------------------------------------------===//

/// Returns the time that the cost model predicts for one thread, in
/// picoseconds.
int64_t KernelLowering::countWork() const {
  MachineFigures machine;
  machine.callNanoseconds = 0;
  // Schedules have the widths of vectors; f64 and i64 alone are clamped.
  KernelWork measured = measureStages(
      kernel,
      llvm::map_to_vector(stages, [](const auto &s) { return &s.stage; }),
      Processor());
  double picoseconds = predictSeconds(measured, machine) * 1e12;
  return static_cast<int64_t>(std::min(picoseconds, 1e18));
}

/// Emits the stages without iterations and takes them out of the loop tree.
LogicalResult KernelLowering::fillEmptyStages() {
  for (auto [i, scheduled] : llvm::enumerate(stages)) {
    if (!scheduled.stage.isEmpty())
      continue;
    FailureOr<StageBindings> bindings = bindStage(scheduled);
    if (failed(bindings))
      return failure();
    // A reduction over nothing is the identity.
    for (const StageWrite &write : scheduled.stage.writes)
      if (write.kind)
        fillWithIdentity(b, scheduled.stage, write, *bindings);
    if (i + 1 == stages.size())
      break;
    // The next stage shares with the previous one what both share with this.
    ScheduleAttr next = stages[i + 1].schedule;
    stages[i + 1].schedule = next.withShared(
        std::min(next.getShared(), scheduled.schedule.getShared()));
  }
  llvm::erase_if(stages, [](auto &s) { return s.stage.isEmpty(); });
  return success();
}

/// Returns the length of the parallel range; nothing if it depends on operands.
std::optional<int64_t> KernelLowering::getRange() const {
  if (stages.empty())
    return 1;
  int64_t range =
      blocked ? ContractionEmitter::getParallelRange(
                    blocked->contraction->stage, blocked->contraction->schedule)
              : treeKernel->getRange();
  return ShapedType::isDynamic(range) ? std::nullopt : std::optional(range);
}

/// Marks the function as a kernel, and says what its calls have to know.
void KernelLowering::describeEntry() {
  MLIRContext *context = b.getContext();
  std::optional<int64_t> range = getRange();
  int64_t workPerStep =
      range && !stages.empty() ? work / std::max<int64_t>(*range, 1) : 0;
  // A product of a denormal number takes as long as a hundred others.
  bool flushesDenormals = blocked && !stages.empty();
  MetaOpDialect::KernelAttrHelper(context).setAttr(lowered, b.getUnitAttr());
  MetaOpDialect::EntryAttrHelper(context).setAttr(
      lowered,
      EntryAttr::get(context, frame.getNumBuffers(), range, workPerStep,
                     /*scratch=*/{}, flushesDenormals));
}

LogicalResult KernelLowering::emitStages() {
  if (stages.empty())
    return success();
  auto bind = [this](const ScheduledStage &stage) { return bindStage(stage); };
  auto part = lowered.getArguments().take_back(2);
  return blocked ? blockedKernel->emit(part[0], part[1], bind)
                 : treeKernel->emit(part[0], part[1], bind);
}

LogicalResult KernelLowering::lower() {
  if (failed(frame.verify()) || failed(readStages()))
    return failure();
  createFunction();
  bindBuffers();
  if (failed(fillEmptyStages()))
    return failure();
  describeEntry();
  if (failed(emitStages()))
    return failure();
  func::ReturnOp::create(b, loc);
  markFastMath(lowered);
  function.erase();
  return success();
}

namespace {
struct ConvertMetaOpToVectorPass
    : metaop::impl::ConvertMetaOpToVectorPassBase<ConvertMetaOpToVectorPass> {
  void runOnOperation() override {
    if (failed(lowerKernels(getOperation(),
                            [](func::FuncOp function, KernelOp kernel) {
                              return KernelLowering(function, kernel).lower();
                            })))
      signalPassFailure();
  }
};
} // namespace
