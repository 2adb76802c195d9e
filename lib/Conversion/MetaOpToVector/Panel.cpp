//===- Panel.cpp - What a contraction packs on its way --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Panel.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Transforms/Schedule/SharedLoops.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// The reads of the reader that are of what the writer makes.
static bool isOfWriter(const StageRead &read, FusedOp reader, FusedOp writer) {
  return isa<BlockArgument>(read.source) &&
         getOuterValue(reader, read.source).getDefiningOp() ==
             writer.getOperation();
}

FailureOr<Panel> Panel::build(const ScheduledStage &writer,
                              const ScheduledStage &reader) {
  FusedOp op = reader.stage.op, from = writer.stage.op;
  const auto *read = llvm::find_if(reader.stage.reads, [&](const auto &read) {
    return isOfWriter(read, op, from);
  });
  if (writer.stage.writes.size() != 1 || writer.stage.writes.front().kind ||
      read == reader.stage.reads.end() || read->place.isGuarded())
    return op.emitOpError("shares blocks of loops with a stage that is not the "
                          "packing of one of its factors");
  Panel panel;
  int64_t shared = reader.schedule.getShared();
  auto dims = llvm::zip(writer.stage.writes.front().map.getResults(),
                        read->map.getResults());
  for (auto [mine, other] : dims) {
    auto from = dyn_cast<AffineDimExpr>(mine);
    auto to = dyn_cast<AffineDimExpr>(other);
    if (!from || !to)
      return op.emitOpError("shares blocks of loops with a stage that writes "
                            "or is read along no loop");
    Index index{from.getPosition(), to.getPosition()};
    index.extent = writer.stage.getStaticExtent(index.writer);
    if (index.extent != reader.stage.getStaticExtent(index.reader))
      return op.emitOpError("shares blocks of loops of different extents");
    panel.indices.push_back(index);
  }
  // The same blocks, from outside to inside.
  if (shared > static_cast<int64_t>(writer.schedule.getNumLevels()))
    return op.emitOpError("shares more loops than there are");
  for (int64_t depth = 0; depth < shared; ++depth) {
    LoopLevel mine = writer.schedule.getLevels()[depth];
    LoopLevel other = reader.schedule.getLevels()[depth];
    auto *index = llvm::find_if(panel.indices, [&](const Index &index) {
      return index.writer == mine.dim && index.reader == other.dim;
    });
    if (index == panel.indices.end() || mine.step != other.step ||
        mine.kind != other.kind)
      return op.emitOpError("shares loop ")
             << depth << " with a stage that has another one there";
    index->isBlocked = true;
    index->extent = std::min(index->extent, mine.step);
  }
  for (Index &index : llvm::reverse(panel.indices)) {
    index.stride = panel.numElements;
    panel.numElements = multiplyCounts(panel.numElements, index.extent);
  }
  int64_t bytes = getElementBytes(read->value.getType());
  if (panel.numElements > kMaxPanelBytes / bytes)
    return op.emitOpError("packs ")
           << panel.numElements << " elements at a time, but at most "
           << kMaxPanelBytes << " bytes fit";
  return panel;
}

void Panel::rewritePlaces(Stage &writer, Stage &reader) const {
  MLIRContext *ctx = writer.getContext();
  auto sum = [&](auto getLoop) {
    AffineExpr offset = getAffineConstantExpr(0, ctx);
    for (const Index &index : indices)
      offset = offset + getAffineDimExpr(getLoop(index), ctx) * index.stride;
    return offset;
  };
  writer.writes.front().place.offset =
      sum([](const Index &index) { return index.writer; });
  for (StageRead &read : reader.reads)
    if (isOfWriter(read, reader.op, writer.op))
      read.place.offset = sum([](const Index &index) { return index.reader; });
}
