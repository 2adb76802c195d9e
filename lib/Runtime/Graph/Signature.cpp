//===- Signature.cpp - What is the same about two operations --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations with one hash are compared with an exemplar of each signature that
// has it.
//
// For regions, the values that they use or define are numbered: captures in the
// order of their first use, then what is defined in the order of the text. Then
// MLIR's own comparison of regions is given that values are the same if their
// numbers are. Numbers are given out before anything is compared, since the
// blocks of a region need not be in the order in which they are run. An
// exemplar's regions capture arguments of a block of its own.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Signature.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpOps.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace metaops;

/// The number of operands as far as it is part of the signature.
static unsigned countOperands(Operation *op) {
  return isa<metaop::ConcatOp>(op) ? 0 : op->getNumOperands();
}

/// The value of a constant that has one; the shape beside it is the result's.
static Attribute getSplat(Operation *op) {
  if (auto constantOp = dyn_cast<metaop::ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(constantOp.getValue()))
      return splat.getSplatValue<Attribute>();
  return nullptr;
}

static uint64_t hashProperties(Operation *op) {
  if (Attribute splat = getSplat(op))
    return hash_value(splat);
  return op->hashProperties();
}

static bool haveSameProperties(Operation *a, Operation *b) {
  Attribute splatA = getSplat(a), splatB = getSplat(b);
  if (splatA || splatB)
    return splatA == splatB;
  return a->getName().compareOpProperties(a->getPropertiesStorage(),
                                          b->getPropertiesStorage());
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The numbers of the values that the operation's regions use or define.
static llvm::DenseMap<Value, unsigned> numberValues(Operation *op) {
  llvm::DenseMap<Value, unsigned> numbers;
  auto addAll = [&](ValueRange values) {
    for (Value value : values)
      numbers.try_emplace(value, numbers.size());
  };
  addAll(metaop::findCaptures(op));
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (inner != op)
      addAll(inner->getResults());
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        addAll(block.getArguments());
  });
  return numbers;
}

/// Of the regions and, as hints to a compiler may be there, of the operation's
/// attributes beside its properties.
static llvm::hash_code hashRegions(Operation *op) {
  llvm::DenseMap<Value, unsigned> numbers = numberValues(op);
  auto hashValue = [&](Value value) {
    return llvm::hash_value(numbers.lookup(value));
  };
  llvm::hash_code hash = hash_value(op->getDiscardableAttrDictionary());
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (inner != op)
      hash = llvm::hash_combine(
          hash, OperationEquivalence::computeHash(
                    inner, hashValue, hashValue,
                    OperationEquivalence::Flags::IgnoreLocations));
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          hash = llvm::hash_combine(hash, type);
  });
  return hash;
}

/// Extents included, by which operands and results fit the regions or do not.
static bool haveSameTypes(Operation *a, Operation *b) {
  return llvm::equal(a->getOperandTypes(), b->getOperandTypes()) &&
         llvm::equal(a->getResultTypes(), b->getResultTypes());
}

static bool haveSameRegions(Operation *a, Operation *b) {
  if (a->getNumRegions() != b->getNumRegions())
    return false;
  if (a->getNumRegions() == 0)
    return true;
  if (!haveSameTypes(a, b) ||
      a->getDiscardableAttrDictionary() != b->getDiscardableAttrDictionary())
    return false;
  llvm::DenseMap<Value, unsigned> ofA = numberValues(a), ofB = numberValues(b);
  auto areSame = [&](Value x, Value y) {
    return success(ofA.lookup(x) == ofB.lookup(y));
  };
  return llvm::all_of(
      llvm::zip(a->getRegions(), b->getRegions()), [&](auto regions) {
        return OperationEquivalence::isRegionEquivalentTo(
            &std::get<0>(regions), &std::get<1>(regions), areSame,
            /*markEquivalent=*/nullptr,
            OperationEquivalence::Flags::IgnoreLocations);
      });
}

