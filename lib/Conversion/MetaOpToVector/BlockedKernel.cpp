//===- BlockedKernel.cpp - A contraction in blocks, and its neighbours ----===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage that packs and those that are epilogues run inside of loops of the
// contraction, over the block that is open there. What passes between them and
// the contraction is in memory for one block (SharedBlock.h), on the stack. All
// stages count the places of its elements from where the block begins in the
// whole tensor: the origin, which is a further symbol of each stage. Epilogues
// are a loop tree inside of the block (TreeKernel.h), with local memory of
// their own for what passes between them.
//
// Sums that blocks of the sum outside of the epilogue leave incomplete lie in
// the memory of one of its results, element by element where the results will
// be. Sums that are a result of the kernel lie there.
//
//===----------------------------------------------------------------------===//

#include "BlockedKernel.h"
#include "LocalBuffers.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"
#include "TreeKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The places of the elements of a block, in the loops of a stage that number
/// it, and the symbol behind so many of the stage's.
static AffineExpr
getPlace(const SharedBlock &block, const Stage &stage, unsigned symbolsBefore,
         llvm::function_ref<AffineExpr(const SharedBlock::Index &)> getIndex) {
  MLIRContext *ctx = stage.getContext();
  AffineExpr offset = getAffineConstantExpr(0, ctx);
  for (const SharedBlock::Index &index : block.indices)
    offset = offset + getIndex(index) * index.stride;
  return offset -
         getAffineSymbolExpr(stage.symbols.size() + symbolsBefore, ctx);
}

/// Moves the places at which a stage reads another one.
static void movePlaces(Stage &reader, FusedOp writer, AffineExpr place) {
  for (StageRead &read : reader.reads)
    if (getOuterProducer(reader.op, read.source) == writer)
      read.place.offset = place;
}

void BlockedKernel::bindBuffers(llvm::DenseMap<Value, Value> &buffers) {
  Stage &contraction = stages.contraction->stage;
  auto inOther = [&](const SharedBlock::Index &index) {
    return getAffineDimExpr(index.loop, b.getContext());
  };
  auto inContraction = [](const SharedBlock::Index &index) {
    return index.place;
  };
  for (ScheduledStage *packing : stages.packings) {
    FailureOr<SharedBlock> panel = stages.buildPanel(*packing);
    assert(succeeded(panel) && "schedules are verified");
    StageWrite &write = packing->stage.writes.front();
    FusedOp op = packing->stage.op;
    write.place.offset = getPlace(*panel, packing->stage, 0, inOther);
    movePlaces(contraction, op,
               getPlace(*panel, contraction, panels.size(), inContraction));
    buffers[op->getResult(write.result)] = emitLocalBuffer(
        b, loc, getElementTypeOrSelf(write.value), panel->numElements);
    panels.push_back(*panel);
  }
  if (!stages.epilogues.empty())
    bindEpilogues(buffers);
}

