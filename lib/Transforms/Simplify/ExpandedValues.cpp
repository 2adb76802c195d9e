//===- ExpandedValues.cpp - Values that must not be materialised ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The analysis goes forward over the block. For each element-wise value it
// keeps the set of arrays read to compute it on its space. A value that is not
// expanded makes each element-wise value computed from it not expanded, since
// the set only grows; so sets are kept for expanded values alone, and stay
// small. A value that is materialised anyway is an array itself.
//
// Copies are made per root. A root is where expanded values end: a reduction,
// or an op whose result is not expanded or is materialised. In reverse order,
// the roots of a value are the roots of its expanded users and its other users.
// Each pair of value and root is then one op, the first of them the original;
// the copy for a root reads the copies for the same root. So what one root
// needs is shared inside of its own cone, each root's cone can be one kernel,
// and the number of copies is bounded by values times roots, whatever the
// number of paths between them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Simplify/ExpandedValues.h"

#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Simplify/CloneProducers.h"
#include "MetaOps/Transforms/Simplify/Producers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::metaop;

using ArraySet = llvm::SmallSetVector<Value, 4>;

/// Number of arrays from which on a value is no cheaper to compute than to
/// read.
static constexpr size_t kMaxArrays = 64;

static bool isElementwise(Operation *op) {
  auto meta = dyn_cast_or_null<MetaOpInterface>(op);
  return meta && meta.getMetaOpClass() == MetaOpClass::Elementwise;
}

bool ExpandedValues::isMaterialised(Value value) {
  return !llvm::all_of(value.getUses(), [&](OpOperand &use) {
    return isPointwiseUse(use) &&
           use.getOwner()->getBlock() == value.getParentBlock();
  });
}

/// Adds the arrays from which `operand` is computed on its own space. False if
/// that is not worth counting: it is computed from as much as it holds.
static bool addArrays(Value operand,
                      const llvm::DenseMap<Value, ArraySet> &arraysOf,
                      ArraySet &arrays) {
  Operation *def = operand.getDefiningOp();
  if (isCheapGenerator(def))
    return true;
  if (auto reindex = dyn_cast_or_null<ReindexOpInterface>(def)) {
    arrays.insert(reindex.getSource());
    return true;
  }
  auto known = arraysOf.find(operand);
  if (known == arraysOf.end())
    return false;
  arrays.insert(known->second.begin(), known->second.end());
  return true;
}

static bool isMuchLarger(Value value, const ArraySet &arrays, int64_t ratio,
                         const VaryingExtents &varying) {
  auto elementsOf = [&](Value value) {
    return varying.countElements(
        cast<RankedTensorType>(value.getType()).getShape());
  };
  if (arrays.size() > kMaxArrays)
    return false;
  int64_t total = 0;
  for (Value array : arrays)
    total = addCounts(total, elementsOf(array));
  return elementsOf(value) / std::max<int64_t>(ratio, 1) >= total;
}

ExpandedValues::ExpandedValues(Block &block, int64_t ratio) {
  VaryingExtents varying(block);
  // Of expanded values that are not materialised.
  llvm::DenseMap<Value, ArraySet> arraysOf;
  for (Operation &op : block) {
    if (!isElementwise(&op))
      continue;
    ArraySet arrays;
    Value result = op.getResult(0);
    if (llvm::all_of(op.getOperands(),
                     [&](Value operand) {
                       return addArrays(operand, arraysOf, arrays);
                     }) &&
        isMuchLarger(result, arrays, ratio, varying)) {
      expanded.insert(result);
      if (!isMaterialised(result))
        arraysOf.try_emplace(result, std::move(arrays));
    }
  }

  for (Operation &op : llvm::reverse(block)) {
    if (op.getNumResults() != 1)
      continue;
    Value result = op.getResult(0);
    for (OpOperand &use : result.getUses()) {
      Operation *user = use.getOwner();
      bool reduced = isPointwiseUse(use) && !isElementwise(user);
      if (reduced || (isElementwise(user) && isExpanded(user->getResult(0)) &&
                      contracted.contains(user->getResult(0))))
        contracted.insert(result);
    }
  }
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {

class RootedCopies {
public:
  RootedCopies(Block &block, int64_t ratio, unsigned maxRoots)
      : block(block), values(block, ratio), maxRoots(maxRoots) {}

  void run() {
    findRoots();
    makeCopies();
    rewire();
  }

private:
  /// Returns whether copies of the op may be made: it is no root itself.
  bool isInner(Operation *op) const { return rootsOf.contains(op); }

  void findRoots();
  void makeCopies();
  void rewire();
  void rewire(Operation *op, Operation *root);

  Block &block;
  ExpandedValues values;
  unsigned maxRoots;
  /// Of each inner op, in the order of the block.
  llvm::DenseMap<Operation *, SmallVector<Operation *>> rootsOf;
  /// The op that stands for an inner op in the cone of a root.
  llvm::DenseMap<std::pair<Operation *, Operation *>, Operation *> instance;
  SmallVector<Operation *> originals;
};

} // namespace

void RootedCopies::findRoots() {
  for (Operation &op : block)
    originals.push_back(&op);
  for (Operation *op : llvm::reverse(originals)) {
    if (!isElementwise(op) || op->use_empty() ||
        !values.isExpanded(op->getResult(0)) ||
        ExpandedValues::isMaterialised(op->getResult(0)))
      continue;
    llvm::SmallSetVector<Operation *, 4> roots;
    for (Operation *user : op->getUsers()) {
      if (auto inner = rootsOf.find(user); inner != rootsOf.end())
        roots.insert(inner->second.begin(), inner->second.end());
      else
        roots.insert(user);
    }
    if (roots.size() > maxRoots)
      continue;
    SmallVector<Operation *> sorted = roots.takeVector();
    llvm::sort(sorted, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    rootsOf.try_emplace(op, std::move(sorted));
  }
}

void RootedCopies::makeCopies() {
  for (Operation *op : originals) {
    auto roots = rootsOf.find(op);
    if (roots == rootsOf.end())
      continue;
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    for (Operation *root : roots->second) {
      bool isFirst = root == roots->second.front();
      instance[{op, root}] = isFirst ? op : builder.clone(*op);
    }
  }
}

void RootedCopies::rewire(Operation *op, Operation *root) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto copy = instance.find({operand.get().getDefiningOp(), root});
    if (copy != instance.end())
      operand.set(copy->second->getResult(0));
  }
}

/// An op of a root's cone reads what stands for its operands in that cone.
/// Copies still have the operands of their originals, and an original that
/// serves its first root is rewired once.
void RootedCopies::rewire() {
  for (Operation *op : originals) {
    if (!isInner(op)) {
      rewire(op, op);
      continue;
    }
    for (Operation *root : rootsOf[op])
      rewire(instance[{op, root}], root);
  }
}

void metaop::cloneExpandedValues(Block &block, int64_t expandedRatio,
                                 unsigned maxRoots) {
  RootedCopies(block, expandedRatio, maxRoots).run();
}
