//===- StagedReads.cpp - Reads through shared memory ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The box of a read is what the iterations read that threads divide: it has a
// side for each dimension that the place depends on, as long as one iteration
// of the last level before the threads goes. Its elements are numbered with the
// side last along which the tensor is contiguous; thread t copies the elements
// t, t + threads, and so on, all of them loaded before the first is stored.
// Shared memory has them in this order, with unused elements behind each row of
// that side, or behind as many short rows as the banks hold (StagedLayout), so
// that threads along another side use different banks.
//
// Elements behind the end of a dimension are the read's fill value: the threads
// read it without asking.
//
//===----------------------------------------------------------------------===//

#include "StagedReads.h"
#include "MetaOps/Conversion/StageBody/Conditions.h"
#include "MetaOps/Conversion/StageBody/LoopRange.h"
#include "MetaOps/Conversion/StageBody/MemoryAccess.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// Elements that a thread has on their way at a time.
static constexpr int64_t kMaxInFlight = 16;

namespace {
/// An iteration that there may not be.
class BoxPoint : public LoopIteration {
public:
  BoxPoint(OpBuilder &b, Location loc, ArrayRef<Value> positions, Value exists)
      : LoopIteration(b, loc, positions), exists(exists) {}
  Value emitExists() const override { return exists; }

private:
  Value exists;
};
} // namespace

int64_t StagedReads::Box::getSize() const {
  int64_t size = 1;
  for (const Side &side : sides)
    size *= side.length;
  return size;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// The last level of a dimension before the threads.
static std::optional<unsigned> findSpanLevel(const ThreadLevels &levels,
                                             unsigned dim) {
  for (unsigned depth = levels.getThreadDepth(); depth-- > 0;)
    if (levels.getLevel(depth).dim == dim)
      return depth;
  return std::nullopt;
}

/// Returns how far the block goes along a dimension before the threads divide
/// it; 0 if that is not known.
static int64_t getSpan(const ThreadLevels &levels, unsigned dim) {
  if (auto depth = findSpanLevel(levels, dim))
    return levels.getLevel(*depth).step;
  int64_t extent = levels.getStage().getStaticExtent(dim);
  return ShapedType::isDynamic(extent) ? 0 : extent;
}

StagedReads::Box StagedReads::makeBox(GpuFunction &function,
                                      const ThreadLevels &levels,
                                      const StageRead &read,
                                      int64_t pad) const {
  assert(!read.isIndirect && !stage.isIndirect(read.place) &&
         "no tensor decides the places of what is staged: G10");
  Box box;
  box.value = read.value;
  box.element = getElementTypeOrSelf(read.value.getType());
  llvm::SmallBitVector dims = stage.getLoopsOf(read.value);
  for (unsigned dim : dims.set_bits()) {
    int64_t span = getSpan(levels, dim);
    assert(span > 0 && "what is staged as a whole has a known extent: G10");
    auto depth = findSpanLevel(levels, dim);
    bool isWhole = !depth || levels.isInside(*depth);
    // Some blocks of a cluster may be behind the end, with all of their box.
    if (span > 1 || !isWhole)
      box.sides.push_back({dim, span, !isWhole});
  }
  // From the longest step in memory to the shortest one.
  auto getStep = [&](const Side &side) {
    std::optional<int64_t> step = stage.getStep(read.place.offset, side.dim);
    return step && *step != 0 ? std::abs(*step) : INT64_MAX;
  };
  llvm::sort(box.sides, [&](const Side &lhs, const Side &rhs) {
    return std::pair(-getStep(lhs), lhs.dim) <
           std::pair(-getStep(rhs), rhs.dim);
  });
  int64_t row = box.sides.empty() ? 1 : box.sides.back().length;
  box.layout = StagedLayout(row, getElementBytes(box.element), pad);
  box.memory = function.addShared(getMemoryType(box.element),
                                  box.layout.getSize(box.getSize() / row));
  return box;
}

/// Returns the element of the box that an iteration reads, and what is unused
/// before it.
AffineExpr StagedReads::getPlace(const Box &box) const {
  MLIRContext *context = box.memory.getContext();
  AffineExpr row = getAffineConstantExpr(0, context), inRow = row;
  int64_t rows = 1;
  for (const Side &side : llvm::reverse(box.sides)) {
    AffineExpr at = getAffineDimExpr(side.dim, context) -
                    getAffineSymbolExpr(firstSymbol + side.dim, context);
    if (&side == &box.sides.back()) {
      inRow = at;
      continue;
    }
    row = row + at * rows;
    rows *= side.length;
  }
  return row * box.layout.row + inRow +
         row.floorDiv(box.layout.rows) * box.layout.pad;
}

StagedReads StagedReads::create(GpuFunction &function, GpuStage &staged,
                                StageBindings &bindings) {
  StagedReads result(staged.stage);
  if (staged.schedule.getStaged().empty())
    return result;
  ThreadLevels levels(result.stage, staged.schedule);
  result.firstSymbol = bindings.symbols.size();
  unsigned numDims = levels.getNumDims();
  bindings.symbols.append(numDims, function.emitIndex(0));
  for (unsigned dim = 0; dim < numDims; ++dim)
    result.divisors.push_back(std::max<int64_t>(1, getSpan(levels, dim)));
  for (StagedRead entry : staged.schedule.getStaged()) {
    StageRead &read = staged.stage.reads[entry.read];
    Box box = result.makeBox(function, levels, read, entry.pad);
    read.place = {result.getPlace(box), {}, {}};
    read.source = box.memory;
    bindings.sources[box.memory] = box.memory;
    result.boxes.push_back(std::move(box));
  }
  return result;
}

void StagedReads::bindReads(ThreadTile &tile) const {
  for (auto [dim, divisor] : llvm::enumerate(divisors))
    tile.setDivisor(firstSymbol + dim, divisor);
  for (const Box &box : boxes)
    tile.setUnguarded(box.value);
}

bool StagedReads::contains(Value value) const {
  return llvm::any_of(boxes,
                      [&](const Box &box) { return box.value == value; });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Loads an element of the box; `place` becomes where it is to go.
Value StagedReads::emitLoad(GpuFunction &function,
                            const StageBindings &bindings, const Box &box,
                            Value number, ArrayRef<Value> origins,
                            Value &place) const {
  OpBuilder &b = function.getBuilder();
  Location loc = function.getLoc();
  SmallVector<Value> positions(origins);
  BodyEmitter emitter(b, stage, bindings, /*lanes=*/1);
  int64_t stride = 1;
  Value exists;
  for (const Side &side : llvm::reverse(box.sides)) {
    bool isFirst = &side == &box.sides.front();
    Value at =
        function.emitCoordinate(number, stride, isFirst ? 0 : side.length);
    stride *= side.length;
    Value &position = positions[side.dim];
    position = arith::AddIOp::create(b, loc, position, at);
    if (!side.mayExceed)
      continue;
    Value extent = emitter.emitExpr(stage.extents[side.dim],
                                    LoopIteration(b, loc, positions));
    exists = emitAnd(b, loc, exists,
                     arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           position, extent));
  }
  const StagedLayout &layout = box.layout;
  Value padded = function.emitCoordinate(number, layout.row * layout.rows,
                                         /*count=*/0);
  padded =
      arith::MulIOp::create(b, loc, padded, function.emitIndex(layout.pad));
  place = arith::AddIOp::create(b, loc, number, padded);
  Value value =
      emitter.emitValue(box.value, BoxPoint(b, loc, positions, exists));
  return toMemoryType(b, loc, value, box.element);
}

/// Copies `count` elements of each thread, from that with number `first` on;
/// the first `known` of them are in the box whatever the thread is. These are
/// all loaded before the first is stored.
void StagedReads::emitRound(GpuFunction &function,
                            const StageBindings &bindings, const Box &box,
                            ArrayRef<Value> origins, Value first, int64_t count,
                            int64_t known) const {
  OpBuilder &b = function.getBuilder();
  Location loc = function.getLoc();
  SmallVector<Value> values(count), places(count), numbers;
  auto load = [&](int64_t i) {
    values[i] =
        emitLoad(function, bindings, box, numbers[i], origins, places[i]);
  };
  for (int64_t i = 0; i < count; ++i) {
    Value distance = function.emitIndex(i * function.getNumThreads());
    numbers.push_back(arith::AddIOp::create(b, loc, first, distance));
    if (i < known)
      load(i);
  }
  for (int64_t i = 0; i < count; ++i) {
    Value isThere;
    if (i >= known)
      isThere =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, numbers[i],
                                function.emitIndex(box.getSize()));
    emitIf(b, loc, isThere, [&] {
      if (i >= known)
        load(i);
      memref::StoreOp::create(b, loc, values[i], box.memory, places[i]);
    });
  }
}

