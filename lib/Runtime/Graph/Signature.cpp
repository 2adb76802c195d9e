//===- Signature.cpp - What is the same about two operations --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations with one hash are compared with an exemplar of each signature that
// has it; operations with regions by the words that say what is in these
// (RegionWords.cpp).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Signature.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ResultSources.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "RegionWords.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace metaops;

/// The number of operands as far as it is part of the signature.
static unsigned countOperands(Operation *op) {
  return isa<metaop::ConcatOp>(op) ? 0 : op->getNumOperands();
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

/// The value of a constant that has one; the shape beside it is the result's.
static Attribute getSplat(Operation *op) {
  if (auto constantOp = dyn_cast<metaop::ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(constantOp.getValue()))
      return splat.getSplatValue<Attribute>();
  return nullptr;
}

/// Returns the number that an operation has: a constant an integer, which may
/// follow an extent, a check the extent of what is indexed, a scan its trips,
/// if they are known.
static std::optional<int64_t> getNumber(Operation *op) {
  if (auto check = dyn_cast<metaop::CheckOp>(op))
    return check.getExtent();
  if (auto scan = dyn_cast<metaop::ScanOp>(op))
    return scan.getTrips();
  auto integer = dyn_cast_or_null<IntegerAttr>(getSplat(op));
  if (integer && !integer.getType().isInteger(1))
    return integer.getValue().getSExtValue();
  return std::nullopt;
}

/// Calls `use` with the properties, in which the number is 0, if there is one.
/// A scan that makes trips is another operation than one that makes none, whose
/// results are made of what it begins with (ResultSources.h).
template <typename Use> static auto withoutNumber(Operation *op, Use use) {
  auto zero = [](IntegerAttr number) {
    return IntegerAttr::get(number.getType(), 0);
  };
  if (auto check = dyn_cast<metaop::CheckOp>(op)) {
    auto properties = check.getProperties();
    properties.extent = zero(properties.extent);
    return use(OpaqueProperties(&properties));
  }
  if (auto scan = dyn_cast<metaop::ScanOp>(op); scan && scan.getTripsAttr()) {
    auto properties = scan.getProperties();
    properties.trips = IntegerAttr::get(properties.trips.getType(),
                                        properties.trips.getInt() > 0 ? 1 : 0);
    return use(OpaqueProperties(&properties));
  }
  return use(OpaqueProperties(op->getPropertiesStorage()));
}

static uint64_t hashProperties(Operation *op) {
  if (Attribute splat = getSplat(op))
    return getNumber(op) ? 0 : uint64_t(hash_value(splat));
  return withoutNumber(op, [&](OpaqueProperties properties) -> uint64_t {
    return op->getName().hashOpProperties(properties);
  });
}

static bool haveSameProperties(Operation *a, Operation *b) {
  Attribute splatA = getSplat(a), splatB = getSplat(b);
  if (splatA || splatB)
    return splatA && splatB &&
           (splatA == splatB || (getNumber(a) && getNumber(b)));
  return withoutNumber(a, [&](OpaqueProperties ofA) {
    return withoutNumber(b, [&](OpaqueProperties ofB) {
      return a->getName().compareOpProperties(ofA, ofB);
    });
  });
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static void appendShapes(TypeRange types, std::vector<int64_t> &numbers) {
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      llvm::append_range(numbers, tensor.getShape());
}

static void appendOwn(Operation *op, std::vector<int64_t> &numbers) {
  appendShapes(op->getResultTypes(), numbers);
  if (std::optional<int64_t> number = getNumber(op))
    numbers.push_back(*number);
}

void metaops::appendNumbers(Operation *op, std::vector<int64_t> &numbers) {
  if (op->getNumRegions() == 0)
    return appendOwn(op, numbers);
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    appendOwn(inner, numbers);
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        appendShapes(block.getArgumentTypes(), numbers);
  });
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

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

/// Returns a type but for extents: its element type and rank.
static std::pair<Type, int64_t> getKind(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? std::pair(tensor.getElementType(), tensor.getRank())
                : std::pair(type, int64_t(-1));
}

/// Of the operation without what is in its regions.
static uint64_t hashAlone(Operation *op) {
  llvm::hash_code hash =
      llvm::hash_combine(op->getName().getAsOpaquePointer(), hashProperties(op),
                         countOperands(op));
  for (Type result : op->getResultTypes()) {
    auto [element, rank] = getKind(result);
    hash = llvm::hash_combine(hash, element.getAsOpaquePointer(), rank);
  }
  return uint64_t(hash) >> 1; // keeps off the map's reserved keys
}

static bool haveSameResults(Operation *a, Operation *b) {
  return llvm::equal(a->getResultTypes(), b->getResultTypes(),
                     [](Type x, Type y) { return getKind(x) == getKind(y); });
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
             metaop::BarrierOp, metaop::ReindexOpInterface, metaop::GatherOp,
             metaop::ViewOpInterface>(op);
}

/// Returns what is to be known of an operation, of which the scans that make
/// trips make many or as many as they do.
static SignatureInfo describe(Operation *op, metaop::TripsTaken trips) {
  SignatureInfo info;
  info.isDifferentiable = isa<metaop::DifferentiableOpInterface>(op);
  info.isView = isa<metaop::BarrierOp, metaop::ViewOpInterface>(op);
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
  info.isExtern = metaop::lacksDerivatives(op);
  info.mayMissDerivatives =
      (info.hasRegions || info.isExtern) && metaop::mayMissDerivatives(op);
  info.mayReadResults =
      info.hasRegions && op->getNumResults() > 1 && metaop::mayReadResults(op);
  info.isRoutine = isa<metaop::RoutineOpInterface>(op) || info.hasRegions;
  info.isGenerator = isa<metaop::GeneratorOpInterface>(op);
  op->walk([&](metaop::RandomOp) { info.isRandom = true; });
  info.isVariadic = isa<metaop::ConcatOp>(op);
  if (auto custom = dyn_cast<metaop::CustomDerivativeOp>(op)) {
    info.isCustom = info.isDifferentiable = true;
    info.numValues = custom.getValues().size();
    info.isView = info.numValues > 0;
    info.isLinear = custom.getRules().empty();
    info.isRoutine = info.mayMissDerivatives = info.mayReadResults = false;
  }
  if (info.hasRegions || isa<metaop::BarrierOp>(op)) {
    metaop::ResultSources sources = metaop::findResultSources(op, trips);
    llvm::append_range(info.sources, sources.inputs);
    llvm::append_range(info.siblings, sources.siblings);
  }
  return info;
}

/// Throws with what a verifier says in `check`.
static void verifyBy(Operation *op, llvm::function_ref<LogicalResult()> check) {
  std::string message;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diag) {
    message += diag.str();
    return success();
  });
  if (failed(check()))
    fail(ErrorKind::Value, message);
}

