//===- ResultSources.cpp - What each result is made of --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Along a block each value has the set of what it is made of, as bits. A loop's
// body is gone through once, to find what a trip makes of what the loop
// carries (CarriedSources.h says what any trips make of that).
//
// A value that a block yields has a bit of its own from where it is made: so
// what else the block yields knows whether it is made of that.
//
// To the arguments of a function with derivatives of its own flows what its
// rules make of the cotangents, or the tangents, of its results.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ResultSources.h"

#include "CarriedSources.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::metaop;

using Bits = llvm::SmallBitVector;

static bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

static SmallVector<Value> getInputs(Operation *op) {
  SmallVector<Value> inputs(op->getOperands());
  if (op->getNumRegions() > 0)
    llvm::append_range(inputs, findCaptures(op));
  return inputs;
}

/// Returns whether a result of an operation without regions is made of all
/// operands. A view that has no derivative stops gradients.
static bool passesGradients(Operation *op) {
  return isa<DifferentiableOpInterface>(op) || !isa<ViewOpInterface>(op);
}

//===----------------------------------------------------------------------===//
// Sets of what values are made of
//===----------------------------------------------------------------------===//

namespace {
class SourceFinder;

/// The sets of the values in an operation's regions. Behind a bit for each of
/// the operation's inputs they have one for each value that a loop carries, and
/// one for each that its body, or a branch, yields.
class Sets {
public:
  Sets(SourceFinder &finder, ArrayRef<Value> inputs, unsigned numCarries,
       unsigned numYielded);

  const Bits &operator[](Value value) const {
    auto found = bits.find(value);
    return found == bits.end() ? none : found->second;
  }
  SmallVector<Bits> get(ValueRange values) const {
    return llvm::map_to_vector(values,
                               [&](Value value) { return (*this)[value]; });
  }
  /// Returns the sets of what a loop carries, made of nothing but itself.
  SmallVector<Bits> getCarries() const;
  /// Gives the sets of a block's arguments to those of its values that follow.
  /// Returns those of what is handed on.
  SmallVector<Bits> run(Block &block, ArrayRef<Bits> arguments,
                        bool marksYielded = true);
  /// Returns, for each of so many values that a block yields, those of the
  /// first `numOf` ones that it is made of there; empty if there are none.
  SmallVector<Bits> getSiblings(Block &block, unsigned numOf,
                                unsigned numResults) const;
  /// Returns the sets of operands of the operation, each made of itself,
  /// whatever other operand it may be the same value as.
  SmallVector<Bits> getOperands(OperandRange operands) const;
  CarriedSources carry(OperandRange inits, SmallVector<Bits> next) const {
    return {numInputs, getOperands(inits), std::move(next)};
  }

private:
  void make(Operation &op, Value result, Bits made);
  Bits findMade(Operation &op) const;
  void runRegions(Operation &op);

  SourceFinder &finder;
  unsigned numInputs, numCarries;
  Bits none;
  llvm::DenseMap<Value, Bits> bits;
  /// The places at which the block that is run yields its values.
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> yieldedAt;
};

/// Finds what results are made of, and what that has found of scans.
class SourceFinder {
public:
  explicit SourceFinder(TripsTaken trips) : trips(trips) {}

  ResultSources find(Operation *op);
  /// Returns the number of trips of a scan from which on nothing changes; 0
  /// where there is none, 1 where the scan has not been met.
  int64_t getBound(Operation *scan) const {
    auto found = bounds.find(scan);
    return found == bounds.end() ? 1 : found->second;
  }

private:
  ResultSources runScan(ArrayRef<Value> inputs, ScanOp scan);
  ResultSources runWhile(ArrayRef<Value> inputs, scf::WhileOp loop);
  ResultSources runFor(ArrayRef<Value> inputs, scf::ForOp loop);
  ResultSources runBranches(ArrayRef<Value> inputs, Operation *op);

  TripsTaken trips;
  llvm::DenseMap<Operation *, int64_t> bounds;
};
} // namespace

