//===- CopyEmitter.cpp - Copies as loops ----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy is a nest of loops around a copy of a row: the innermost dimensions
// that fill their room, and the one outside of them. Where a window is moved by
// a number that the program computes, the part of it that lies in the room is
// found first; of a window that lies outside, no row is left.
//
//===----------------------------------------------------------------------===//

#include "CopyEmitter.h"

using namespace metaops;
using llvm::IRBuilder;
using llvm::Value;

namespace {
/// The part of a dimension that lies in the room: its first index in the
/// tensor, its place in the room, its extent.
struct Part {
  Value *first, *start, *extent;
};

/// A dimension around the rows, with the bytes from one index to the next.
struct RowLoop {
  Value *extent;
  int64_t from, to;
};
} // namespace

/// A start that lies far outside is taken for one that lies just outside.
static Part emitPart(IRBuilder<> &b, const CopyDim &dim,
                     llvm::ArrayRef<Value *> buffers) {
  if (dim.startBuffer < 0)
    return {b.getInt64(0), b.getInt64(dim.start), b.getInt64(dim.extent)};
  auto binary = [&](llvm::Intrinsic::ID id, Value *left, Value *right) {
    return b.CreateBinaryIntrinsic(id, left, right);
  };
  using namespace llvm::Intrinsic;
  Value *number = b.CreateAlignedLoad(b.getInt64Ty(), buffers[dim.startBuffer],
                                      llvm::Align(8));
  Value *start = binary(sadd_sat, number, b.getInt64(dim.start));
  start = binary(smax, start, b.getInt64(-dim.extent));
  start = binary(smin, start, b.getInt64(dim.room));
  Value *first = binary(smax, b.CreateNeg(start), b.getInt64(0));
  Value *place = binary(smax, start, b.getInt64(0));
  Value *extent = binary(smin, b.CreateSub(b.getInt64(dim.extent), first),
                         b.CreateSub(b.getInt64(dim.room), place));
  return {first, place, extent};
}

static Value *addBytes(IRBuilder<> &b, Value *address, Value *index,
                       int64_t bytes) {
  return b.CreateGEP(b.getInt8Ty(), address,
                     b.CreateMul(index, b.getInt64(bytes)));
}

/// Rows from `from` to `to`, in the loops that are left.
static void emitRows(IRBuilder<> &b, llvm::ArrayRef<RowLoop> loops, Value *from,
                     Value *to, Value *bytes) {
  if (loops.empty()) {
    b.CreateMemCpy(to, llvm::MaybeAlign(), from, llvm::MaybeAlign(), bytes);
    return;
  }
  llvm::Function *function = b.GetInsertBlock()->getParent();
  llvm::BasicBlock *before = b.GetInsertBlock();
  auto *head = llvm::BasicBlock::Create(b.getContext(), "rows", function);
  auto *body = llvm::BasicBlock::Create(b.getContext(), "row", function);
  auto *after = llvm::BasicBlock::Create(b.getContext(), "copied", function);
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode *index = b.CreatePHI(b.getInt64Ty(), 2);
  index->addIncoming(b.getInt64(0), before);
  const RowLoop &loop = loops.front();
  b.CreateCondBr(b.CreateICmpSLT(index, loop.extent), body, after);
  b.SetInsertPoint(body);
  emitRows(b, loops.drop_front(), addBytes(b, from, index, loop.from),
           addBytes(b, to, index, loop.to), bytes);
  index->addIncoming(b.CreateAdd(index, b.getInt64(1)), b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(after);
}

void metaops::emitCopy(IRBuilder<> &b, const Copy &copy,
                       llvm::ArrayRef<Value *> buffers, Value *dest) {
  Value *from = buffers[copy.source], *to = dest;
  Value *bytes = b.getInt64(copy.elementBytes);
  int64_t fromBytes = copy.elementBytes, toBytes = copy.elementBytes;
  bool isContiguous = true;
  llvm::SmallVector<RowLoop> loops;
  for (const CopyDim &dim : llvm::reverse(copy.dims)) {
    Part part = emitPart(b, dim, buffers);
    from = addBytes(b, from, part.first, fromBytes);
    to = addBytes(b, to, part.start, toBytes);
    if (isContiguous)
      bytes = b.CreateMul(bytes, part.extent);
    else if (dim.extent > 1 || dim.startBuffer >= 0)
      loops.insert(loops.begin(), {part.extent, fromBytes, toBytes});
    isContiguous &= dim.startBuffer < 0 && dim.extent == dim.room;
    fromBytes *= dim.extent;
    toBytes *= dim.room;
  }
  emitRows(b, loops, from, to, bytes);
}
