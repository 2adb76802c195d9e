//===- MaskedBFloat16.cpp - Masked vectors of bf16 as integers ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where vectors of bf16 are no type of registers, LLVM takes masked loads and
// stores of them apart, element by element, each through a branch and a
// function that rounds. Those of 16-bit integers are instructions, or loads and
// stores with a select. So these are of integers, with the same bits.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_MASKEDBFLOAT16PASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;

/// The vector of integers with the bits of one of bf16; null for others.
static VectorType getBits(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || !vector.getElementType().isBF16())
    return {};
  return VectorType::get(vector.getShape(),
                         IntegerType::get(type.getContext(), 16),
                         vector.getScalableDims());
}

static void loadBits(LLVM::MaskedLoadOp op) {
  VectorType bits = getBits(op.getType());
  if (!bits)
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value other = op.getPassThru();
  if (other)
    other = LLVM::BitcastOp::create(b, loc, bits, other);
  Value load = LLVM::MaskedLoadOp::create(
      b, loc, bits, op.getData(), op.getMask(), other, op.getAlignmentAttr(),
      op.getNontemporalAttr());
  Value value = LLVM::BitcastOp::create(b, loc, op.getType(), load);
  op.replaceAllUsesWith(value);
  op.erase();
}

static void storeBits(LLVM::MaskedStoreOp op) {
  VectorType bits = getBits(op.getValue().getType());
  if (!bits)
    return;
  OpBuilder b(op);
  Value value = LLVM::BitcastOp::create(b, op.getLoc(), bits, op.getValue());
  op.getValueMutable().assign(value);
}

namespace {
struct MaskedBFloat16Pass
    : metaop::impl::MaskedBFloat16PassBase<MaskedBFloat16Pass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto load = dyn_cast<LLVM::MaskedLoadOp>(op))
        loadBits(load);
      else if (auto store = dyn_cast<LLVM::MaskedStoreOp>(op))
        storeBits(store);
    });
  }
};
} // namespace