/// Throws unless an operation with regions is valid and without effects.
static void verifyRegions(Operation *op) {
  // Dominance cannot be verified in a block that is in no region.
  OwningOpRef<Operation *> owner = copyApart(op);
  Operation *copy = &cast<ModuleOp>(*owner).getBody()->front();
  verifyBy(copy, [&] { return verify(copy); });
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

size_t SignatureTable::WordsHash::operator()(const Words &words) const {
  return llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(words.data()),
                     words.size() * sizeof(words[0])));
}

SignatureTable::Id SignatureTable::internWords(Operation *op, Words words,
                                               bool areMany) {
  auto [found, isNew] = withRegions.try_emplace(std::move(words), none);
  if (!isNew)
    return found->second;
  auto trips = areMany ? metaop::TripsTaken::Many : metaop::TripsTaken::Own;
  entries.push_back(
      {nullptr, countOperands(op), describe(op, trips), none, {}});
  if (areMany)
    llvm::append_range(entries.back().tripBounds, metaop::findTripBounds(op));
  hasMissing |= entries.back().info.mayMissDerivatives;
  return found->second = entries.size() - 1;
}

SignatureTable::Id SignatureTable::intern(Operation *op) {
  if (op->getNumRegions() == 0)
    return internAlone(op);
  Words words =
      writeRegions(op, [this](Operation *inner) { return internAlone(inner); });
  auto found = withRegions.find(words);
  if (found == withRegions.end())
    verifyRegions(op);
  Id many = found != withRegions.end()
                ? found->second
                : internWords(op, words, /*areMany=*/true);
  llvm::SmallVector<int64_t> trips =
      metaop::classifyTrips(op, entries[many].tripBounds);
  if (trips.empty())
    return many;
  // No text begins another one.
  llvm::append_range(words, trips);
  return internWords(op, std::move(words), /*areMany=*/false);
}

SignatureTable::Id SignatureTable::internAlone(Operation *op) {
  auto [first, isNew] = firstWithHash.try_emplace(hashAlone(op), none);
  for (Id id = first->second; id != none; id = entries[id].next) {
    const Entry &entry = entries[id];
    Operation *other = *entry.exemplar;
    if (other->getName() == op->getName() &&
        entry.numOperands == countOperands(op) && haveSameResults(op, other) &&
        haveSameProperties(op, other))
      return id;
  }
  // Regions are verified as a whole, and what is in them by itself, too, for it
  // may be recorded next.
  if (op->getNumRegions() == 0)
    verifyBy(op, [&] { return op->getName().verifyInvariants(op); });
  entries.push_back({copyWithoutOperands(op),
                     countOperands(op),
                     describe(op, metaop::TripsTaken::Own),
                     first->second,
                     {}});
  hasMissing |= entries.back().info.mayMissDerivatives;
  return first->second = entries.size() - 1;
}