Sets::Sets(SourceFinder &finder, ArrayRef<Value> inputs, unsigned numCarries,
           unsigned numYielded)
    : finder(finder), numInputs(inputs.size()), numCarries(numCarries),
      none(inputs.size() + numCarries + numYielded) {
  // Captures stand behind operands, which may be the same values. Regions read
  // captures.
  for (auto [number, input] : llvm::enumerate(inputs)) {
    Bits own = none;
    own.set(number);
    bits[input] = std::move(own);
  }
}

SmallVector<Bits> Sets::getOperands(OperandRange operands) const {
  SmallVector<Bits> sets(operands.size(), none);
  for (auto [place, own] : llvm::enumerate(sets))
    own.set(operands.getBeginOperandIndex() + place);
  return sets;
}

SmallVector<Bits> Sets::getCarries() const {
  SmallVector<Bits> carries(numCarries, none);
  for (auto [number, carry] : llvm::enumerate(carries))
    carry.set(numInputs + number);
  return carries;
}

void Sets::make(Operation &op, Value result, Bits made) {
  if (!isFloat(result))
    return;
  for (unsigned place : yieldedAt.lookup(result))
    made.set(numInputs + numCarries + place);
  bits[result] = std::move(made);
}

/// Returns what an operation without regions is made of, as a whole.
Bits Sets::findMade(Operation &op) const {
  Bits made = none;
  if (passesGradients(&op))
    for (Value operand : op.getOperands())
      if (auto found = bits.find(operand); found != bits.end())
        made |= found->second;
  return made;
}

void Sets::runRegions(Operation &op) {
  SmallVector<Value> inputs = getInputs(&op);
  ResultSources sources = finder.find(&op);
  for (auto [result, of] : llvm::zip_equal(op.getResults(), sources.inputs)) {
    Bits made = none;
    for (unsigned number : of.set_bits())
      made |= (*this)[inputs[number]];
    make(op, result, std::move(made));
  }
  for (auto [result, of] : llvm::zip(op.getResults(), sources.siblings))
    for (unsigned number : of.set_bits())
      for (unsigned place : yieldedAt.lookup(op.getResult(number)))
        bits[result].set(numInputs + numCarries + place);
}

SmallVector<Bits> Sets::run(Block &block, ArrayRef<Bits> arguments,
                            bool marksYielded) {
  for (auto [argument, made] : llvm::zip(block.getArguments(), arguments))
    bits[argument] = made;
  yieldedAt.clear();
  OperandRange yielded = block.getTerminator()->getOperands();
  if (marksYielded)
    for (auto [place, value] : llvm::enumerate(yielded))
      if (value.getDefiningOp() && value.getParentBlock() == &block)
        yieldedAt[value].push_back(place);
  for (Operation &op : block.without_terminator()) {
    if (op.getNumRegions() > 0 || isa<BarrierOp, CustomDerivativeOp>(op)) {
      runRegions(op);
      continue;
    }
    Bits made = findMade(op);
    for (Value result : op.getResults())
      make(op, result, made);
  }
  return get(yielded);
}

SmallVector<Bits> Sets::getSiblings(Block &block, unsigned numOf,
                                    unsigned numResults) const {
  SmallVector<Bits> siblings;
  OperandRange yielded = block.getTerminator()->getOperands();
  unsigned first = numInputs + numCarries;
  for (auto [number, value] : llvm::enumerate(yielded.take_front(numResults))) {
    const Bits &made = (*this)[value];
    for (int bit = made.find_next(static_cast<int>(first) - 1); bit >= 0;
         bit = made.find_next(bit)) {
      unsigned other = bit - first;
      if (other >= numOf || yielded[other] == value)
        continue;
      siblings.resize(numResults, Bits(numResults));
      siblings[number].set(other);
    }
  }
  return siblings;
}

//===----------------------------------------------------------------------===//
// Operations with regions
//===----------------------------------------------------------------------===//

