//===- IdentityFill.cpp - What reductions in memory start from ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A result that is combined in memory starts from the identity, and one that is
// combined over no iteration is the identity. Inside of open loops a projection
// is walked by the loops that it keeps; any other result by its own indices, of
// which those that are open loops are fixed. Loops of which a part is open run
// over that.
//
//===----------------------------------------------------------------------===//

#include "IdentityFill.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Conversion/StageBody/BodyEmitter.h"
#include "MetaOps/Conversion/StageBody/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {
class IdentityFill {
public:
  IdentityFill(OpBuilder &b, const Stage &stage, const StageWrite &write,
               const StageBindings &bindings, ArrayRef<Value> openLoops,
               ArrayRef<PartOfLoop> parts)
      : b(b), loc(stage.op->getLoc()), stage(stage), write(write),
        bindings(bindings), loops(openLoops), parts(parts),
        zero(arith::ConstantIndexOp::create(b, loc, 0)),
        one(arith::ConstantIndexOp::create(b, loc, 1)) {
    loops.resize(stage.getNumLoops());
  }

  void fillByLoops();
  void fillByIndices();

private:
  Value openFor(Value begin, Value end);
  Value openLoop(unsigned loop, AffineExpr extent);
  Value emitNumber(AffineExpr expr) {
    return emitAffine(b, loc, expr, {}, bindings.symbols);
  }
  Value emitIdentity();
  void store(Value identity, Value offset) {
    memref::StoreOp::create(b, loc, identity, bindings.results[write.result],
                            offset);
  }

  OpBuilder &b;
  Location loc;
  const Stage &stage;
  const StageWrite &write;
  const StageBindings &bindings;
  SmallVector<Value> loops;
  ArrayRef<PartOfLoop> parts;
  Value zero, one;
};
} // namespace

/// Opens a loop; the caller goes back to where it stands.
Value IdentityFill::openFor(Value begin, Value end) {
  auto loop = scf::ForOp::create(b, loc, begin, end, one);
  b.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

/// Opens the part of a loop that is to be filled.
Value IdentityFill::openLoop(unsigned loop, AffineExpr extent) {
  for (const PartOfLoop &part : parts)
    if (part.loop == static_cast<int64_t>(loop))
      return openFor(part.range.begin, part.range.end);
  return openFor(zero, emitNumber(extent));
}

/// The identity as memory holds it.
Value IdentityFill::emitIdentity() {
  Type element = getElementTypeOrSelf(write.value);
  Reduction reduction(*write.kind, element);
  Value identity = reduction.emitIdentity(b, loc, /*lanes=*/1);
  return toMemoryType(b, loc, reduction.emitNarrow(b, loc, identity), element);
}

void IdentityFill::fillByLoops() {
  for (auto [loop, variable] : llvm::enumerate(loops))
    if (!variable)
      variable =
          write.loops.test(loop) ? openLoop(loop, stage.extents[loop]) : zero;
  BodyEmitter body(b, stage, bindings, /*lanes=*/1);
  LoopIteration at(b, loc, loops);
  Value offset = body.emitExpr(write.place.offset, at);
  Value identity = emitIdentity();
  // The loops of a projection may number more than there is.
  Condition inRange;
  body.addChecks(write.place.rangeChecks, at, inRange);
  emitIf(b, loc, inRange.scalar, [&] { store(identity, offset); });
}

void IdentityFill::fillByIndices() {
  Value offset = zero;
  for (auto [index, extent, stride] :
       llvm::zip_equal(write.map.getResults(), write.shape, write.strides)) {
    auto loop = dyn_cast<AffineDimExpr>(index);
    Value at = loop ? loops[loop.getPosition()] : Value();
    if (!at)
      at = loop ? openLoop(loop.getPosition(), extent)
                : openFor(zero, emitNumber(extent));
    offset = arith::AddIOp::create(
        b, loc, offset, arith::MulIOp::create(b, loc, at, emitNumber(stride)));
  }
  store(emitIdentity(), offset);
}

void metaop::fillWithIdentity(OpBuilder &b, const Stage &stage,
                              const StageWrite &write,
                              const StageBindings &bindings) {
  OpBuilder::InsertionGuard insertion(b);
  IdentityFill(b, stage, write, bindings, {}, {}).fillByIndices();
}

void metaop::fillInsideLoops(OpBuilder &b, const Stage &stage,
                             const StageWrite &write,
                             const StageBindings &bindings,
                             ArrayRef<Value> openLoops,
                             ArrayRef<PartOfLoop> parts) {
  OpBuilder::InsertionGuard insertion(b);
  IdentityFill fill(b, stage, write, bindings, openLoops, parts);
  write.isProjection ? fill.fillByLoops() : fill.fillByIndices();
}
