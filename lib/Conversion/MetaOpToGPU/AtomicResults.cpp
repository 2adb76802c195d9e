//===- AtomicResults.cpp - Results that many threads combine --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each iteration combines its value with an element of the result, which was
// set to the identity before (a kernel of its own).
//
// Integers of 32 and 64 bits have an instruction for each kind but products. So
// have the largest and the smallest of floats, as integers: where the sign bit
// is not set, floats are ordered as signed integers, and otherwise as unsigned
// ones backwards. All threads see the same order whichever of both is used,
//
//   max: value >= 0 ? smax(bits) : umin(bits)
//   min: value >= 0 ? smin(bits) : umax(bits)
//
// and what is not a number is made the largest of that order, or the smallest.
// Everything else compares and swaps until nobody was faster.
//
//===----------------------------------------------------------------------===//

#include "AtomicResults.h"
#include "Addresses.h"
#include "FixedPointSums.h"
#include "MetaOps/Conversion/AtomicKinds.h"
#include "MetaOps/Conversion/StageBody/Conditions.h"
#include "MetaOps/Conversion/StageBody/MemoryAccess.h"
#include "MetaOps/Conversion/StageBody/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// Blocks of one GPU see each other's atomic accesses; the host is not asked.
static constexpr StringLiteral kScope = "device";

static void emitInstruction(OpBuilder &b, Location loc, LLVM::AtomicBinOp kind,
                            Value address, Value value) {
  LLVM::AtomicRMWOp::create(b, loc, kind, address, value,
                            LLVM::AtomicOrdering::monotonic, kScope);
}

/// Returns the instruction of a combiner, if there is one.
static std::optional<LLVM::AtomicBinOp> findInstruction(Combiner kind,
                                                        Type element) {
  std::optional<arith::AtomicRMWKind> known = getArithKind(kind, element);
  unsigned width = element.getIntOrFloatBitWidth();
  if (!known || (width != 32 && width != 64))
    return std::nullopt;
  return findAtomicInstruction(*known);
}

/// Combines by the largest or smallest of floats of 32 or 64 bits.
static void emitFloatExtreme(OpBuilder &b, Location loc, bool isMax,
                             Value address, Value value) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type type = b.getIntegerType(width);
  auto constant = [&](const llvm::APInt &bits) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, bits));
  };
  Value isNan =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  Value bits = arith::BitcastOp::create(b, loc, type, value);
  Value last = constant(isMax ? llvm::APInt::getSignedMaxValue(width)
                              : llvm::APInt::getAllOnes(width));
  bits = arith::SelectOp::create(b, loc, isNan, last, bits);
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bits,
                            constant(llvm::APInt::getZero(width)));
  auto ifOp = scf::IfOp::create(b, loc, isNegative, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  emitInstruction(b, loc,
                  isMax ? LLVM::AtomicBinOp::umin : LLVM::AtomicBinOp::umax,
                  address, bits);
  b.setInsertionPointToStart(ifOp.elseBlock());
  emitInstruction(b, loc,
                  isMax ? LLVM::AtomicBinOp::max : LLVM::AtomicBinOp::min,
                  address, bits);
}

Value metaop::emitAtomicLoad(OpBuilder &b, Location loc, Type type,
                             Value address) {
  return LLVM::LoadOp::create(
      b, loc, type, address, /*alignment=*/type.getIntOrFloatBitWidth() / 8,
      /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, kScope);
}