ResultSources SourceFinder::runScan(ArrayRef<Value> inputs, ScanOp scan) {
  unsigned numCarries = scan.getInits().size();
  Block &body = scan.getBody().front();
  Sets sets(*this, inputs, numCarries, scan->getNumResults());
  SmallVector<Bits> arguments = sets.getCarries();
  llvm::append_range(arguments, sets.getOperands(scan.getRows()));
  CarriedSources carried =
      sets.carry(scan.getInits(), sets.run(body, arguments));
  ResultSources sources;
  sources.siblings = sets.getSiblings(body, numCarries, scan->getNumResults());
  if (scan.getCount() || !scan.getTrips()) {
    sources.inputs = carried.findAny();
    return sources;
  }
  if (scan.getTrips() == 0) {
    sources.inputs = carried.findExact(0);
    return sources;
  }
  int64_t bound = carried.findBound();
  bounds[scan] = bound;
  sources.inputs = trips == TripsTaken::Many && bound > 0
                       ? carried.findExact(bound)
                       : carried.findExact(*scan.getTrips());
  return sources;
}

ResultSources SourceFinder::runWhile(ArrayRef<Value> inputs,
                                     scf::WhileOp loop) {
  Block &after = *loop.getAfterBody();
  unsigned numYielded = loop.getYieldOp()->getNumOperands();
  Sets sets(*this, inputs, loop.getInits().size(), numYielded);
  sets.run(*loop.getBeforeBody(), sets.getCarries(), /*marksYielded=*/false);
  SmallVector<Bits> handedOn = sets.get(loop.getConditionOp().getArgs());
  CarriedSources carried =
      sets.carry(loop.getInits(), sets.run(after, handedOn));
  // Of other numbers, results are not what trips yield.
  SmallVector<Bits> siblings;
  if (numYielded == loop->getNumResults())
    siblings = sets.getSiblings(after, numYielded, numYielded);
  return {carried.resolveAny(handedOn), std::move(siblings)};
}

ResultSources SourceFinder::runFor(ArrayRef<Value> inputs, scf::ForOp loop) {
  Sets sets(*this, inputs, loop.getInitArgs().size(), /*numYielded=*/0);
  SmallVector<Bits> arguments =
      sets.getOperands(loop->getOperands().take_front());
  llvm::append_range(arguments, sets.getCarries());
  SmallVector<Bits> next =
      sets.run(*loop.getBody(), arguments, /*marksYielded=*/false);
  return {sets.carry(loop.getInitArgs(), std::move(next)).findAny(), {}};
}

ResultSources SourceFinder::runBranches(ArrayRef<Value> inputs, Operation *op) {
  unsigned numResults = op->getNumResults();
  Sets sets(*this, inputs, /*numCarries=*/0, numResults);
  ResultSources sources;
  sources.inputs.assign(numResults, Bits(inputs.size()));
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    Block &block = region.front();
    for (auto [of, handedOn] : llvm::zip(sources.inputs, sets.run(block, {}))) {
      Bits made = handedOn;
      made.resize(inputs.size());
      of |= made;
    }
    SmallVector<Bits> siblings =
        sets.getSiblings(block, numResults, numResults);
    if (sources.siblings.empty())
      sources.siblings = std::move(siblings);
    else
      for (auto [of, others] : llvm::zip(sources.siblings, siblings))
        of |= others;
  }
  return sources;
}

//===----------------------------------------------------------------------===//
// Functions with derivatives of their own
//===----------------------------------------------------------------------===//

/// Adds which operand of the block's terminator is made of which argument, by
/// whatever operations: `add` is called with the numbers of both.
static void forEachMade(
    Block *rule,
    llvm::function_ref<void(unsigned handedOn, unsigned argument)> add) {
  if (!rule)
    return;
  llvm::DenseMap<Value, Bits> sets;
  unsigned numArguments = rule->getNumArguments();
  for (BlockArgument argument : rule->getArguments()) {
    Bits &bits = sets[argument];
    bits.resize(numArguments);
    bits.set(argument.getArgNumber());
  }
  auto collect = [&](ValueRange values) {
    Bits bits(numArguments);
    for (Value value : values)
      if (auto found = sets.find(value); found != sets.end())
        bits |= found->second;
    return bits;
  };
  for (Operation &op : rule->without_terminator()) {
    Bits bits = collect(getInputs(&op));
    for (Value result : op.getResults())
      sets[result] = bits;
  }
  for (auto [number, value] :
       llvm::enumerate(rule->getTerminator()->getOperands())) {
    Bits made = collect(value);
    for (unsigned argument : made.set_bits())
      add(number, argument);
  }
}

