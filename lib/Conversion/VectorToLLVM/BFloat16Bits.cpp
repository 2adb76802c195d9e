//===- BFloat16Bits.cpp - Numbers of bf16 as integers ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most processors have no registers for bf16. Where a number of that type is
// only moved, LLVM then widens it to f32 and rounds it back, by a call for each
// element, which makes signalling NaNs quiet ones; masked vectors are taken
// apart, element by element, each behind a branch. Where there are registers,
// LLVM 22 cannot select shuffles of them, and aborts.
//
// So what moves numbers moves their bits:
//
//   1. An operation that computes with bf16 keeps its types, and has casts of
//      the same width around it. A number is widened by a shift: bf16 is the
//      upper half of f32. It is rounded from f32 by arithmetic of integers
//      (RoundToBFloat16.cpp does that earlier, for CPUs): an instruction for it
//      takes denormal numbers for zero, and LLVM 22 loses the sign of a
//      `copysign` that is rounded by one.
//   2. In all others, and in what blocks take, bf16 becomes i16, in types and
//      in constants; casts that are none any more go.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_BFLOAT16BITSPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;

/// Returns whether an operation does the same with the bits of a number. Those
/// without operands or results of such types are none the worse for it.
static bool movesBits(Operation *op) {
  return isa<LLVM::AllocaOp, LLVM::BitcastOp, LLVM::BrOp, LLVM::CondBrOp,
             LLVM::ConstantOp, LLVM::ExtractElementOp, LLVM::FreezeOp,
             LLVM::GEPOp, LLVM::InsertElementOp, LLVM::LoadOp,
             LLVM::MaskedLoadOp, LLVM::MaskedStoreOp, LLVM::PoisonOp,
             LLVM::SelectOp, LLVM::ShuffleVectorOp, LLVM::StoreOp,
             LLVM::SwitchOp, LLVM::UndefOp, LLVM::ZeroOp, LLVM::masked_gather,
             LLVM::masked_scatter>(op);
}

static bool isBFloat16(Type type) {
  return getElementTypeOrSelf(type).isBF16();
}

/// The type of as many numbers of another type.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

static Value castTo(OpBuilder &b, Location loc, Value value, Type type) {
  return LLVM::BitcastOp::create(b, loc, type, value);
}

/// Of i32, or as many of them as a vector has.
static Value createConstant(OpBuilder &b, Location loc, Type type,
                            int32_t number) {
  Attribute value = b.getI32IntegerAttr(number);
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, value);
  return LLVM::ConstantOp::create(b, loc, type, cast<TypedAttr>(value));
}

namespace {
struct BFloat16BitsPass : metaop::impl::BFloat16BitsPassBase<BFloat16BitsPass> {
  void runOnOperation() override;

private:
  void widen(LLVM::FPExtOp op);
  void round(LLVM::FPTruncOp op);
  void enclose(Operation *op);

  /// Operations that still have numbers of bf16, and casts in front of them.
  llvm::SmallPtrSet<Operation *, 8> kept;
};
} // namespace

/// The upper half of the bits of f32.
void BFloat16BitsPass::widen(LLVM::FPExtOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type type = op.getArg().getType();
  Type wide = withElement(type, b.getI32Type());
  Value bits = castTo(b, loc, op.getArg(), withElement(type, b.getI16Type()));
  bits = LLVM::ZExtOp::create(b, loc, wide, bits);
  bits = LLVM::ShlOp::create(b, loc, bits, createConstant(b, loc, wide, 16));
  Value value = castTo(b, loc, bits, withElement(type, b.getF32Type()));
  if (value.getType() != op.getType())
    value = LLVM::FPExtOp::create(b, loc, op.getType(), value);
  op.replaceAllUsesWith(value);
  op.erase();
}

/// To the nearest, of two as near to the even one; a NaN becomes a quiet one.
void BFloat16BitsPass::round(LLVM::FPTruncOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type type = op.getType();
  Type wide = withElement(type, b.getI32Type());
  auto constant = [&](int32_t number) {
    return createConstant(b, loc, wide, number);
  };
  Value number = op.getArg(), half = constant(16);
  Value bits = castTo(b, loc, number, wide);
  Value upper = LLVM::LShrOp::create(b, loc, bits, half);
  Value odd = LLVM::AndOp::create(b, loc, upper, constant(1));
  Value sum = LLVM::AddOp::create(b, loc, bits, constant(0x7fff));
  sum = LLVM::AddOp::create(b, loc, sum, odd);
  Value rounded = LLVM::LShrOp::create(b, loc, sum, half);
  Value isNaN =
      LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::uno, number, number);
  Value quiet = LLVM::OrOp::create(b, loc, upper, constant(0x40));
  Value result = LLVM::SelectOp::create(b, loc, isNaN, quiet, rounded);
  result =
      LLVM::TruncOp::create(b, loc, withElement(type, b.getI16Type()), result);
  op.replaceAllUsesWith(castTo(b, loc, result, type));
  op.erase();
}

/// Casts around an operation that computes with bf16.
void BFloat16BitsPass::enclose(Operation *op) {
  OpBuilder b(op);
  Type bits = b.getI16Type();
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isBFloat16(value.getType()))
      continue;
    Value moved =
        castTo(b, op->getLoc(), value, withElement(value.getType(), bits));
    Value number = castTo(b, op->getLoc(), moved, value.getType());
    kept.insert(number.getDefiningOp());
    operand.set(number);
  }
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    if (!isBFloat16(result.getType()))
      continue;
    Value moved =
        castTo(b, op->getLoc(), result, withElement(result.getType(), bits));
    Value number = castTo(b, op->getLoc(), moved, result.getType());
    result.replaceAllUsesExcept(number, moved.getDefiningOp());
  }
  kept.insert(op);
}

void BFloat16BitsPass::runOnOperation() {
  kept.clear();
  getOperation()->walk([&](LLVM::FPExtOp op) {
    if (isBFloat16(op.getArg().getType()))
      widen(op);
  });
  getOperation()->walk([&](LLVM::FPTruncOp op) {
    if (isBFloat16(op.getType()) && getElementTypeOrSelf(op.getArg()).isF32())
      round(op);
  });
  SmallVector<Operation *> computing;
  getOperation()->walk([&](Operation *op) {
    if (!movesBits(op) && (llvm::any_of(op->getOperandTypes(), isBFloat16) ||
                           llvm::any_of(op->getResultTypes(), isBFloat16)))
      computing.push_back(op);
  });
  for (Operation *op : computing)
    enclose(op);

  AttrTypeReplacer replacer;
  Type bits = IntegerType::get(&getContext(), 16);
  replacer.addReplacement([bits](BFloat16Type) { return bits; });
  replacer.addReplacement([bits](FloatAttr number) -> std::optional<Attribute> {
    if (!number.getType().isBF16())
      return std::nullopt;
    return IntegerAttr::get(bits, number.getValue().bitcastToAPInt());
  });
  replacer.addReplacement(
      [bits](DenseElementsAttr numbers) -> std::optional<Attribute> {
        if (!numbers.getElementType().isBF16())
          return std::nullopt;
        return numbers.bitcast(bits);
      });
  getOperation()->walk([&](Operation *op) {
    if (kept.contains(op))
      return;
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
  });
  getOperation()->walk([](LLVM::BitcastOp op) {
    if (op.getArg().getType() != op.getType())
      return;
    op.replaceAllUsesWith(op.getArg());
    op.erase();
  });
}