/// Copies a box, so many elements of each thread at a time.
void StagedReads::emitBox(GpuFunction &function, const StageBindings &bindings,
                          const Box &box, ArrayRef<Value> origins) const {
  OpBuilder &b = function.getBuilder();
  Location loc = function.getLoc();
  int64_t threads = function.getNumThreads();
  int64_t size = box.getSize(), whole = size / threads;
  int64_t looped =
      whole > kMaxInFlight ? whole / kMaxInFlight * kMaxInFlight : 0;
  Value first = function.getThread();
  if (looped > 0) {
    Value end = function.emitIndex(looped * threads);
    LoopRange range{function.emitIndex(0), end, std::nullopt};
    range.mayUnroll = false;
    emitFor(b, loc, range, function.emitIndex(threads * kMaxInFlight),
            [&](Value at) {
              emitRound(function, bindings, box, origins,
                        arith::AddIOp::create(b, loc, at, first), kMaxInFlight,
                        kMaxInFlight);
            });
    first = arith::AddIOp::create(b, loc, first, end);
  }
  emitRound(function, bindings, box, origins, first,
            llvm::divideCeil(size, threads) - looped, whole - looped);
}

void StagedReads::emit(GpuFunction &function, StageBindings &bindings,
                       ArrayRef<Value> origins, bool isRepeated) const {
  if (boxes.empty())
    return;
  for (auto [dim, origin] : llvm::enumerate(origins))
    bindings.symbols[firstSymbol + dim] = origin;
  // Nobody reads what was there before any more.
  if (isRepeated)
    function.emitBarrier();
  for (const Box &box : boxes)
    emitBox(function, bindings, box, origins);
  function.emitBarrier();
}
