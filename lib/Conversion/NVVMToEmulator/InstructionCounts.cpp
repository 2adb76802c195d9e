//===- InstructionCounts.cpp - Instructions by class ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The counts of a thread follow from how often it enters each block of code:
// the instructions of a block are counted once, here. Operations on vectors are
// as many instructions as they have elements, since a GPU's registers hold one.
// What moves values between registers, or is gone in machine code, counts
// nothing.
//
//===----------------------------------------------------------------------===//

#include "InstructionCounts.h"
#include "Instructions.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::metaop;
using ::metaops::InstructionClass;

/// Returns the class of arithmetic of the LLVM dialect.
static std::optional<InstructionClass> classifyArithmetic(Operation *op) {
  if (isa<LLVM::FAddOp, LLVM::FSubOp, LLVM::FMulOp, LLVM::FDivOp, LLVM::FRemOp,
          LLVM::FNegOp, LLVM::FCmpOp, LLVM::FMAOp, LLVM::FMulAddOp,
          LLVM::FAbsOp, LLVM::MaximumOp, LLVM::MinimumOp, LLVM::MaxNumOp,
          LLVM::MinNumOp, LLVM::CopySignOp, LLVM::vector_reduce_fadd,
          LLVM::vector_reduce_fmul, LLVM::vector_reduce_fmax,
          LLVM::vector_reduce_fmin, LLVM::vector_reduce_fmaximum,
          LLVM::vector_reduce_fminimum>(op))
    return InstructionClass::Float;
  if (isa<LLVM::SExtOp, LLVM::ZExtOp, LLVM::TruncOp, LLVM::FPExtOp,
          LLVM::FPTruncOp, LLVM::SIToFPOp, LLVM::UIToFPOp, LLVM::FPToSIOp,
          LLVM::FPToUIOp>(op))
    return InstructionClass::Conversion;
  if (isa<LLVM::SelectOp, LLVM::BrOp, LLVM::CondBrOp, LLVM::SwitchOp>(op))
    return InstructionClass::Control;
  if (isa<LLVM::AddOp, LLVM::SubOp, LLVM::MulOp, LLVM::SDivOp, LLVM::UDivOp,
          LLVM::SRemOp, LLVM::URemOp, LLVM::AndOp, LLVM::OrOp, LLVM::XOrOp,
          LLVM::ShlOp, LLVM::LShrOp, LLVM::AShrOp, LLVM::ICmpOp, LLVM::SMaxOp,
          LLVM::SMinOp, LLVM::UMaxOp, LLVM::UMinOp, LLVM::GEPOp,
          LLVM::vector_reduce_add, LLVM::vector_reduce_mul,
          LLVM::vector_reduce_and, LLVM::vector_reduce_or,
          LLVM::vector_reduce_xor, LLVM::vector_reduce_smax,
          LLVM::vector_reduce_smin, LLVM::vector_reduce_umax,
          LLVM::vector_reduce_umin>(op))
    return InstructionClass::Integer;
  // The intrinsics that are left are roots and transcendental functions.
  bool isFunction = op->getName().getStringRef().starts_with("llvm.intr.") &&
                    op->getNumResults() == 1 &&
                    getElementTypeOrSelf(op->getResult(0)).isFloat();
  return isFunction ? std::optional(InstructionClass::Function) : std::nullopt;
}

/// Returns the largest number of elements of its operands and results.
static int64_t countElements(Operation *op) {
  int64_t elements = 1;
  auto visit = [&](Type type) {
    if (auto vector = dyn_cast<VectorType>(type))
      elements = std::max(elements, vector.getNumElements());
  };
  llvm::for_each(op->getOperandTypes(), visit);
  llvm::for_each(op->getResultTypes(), visit);
  return elements;
}

DenseI64ArrayAttr metaop::countInstructions(Block &block) {
  SmallVector<int64_t> counts(static_cast<size_t>(InstructionClass::Count), 0);
  auto count = [&](InstructionClass kind, int64_t number) {
    counts[static_cast<size_t>(kind)] += number;
  };
  for (Operation &op : block) {
    if (const InstructionRow *row = findInstruction(&op)) {
      if (auto kind = row->count(&op))
        count(*kind, 1);
    } else if (auto kind = classifyArithmetic(&op)) {
      count(*kind, countElements(&op));
    }
  }
  return DenseI64ArrayAttr::get(block.getParent()->getContext(), counts);
}