static SmallVector<Bits> findCustomSources(CustomDerivativeOp op) {
  unsigned numValues = op.getValues().size();
  unsigned numArguments = op.getArguments().size();
  // To what rules read nothing flows.
  Bits captures(op->getNumOperands() + findCaptures(op).size());
  captures.set(numValues + numArguments, op->getNumOperands());
  SmallVector<Bits> sources(op->getNumResults(), captures);
  if (op.getRules().empty()) {
    for (Bits &of : sources)
      of.set(numValues, numValues + numArguments);
    return sources;
  }
  forEachMade(op.getGradientRule(), [&](unsigned argument, unsigned result) {
    sources[result].set(numValues + argument);
  });
  forEachMade(op.getTangentRule(), [&](unsigned result, unsigned argument) {
    sources[result].set(numValues + argument);
  });
  return sources;
}

//===----------------------------------------------------------------------===//
// Any operation
//===----------------------------------------------------------------------===//

ResultSources SourceFinder::find(Operation *op) {
  if (auto custom = dyn_cast<CustomDerivativeOp>(op))
    return {findCustomSources(custom), {}};
  SmallVector<Value> inputs = getInputs(op);
  Bits none(inputs.size()), all(inputs.size(), true);
  ResultSources sources;
  sources.inputs.assign(op->getNumResults(), none);
  if (op->getNumRegions() > 0) {
    sources =
        llvm::TypeSwitch<Operation *, ResultSources>(op)
            .Case([&](ScanOp scan) { return runScan(inputs, scan); })
            .Case([&](scf::WhileOp loop) { return runWhile(inputs, loop); })
            .Case([&](scf::ForOp loop) { return runFor(inputs, loop); })
            .Case<scf::IfOp, scf::ExecuteRegionOp>(
                [&](auto branch) { return runBranches(inputs, branch); })
            .Default([&](Operation *) {
              return ResultSources{SmallVector<Bits>(op->getNumResults(), all),
                                   {}};
            });
  } else if (isa<BarrierOp>(op)) {
    for (auto [number, of] : llvm::enumerate(sources.inputs))
      of.set(number);
  } else if (passesGradients(op)) {
    llvm::fill(sources.inputs, all);
  }
  for (auto [result, of] : llvm::zip_equal(op->getResults(), sources.inputs))
    if (!isFloat(result))
      of = none;
  return sources;
}

ResultSources metaop::findResultSources(Operation *op, TripsTaken trips) {
  return SourceFinder(trips).find(op);
}

/// Calls `visit` with the scans that make trips whose number is known, outer
/// ones behind those inside.
static void forEachKnownScan(Operation *op,
                             llvm::function_ref<void(ScanOp)> visit) {
  op->walk([&](ScanOp scan) {
    if (scan.getTrips() && *scan.getTrips() > 0 && !scan.getCount())
      visit(scan);
  });
}

SmallVector<int64_t> metaop::findTripBounds(Operation *op) {
  SmallVector<int64_t> bounds;
  bool matter = false;
  SourceFinder finder(TripsTaken::Many);
  bool isFound = false;
  forEachKnownScan(op, [&](ScanOp scan) {
    if (!std::exchange(isFound, true))
      finder.find(op);
    bounds.push_back(finder.getBound(scan));
    matter |= bounds.back() != 1;
  });
  if (!matter)
    bounds.clear();
  return bounds;
}

SmallVector<int64_t> metaop::classifyTrips(Operation *op,
                                           ArrayRef<int64_t> bounds) {
  SmallVector<int64_t> classes;
  if (bounds.empty())
    return classes;
  bool areMany = true;
  llvm::DenseSet<Operation *> around;
  forEachKnownScan(op, [&](ScanOp scan) {
    int64_t trips = *scan.getTrips(), bound = bounds.front();
    bounds = bounds.drop_front();
    bool isMany = bound > 0 && trips >= bound && !around.contains(scan);
    classes.push_back(isMany ? 0 : trips);
    areMany &= isMany;
    // Bounds of those around are for many trips inside.
    for (Operation *inner = scan; !isMany && inner != op;) {
      inner = inner->getParentOp();
      around.insert(inner);
    }
  });
  if (areMany)
    classes.clear();
  return classes;
}