/// Compares and swaps until nobody else has written in between.
static void emitExchange(OpBuilder &b, Location loc, const Reduction &reduction,
                         Type element, Value address, Value value) {
  Type memory = getMemoryType(element);
  Type bits = b.getIntegerType(memory.getIntOrFloatBitWidth());
  auto toBits = [&](Value number) -> Value {
    number =
        toMemoryType(b, loc, reduction.emitNarrow(b, loc, number), element);
    return memory == bits
               ? number
               : arith::BitcastOp::create(b, loc, bits, number).getResult();
  };
  auto toNumber = [&](Value word) {
    if (memory != bits)
      word = arith::BitcastOp::create(b, loc, memory, word);
    return reduction.emitWiden(b, loc, toComputeType(b, loc, word, element));
  };
  Value first = emitAtomicLoad(b, loc, bits, address);
  auto loop = scf::WhileOp::create(b, loc, TypeRange(bits), ValueRange(first));
  OpBuilder::InsertionGuard insertion(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, bits, loc);
  Value seen = before->getArgument(0);
  Value wanted = toBits(reduction.emitCombine(b, loc, toNumber(seen), value));
  Value exchange = LLVM::AtomicCmpXchgOp::create(
      b, loc, address, seen, wanted, LLVM::AtomicOrdering::monotonic,
      LLVM::AtomicOrdering::monotonic, kScope);
  Value found = LLVM::ExtractValueOp::create(b, loc, exchange, 0);
  Value isDone = LLVM::ExtractValueOp::create(b, loc, exchange, 1);
  Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  scf::ConditionOp::create(b, loc, arith::XOrIOp::create(b, loc, isDone, yes),
                           found);
  Block *after = b.createBlock(&loop.getAfter(), {}, bits, loc);
  scf::YieldOp::create(b, loc, after->getArguments());
}

void metaop::emitAtomic(OpBuilder &b, Location loc, Combiner kind, Type element,
                        Value memory, Value place, Value value) {
  emitAtomicTo(b, loc, kind, element, emitAddress(b, loc, memory, place),
               value);
}

void metaop::emitAtomicTo(OpBuilder &b, Location loc, Combiner kind,
                          Type element, Value address, Value value) {
  std::optional<arith::AtomicRMWKind> known = getArithKind(kind, element);
  bool isMax = known == arith::AtomicRMWKind::maximumf;
  bool isExtreme = isMax || known == arith::AtomicRMWKind::minimumf;
  if (auto instruction = findInstruction(kind, element))
    emitInstruction(b, loc, *instruction, address, value);
  else if (isExtreme && (element.isF32() || element.isF64()))
    emitFloatExtreme(b, loc, isMax, address, value);
  else
    emitExchange(b, loc, Reduction(kind, element), element, address, value);
}

void metaop::emitAtomics(GpuFunction &function, ThreadTile &tile,
                         const StageWrite &write, Value buffer,
                         Value condition) {
  OpBuilder &b = function.getBuilder();
  Location loc = function.getLoc();
  Type element = getElementTypeOrSelf(write.value);
  Reduction reduction(*write.kind, element);
  const FixedPointSums *fixed = function.getFixedPoint();
  bool isFixed = fixed && fixed->contains(buffer);
  if (fixed && fixed->isMeasuring() && !isFixed)
    return;
  auto emitAt = [&](const TilePlace &place) {
    ThreadTile::Point point(tile, place, tile.getAllDims());
    Condition takesPart;
    tile.getEmitter().addChecks(write.place.rangeChecks, point, takesPart);
    tile.getEmitter().addChecks(write.place.conditions, point, takesPart);
    Value exists = emitAnd(b, loc, condition, point.emitExists());
    emitIf(b, loc, emitAnd(b, loc, exists, takesPart.scalar), [&] {
      Value value =
          reduction.emitWiden(b, loc, tile.getValue(write.value, place));
      Value at = tile.getEmitter().emitExpr(write.place.offset, point);
      if (isFixed)
        fixed->emit(function, buffer, at, value);
      else
        emitAtomic(b, loc, *write.kind, element, buffer, at, value);
    });
  };
  tile.forEachPlace(tile.getAllDims(), [&](const TilePlace &place) {
    for (int64_t lane = 0; lane < tile.getNumLanes(); ++lane)
      emitAt(tile.getNumLanes() > 1 ? place.withLane(lane) : place);
  });
}
