//===- Signature.cpp - What is the same about two operations --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Signature.h"

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Runtime/Session/Error.h"
#include "mlir/IR/Diagnostics.h"
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

static uint64_t hashSignature(Operation *op) {
  llvm::hash_code hash =
      llvm::hash_combine(op->getName().getAsOpaquePointer(), hashProperties(op),
                         countOperands(op));
  for (Type result : op->getResultTypes()) {
    auto type = cast<RankedTensorType>(result);
    hash = llvm::hash_combine(hash, type.getElementType().getAsOpaquePointer(),
                              type.getRank());
  }
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

static SignatureInfo describe(Operation *op) {
  SignatureInfo info;
  info.isDifferentiable = isa<metaop::DifferentiableOpInterface>(op);
  info.isView = isa<metaop::ViewOpInterface>(op);
  info.isReindex = isa<metaop::ReindexOpInterface, metaop::GatherOp>(op);
  info.isReindexReduce =
      isa<metaop::ReindexReduceOpInterface, metaop::ScatterOp>(op);
  info.isRoutine = isa<metaop::RoutineOpInterface>(op);
  info.isGenerator = isa<metaop::GeneratorOpInterface>(op);
  info.isRandom = isa<metaop::RandomOp>(op);
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
  if (failed(op->getName().verifyInvariants(op)))
    fail(ErrorKind::Value, message);
}

SignatureTable::~SignatureTable() {
  for (Entry &entry : entries)
    entry.exemplar->destroy();
}

bool SignatureTable::matches(const Entry &entry, Operation *op) {
  Operation *other = entry.exemplar;
  return other->getName() == op->getName() &&
         entry.numOperands == countOperands(op) && haveSameResults(op, other) &&
         haveSameProperties(op, other);
}

SignatureTable::Id SignatureTable::intern(Operation *op) {
  uint64_t hash = hashSignature(op);
  auto [first, isNew] = firstWithHash.try_emplace(hash, none);
  for (Id id = first->second; id != none; id = entries[id].next)
    if (matches(entries[id], op))
      return id;

  verifyFirst(op);
  Operation *exemplar = Operation::create(
      UnknownLoc::get(op->getContext()), op->getName(), op->getResultTypes(),
      /*operands=*/ValueRange(), DictionaryAttr::get(op->getContext()),
      op->getPropertiesStorage(),
      /*successors=*/BlockRange(), /*numRegions=*/0);
  entries.push_back({exemplar, countOperands(op), describe(op), first->second});
  return first->second = entries.size() - 1;
}