void BlockedKernel::bindEpilogues(llvm::DenseMap<Value, Value> &buffers) {
  FailureOr<EpilogueChain> built = stages.buildChain();
  assert(succeeded(built) && "schedules are verified");
  chain = *built;
  inside = stages.getInside(*chain);
  Stage &contraction = stages.contraction->stage;
  StageWrite &write = contraction.writes.front();
  FusedOp op = contraction.op;
  Value result = op->getResult(write.result);
  const SharedBlock &sums = chain->blocks.front();
  if (leavesKernel(op, write.result)) {
    // They lie there.
  } else if (haveReducedBlocks(contraction, stages.getEpilogueLevels())) {
    FusedOp behind = inside.front().stage.op;
    buffers[result] =
        buffers.lookup(behind->getResult(*findResultForSums(op, behind)));
  } else {
    write.place.offset =
        getPlace(sums, contraction, panels.size(),
                 [](const SharedBlock::Index &index) { return index.place; });
    for (auto [scheduled, block] : llvm::zip_equal(inside, chain->blocks))
      movePlaces(scheduled.stage, op,
                 getPlace(block, scheduled.stage, 0, [&](const auto &index) {
                   return getAffineDimExpr(index.loop, b.getContext());
                 }));
    buffers[result] = emitLocalBuffer(b, loc, getElementTypeOrSelf(write.value),
                                      sums.numElements);
    hasSumsBuffer = true;
  }
  bindLocalBuffers(b, loc, inside, buffers);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The part of a dimension that the open block covers.
std::pair<Value, Value> BlockedKernel::getRange(const SharedBlock::Index &index,
                                                Spans spans) {
  if (auto dim = dyn_cast<AffineDimExpr>(index.place))
    return {spans[dim.getPosition()].begin, spans[dim.getPosition()].end};
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> begins, lasts;
  for (const ContractionEmitter::Span &span : spans) {
    begins.push_back(span.begin);
    lasts.push_back(arith::SubIOp::create(b, loc, span.end, one));
  }
  Value begin = emitAffine(b, loc, index.place, begins, {});
  Value end = emitAffine(b, loc, index.place + 1, lasts, {});
  Value whole = arith::ConstantIndexOp::create(b, loc, index.whole);
  return {begin, arith::MinSIOp::create(b, loc, end, whole)};
}

/// The place of the open block's first element, in the strides of the block.
Value BlockedKernel::emitOrigin(const SharedBlock &block, Spans spans) {
  Value origin = arith::ConstantIndexOp::create(b, loc, 0);
  for (const SharedBlock::Index &index : block.indices) {
    if (index.extent == index.whole)
      continue;
    Value stride = arith::ConstantIndexOp::create(b, loc, index.stride);
    origin = arith::AddIOp::create(
        b, loc, origin,
        arith::MulIOp::create(b, loc, getRange(index, spans).first, stride));
  }
  return origin;
}

void BlockedKernel::restrict(StageEmitter &emitter, const SharedBlock &block,
                             Spans spans) {
  for (const SharedBlock::Index &index : block.indices)
    if (index.extent != index.whole) {
      auto [begin, end] = getRange(index, spans);
      emitter.restrictLoop(index.loop, begin, end);
    }
}

/// The loops of a packing inside of the shared ones, over the open block.
void BlockedKernel::emitPacking(const ScheduledStage &scheduled,
                                ArrayRef<LoopLevel> outer,
                                const SharedBlock &block,
                                StageBindings bindings, Spans spans) {
  ScheduleAttr own = dropOuterLevels(
      scheduled.schedule, block.translate(outer).size(), /*shared=*/0);
  StageEmitter emitter(b, scheduled.stage, own, std::move(bindings),
                       /*outer=*/{});
  restrict(emitter, block, spans);
  emitter.emitNest(0);
}

/// The loops of the epilogues over the open block.
void BlockedKernel::emitEpilogues(Spans spans) {
  TreeKernel tree(b, loc, inside);
  unsigned next = 0;
  auto bind = [&](const ScheduledStage &) -> FailureOr<StageBindings> {
    StageBindings bindings = insideBindings[next++];
    if (hasSumsBuffer)
      bindings.symbols.push_back(sumsOrigin);
    return bindings;
  };
  // Binding cannot fail here.
  (void)tree.createEmitters(bind);
  for (auto [scheduled, block] : llvm::zip_equal(inside, chain->blocks))
    restrict(tree.getEmitter(scheduled), block, spans);
  tree.emitStages();
}

LogicalResult BlockedKernel::emit(Value begin, Value end, BindFn bind) {
  FailureOr<StageBindings> bindings = bind(*stages.contraction);
  if (failed(bindings))
    return failure();
  SmallVector<StageBindings, 2> packings;
  for (const ScheduledStage *packing : stages.packings) {
    FailureOr<StageBindings> bound = bind(*packing);
    if (failed(bound))
      return failure();
    packings.push_back(std::move(*bound));
  }
  for (const ScheduledStage &epilogue : inside) {
    FailureOr<StageBindings> bound = bind(epilogue);
    if (failed(bound))
      return failure();
    insideBindings.push_back(std::move(*bound));
  }
  using Origin = ContractionEmitter::Origin;
  unsigned firstOrigin = bindings->symbols.size();
  assert(firstOrigin == stages.contraction->stage.symbols.size() &&
         "origins are behind the stage's own symbols");
  bindings->symbols.resize(firstOrigin + panels.size() + hasSumsBuffer);
  ContractionEmitter emitter(b, stages.contraction->stage,
                             stages.contraction->schedule,
                             std::move(*bindings));
  for (unsigned i = 0; i < packings.size(); ++i) {
    const ScheduledStage &packing = *stages.packings[i];
    ArrayRef<LoopLevel> outer = stages.getPackingLevels(packing);
    emitter.packInside(outer.size(), [&, i, outer](Spans spans) {
      Value origin = emitOrigin(panels[i], spans);
      StageBindings own = packings[i];
      own.symbols.push_back(origin);
      emitPacking(*stages.packings[i], outer, panels[i], std::move(own), spans);
      return Origin{firstOrigin + i, origin};
    });
  }
  if (chain) {
    auto open = [&](Spans spans) -> std::optional<Origin> {
      if (!hasSumsBuffer)
        return std::nullopt;
      sumsOrigin = emitOrigin(chain->blocks.front(), spans);
      return Origin{static_cast<unsigned>(firstOrigin + panels.size()),
                    sumsOrigin};
    };
    emitter.finishInside(stages.getEpilogueLevels().size(), open,
                         [&](Spans spans) { emitEpilogues(spans); });
  }
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, begin, end, one);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  emitter.emit(loop.getInductionVar());
  return success();
}
