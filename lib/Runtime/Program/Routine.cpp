//===- Routine.cpp - Prefixes and sorts of tensors in memory --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/Routine.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace metaops;

/// What an element takes in each of the rounds of a sort, in picoseconds.
static constexpr int64_t kSortWork = 2000;
/// A thread is worth its start if it has so much to do: 8 us.
static constexpr int64_t kWorkPerThread = 8'000'000;

Routine Routine::of(metaop::RoutineOpInterface op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  Routine routine;
  routine.dtype = *fromElementType(type.getElementType());
  ArrayRef<int64_t> shape = type.getShape();
  routine.outer = metaops::countElements(shape.take_front(op.getDim()));
  routine.extent = shape[op.getDim()];
  routine.inner = metaops::countElements(shape.drop_front(op.getDim() + 1));
  if (auto sort = dyn_cast<metaop::SortOp>(*op)) {
    routine.kind = Kind::Sort;
    routine.isReverse = sort.getDescending();
  } else {
    routine.kind = Kind::Argsort;
    routine.isReverse = cast<metaop::ArgsortOp>(*op).getDescending();
  }
  return routine;
}

int64_t Routine::getWork() const {
  return metaop::multiplyCounts(countElements(),
                                kSortWork * (1 + sizeOf(dtype)));
}

int64_t Routine::getMaxThreads() const {
  // A sort is shared by its lines.
  return std::max<int64_t>(1,
                           std::min(outer * inner, getWork() / kWorkPerThread));
}

bool Routine::isValid() const {
  int64_t lines, elements;
  return kind >= Kind::Sort && kind <= Kind::Argsort && outer >= 0 &&
         extent >= 0 && inner >= 0 && dtype <= DType::F64 &&
         !llvm::MulOverflow(outer, inner, lines) &&
         !llvm::MulOverflow(lines, extent, elements);
}

void Routine::run(ArrayRef<void *> inputs, void *result,
                  ThreadPool &threads) const {
  if (countElements() == 0)
    return;
  switch (kind) {
  case Kind::None:
    return;
  case Kind::Sort:
    return runSort(*this, inputs.front(), result, threads);
  case Kind::Argsort:
    return runArgsort(*this, inputs.front(), static_cast<int64_t *>(result),
                      threads);
  }
}
