//===- CodeFeatures.cpp - Features of a kernel's code ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frame of a region is what is directly in it of loops, branches, accesses
// to memory and what threads do together, in order: a text of operations'
// names. Arithmetic is no part of it, and equal neighbours count once, so that
// neither a function's formula nor the size of a tile makes another frame. A
// kernel has one of its own and one of each loop and branch:
//
//   gpu.func: scf.for gpu.barrier scf.for
//   scf.for: memref.load scf.if memref.store
//
//===----------------------------------------------------------------------===//

#include "CodeFeatures.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

static bool isInFrame(Operation &op) {
  return !isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
         !op.hasTrait<OpTrait::IsTerminator>();
}

static std::string getFrame(Region &region) {
  std::string text = region.getParentOp()->getName().getStringRef().str() + ":";
  StringRef last;
  for (Operation &op : region.getOps()) {
    StringRef name = op.getName().getStringRef();
    if (!isInFrame(op) || name == last)
      continue;
    text += (" " + name).str();
    last = name;
  }
  return text;
}

/// Returns the name of an operation and an element type, of its results or else
/// of its last operand.
static std::string getTypedName(Operation *op) {
  Type type;
  if (op->getNumResults())
    type = op->getResult(0).getType();
  else if (op->getNumOperands())
    type = op->getOperands().back().getType();
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op->getName();
  if (type)
    stream << ' ' << getElementTypeOrSelf(type);
  return text;
}

std::vector<uint64_t> metaops::getCodeFeatures(Operation *kernel) {
  llvm::SetVector<uint64_t, std::vector<uint64_t>> features;
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      features.insert(llvm::xxh3_64bits(getFrame(region)));
  });
  kernel->walk([&](Operation *op) {
    features.insert(llvm::xxh3_64bits(getTypedName(op)));
  });
  return features.takeVector();
}