/// A module whose block has a copy of the operation, and arguments for all that
/// it takes.
static OwningOpRef<Operation *> copyApart(Operation *op) {
  Location unknown = UnknownLoc::get(op->getContext());
  ModuleOp module = ModuleOp::create(unknown);
  OwningOpRef<Operation *> owner(module.getOperation());
  Block *body = module.getBody();
  IRMapping mapping;
  auto addArgument = [&](Value value) {
    if (!mapping.contains(value))
      mapping.map(value, body->addArgument(value.getType(), unknown));
  };
  llvm::for_each(op->getOperands(), addArgument);
  llvm::for_each(metaop::findCaptures(op), addArgument);
  body->push_back(op->clone(mapping));
  return owner;
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static uint64_t hashSignature(Operation *op) {
  llvm::hash_code hash =
      llvm::hash_combine(op->getName().getAsOpaquePointer(), hashProperties(op),
                         countOperands(op));
  for (Type result : op->getResultTypes()) {
    auto type = cast<RankedTensorType>(result);
    hash = llvm::hash_combine(hash, type.getElementType().getAsOpaquePointer(),
                              type.getRank());
  }
  if (op->getNumRegions() > 0)
    hash = llvm::hash_combine(hash, hashRegions(op));
  return uint64_t(hash) >> 1; // keeps off the map's reserved keys
}

/// Whether the results are of one kind, but for their extents.
static bool haveSameResults(Operation *a, Operation *b) {
  return a->getNumResults() == b->getNumResults() &&
         llvm::all_of(llvm::zip(a->getResultTypes(), b->getResultTypes()),
                      [](auto types) {
                        auto a = cast<RankedTensorType>(std::get<0>(types));
                        auto b = cast<RankedTensorType>(std::get<1>(types));
                        return a.getElementType() == b.getElementType() &&
                               a.getRank() == b.getRank();
                      });
}

/// Returns whether the result is a sum of the elements of float operands, in
/// some order.
static bool isLinear(Operation *op) {
  if (auto reduce = dyn_cast<metaop::ReduceOp>(op))
    return reduce.getReduceKind() == metaop::Combiner::Add;
  if (auto reduce = dyn_cast<metaop::ReindexReduceOp>(op))
    return reduce.getReduceKind() == metaop::Combiner::Add;
  return isa<metaop::AddOp, metaop::SubOp, metaop::NegOp, metaop::CastOp,
             metaop::ConcatOp, metaop::TransferOp, metaop::StopFuseOp,
             metaop::ReindexOpInterface, metaop::GatherOp,
             metaop::ViewOpInterface>(op);
}

static SignatureInfo describe(Operation *op) {
  SignatureInfo info;
  info.isDifferentiable = isa<metaop::DifferentiableOpInterface>(op);
  info.isView = isa<metaop::ViewOpInterface>(op);
  info.isScalar = isa<metaop::ScalarOp>(op);
  info.isBuffer = isa<metaop::BufferOp>(op);
  info.isTransfer = isa<metaop::TransferOp>(op);
  info.isCheck = isa<metaop::CheckOp>(op);
  info.isReindex = isa<metaop::ReindexOpInterface, metaop::GatherOp>(op);
  info.isReindexReduce =
      isa<metaop::ReindexReduceOpInterface, metaop::ScatterOp, metaop::NormOp>(
          op);
  info.isLinear = isLinear(op);
  info.hasRegions = op->getNumRegions() > 0;
  info.hasUnboundedLoop = info.hasRegions && metaop::hasUnboundedLoop(op);
  info.isRoutine = isa<metaop::RoutineOpInterface>(op) || info.hasRegions;
  info.isGenerator = isa<metaop::GeneratorOpInterface>(op);
  op->walk([&](metaop::RandomOp) { info.isRandom = true; });
  info.isVariadic = isa<metaop::ConcatOp>(op);
  return info;
}

/// What the session records is checked before; this tells of a gap there
/// before such an operation can do harm.
static void verifyFirst(Operation *op) {
  std::string message;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diag) {
    message += diag.str();
    return success();
  });
  if (op->getNumRegions() == 0) {
    if (failed(op->getName().verifyInvariants(op)))
      fail(ErrorKind::Value, message);
    return;
  }
  if (failed(verify(op)))
    fail(ErrorKind::Value, message);
  Operation *found = nullptr;
  op->walk([&](Operation *inner) {
    if (!found && !isMemoryEffectFree(inner))
      found = inner;
  });
  if (found)
    fail(ErrorKind::Value,
         "'" + found->getName().getStringRef() +
             "' in a region has effects on memory, or may have; expected "
             "operations that compute their results and do nothing else");
}

static OwningOpRef<Operation *> copyWithoutOperands(Operation *op) {
  return Operation::create(
      UnknownLoc::get(op->getContext()), op->getName(), op->getResultTypes(),
      /*operands=*/ValueRange(), DictionaryAttr::get(op->getContext()),
      op->getPropertiesStorage(),
      /*successors=*/BlockRange(), /*numRegions=*/0);
}

bool SignatureTable::matches(const Entry &entry, Operation *op) {
  Operation *other = entry.exemplar;
  return other->getName() == op->getName() &&
         entry.numOperands == countOperands(op) && haveSameResults(op, other) &&
         haveSameProperties(op, other) && haveSameRegions(op, other);
}

SignatureTable::Id SignatureTable::intern(Operation *op) {
  uint64_t hash = hashSignature(op);
  auto [first, isNew] = firstWithHash.try_emplace(hash, none);
  for (Id id = first->second; id != none; id = entries[id].next)
    if (matches(entries[id], op))
      return id;

  bool hasRegions = op->getNumRegions() > 0;
  OwningOpRef<Operation *> owner =
      hasRegions ? copyApart(op) : copyWithoutOperands(op);
  Operation *exemplar =
      hasRegions ? &cast<ModuleOp>(*owner).getBody()->front() : *owner;
  // Dominance cannot be verified in a block that is in no region, nor operands
  // of an operation that has none.
  verifyFirst(hasRegions ? exemplar : op);
  entries.push_back({exemplar, std::move(owner), countOperands(op),
                     describe(op), first->second});
  anyRegions |= hasRegions;
  return first->second = entries.size() - 1;
}
