//===- OrderSteps.cpp - An order of steps in which little lives -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps come in the order in which their operators were recorded: a training
// step's forward part, all gradients by intermediate values, then the gradients
// by weights and the updates, which so keep what they read alive. Any order in
// which each step comes behind those that it reads from is as right.
//
// A step that may write its result over an argument has to come behind all
// others that read the argument, if it can: these are dependences, too.
//
// Two greedy passes are tried, alone and one behind the other:
//  * *Sinking*, from the last step to the first: a step that makes more than it
//    is the last one to read (weights packed for a product, say) moves to
//    before its first reader.
//  * *Hoisting*: of the steps that are ready, the one comes next that frees the
//    most beyond what it makes; else the group of a step and of a few that it
//    waits for; else the first one in the order as it was.
// The order is taken in which the least lives where most does, and the old one
// if that saves little: steps that were recorded together are then near each
// other for whoever reads a trace.
//
// Steps before the last one that may fail stay: what fails should do so early,
// and nothing is written over before.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"

#include "LiveRanges.h"
#include "ReadFirst.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

#include <set>

namespace mlir::metaop {
#define GEN_PASS_DEF_ORDERSTEPSPASS
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Longer programs keep their order: time grows with the square of the steps.
static constexpr size_t kMaxOrderedSteps = 4096;
/// Less is not worth another order.
static constexpr int64_t kMinBytes = int64_t(1) << 18;
/// The part of what lives that an order has to save.
static constexpr int64_t kMinSavedLivePart = 64;
/// Steps that wait together for a step which frees memory.
static constexpr size_t kMaxWaiting = 3;

namespace {

/// Steps by their numbers in the block.
using Order = SmallVector<unsigned>;

struct Step {
  Operation *op;
  /// Views and numbers, which have no memory.
  bool isFree;
  /// Steps that come before this one, and behind it.
  llvm::SmallSetVector<unsigned, 4> before, behind;
  /// Values in the arena that it makes or reads, and those that it makes.
  llvm::SmallSetVector<unsigned, 4> values, made;
};

class StepGraph {
public:
  StepGraph(func::FuncOp main, const LiveRanges &liveRanges);

  size_t size() const { return steps.size(); }
  /// An order in which less lives than in the block's; none if that is little.
  std::optional<Order> findBetter() const;
  void apply(ArrayRef<unsigned> order);

private:
  /// Values that live behind the steps that have been placed.
  struct State {
    SmallVector<unsigned> unplaced;
    llvm::BitVector isMade;
    int64_t live = 0, most = 0;
  };

  void addStep(Operation &op);
  std::optional<unsigned> getValue(Value value);
  void addOverwrites(unsigned number);
  bool isBehind(unsigned step, unsigned other) const;
  State makeState() const;
  int64_t getGrowth(const State &state, ArrayRef<unsigned> group) const;
  void place(State &state, unsigned step) const;
  int64_t getMostLive(ArrayRef<unsigned> order) const;
  Order sink(Order order) const;
  Order hoist(ArrayRef<unsigned> order) const;

  func::FuncOp main;
  const LiveRanges &liveRanges;
  SmallVector<Step> steps;
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::DenseMap<Value, unsigned> valueNumbers;
  SmallVector<int64_t> bytes;
  /// For each value, the steps that make or read it.
  SmallVector<unsigned> uses;
  /// The first step behind the last check.
  unsigned first = 0;
};

/// Takes steps one after another, each when those before it have been taken.
class StepQueue {
public:
  StepQueue(ArrayRef<Step> steps, ArrayRef<unsigned> order);

  void take(unsigned step);
  bool isEmpty() const { return ready.empty(); }
  /// The ready steps in order.
  auto getReady() const {
    return llvm::map_range(ready, [&](unsigned rank) { return order[rank]; });
  }
  /// The steps not taken that `step` waits for, each behind those that it waits
  /// for, and `step`; none if there are many.
  std::optional<Order> getWaiting(unsigned step) const;
  bool isTaken(unsigned step) const { return taken.test(step); }

private:
  ArrayRef<Step> steps;
  ArrayRef<unsigned> order;
  SmallVector<unsigned> ranks, numOpen;
  llvm::BitVector taken;
  std::set<unsigned> ready;
};

} // namespace

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// Calls `visit` with all that an operation, and what is inside of it, reads.
static void forEachRead(Operation &op, llvm::function_ref<void(Value)> visit) {
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      visit(operand);
      // A condition is read out of a tensor where it decides.
      if (auto number = operand.getDefiningOp<tensor::ExtractOp>())
        visit(number.getTensor());
    }
  });
}

/// The number of the value that has the memory of this one; none if that is not
/// in the arena.
std::optional<unsigned> StepGraph::getValue(Value value) {
  if (!isa<TensorType>(value.getType()))
    return std::nullopt;
  Value root = liveRanges.getRoot(value);
  if (root.getParentBlock() != &main.getBody().front() ||
      isa<BlockArgument>(root) || liveRanges.getReturned(root))
    return std::nullopt;
  auto [found, isNew] = valueNumbers.try_emplace(root, bytes.size());
  if (isNew) {
    bytes.push_back(countBytes(root.getType()));
    uses.push_back(0);
  }
  return found->second;
}

void StepGraph::addStep(Operation &op) {
  unsigned number = steps.size();
  numbers[&op] = number;
  Step &step = steps.emplace_back();
  step.op = &op;
  step.isFree = !isStep(&op) && !isControlFlow(&op);
  auto addTo = [&](llvm::SmallSetVector<unsigned, 4> &values, Value value) {
    if (std::optional<unsigned> found =
            step.isFree ? std::nullopt : getValue(value))
      values.insert(*found);
  };
  forEachRead(op, [&](Value operand) {
    if (Operation *maker = operand.getDefiningOp())
      if (auto found = numbers.find(maker);
          found != numbers.end() && found->second != number)
        step.before.insert(found->second);
    addTo(step.values, operand);
  });
  for (Value result : op.getResults())
    addTo(step.made, result);
  step.values.insert(step.made.begin(), step.made.end());
  for (unsigned value : step.values)
    ++uses[value];
  for (unsigned other : step.before)
    steps[other].behind.insert(number);
  if (mayFail(&op))
    first = number + 1;
}

/// Returns whether `step` has to come behind `other`.
bool StepGraph::isBehind(unsigned step, unsigned other) const {
  Order stack = {other};
  llvm::BitVector seen(steps.size());
  while (!stack.empty())
    for (unsigned next : steps[stack.pop_back_val()].behind) {
      if (next == step)
        return true;
      if (!seen.test(next)) {
        seen.set(next);
        stack.push_back(next);
      }
    }
  return false;
}

/// Has a call or a placement come behind all others that read what it may write
/// over.
void StepGraph::addOverwrites(unsigned number) {
  Operation *op = steps[number].op;
  if (!isa<func::CallOp, PlacementOpInterface>(op))
    return;
  llvm::SmallDenseSet<int64_t> sizes;
  for (Value result : op->getResults())
    if (liveRanges.getReturned(liveRanges.getRoot(result)))
      sizes.insert(countBytes(result.getType()));
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType()))
      continue;
    auto argument = dyn_cast<BlockArgument>(liveRanges.getRoot(operand));
    if (!argument || argument.getOwner() != &main.getBody().front() ||
        !sizes.contains(countBytes(argument.getType())) ||
        !main.getArgAttr(argument.getArgNumber(),
                         MetaOpDialect::DonatableAttrHelper::getNameStr()))
      continue;
    for (auto [other, step] : llvm::enumerate(steps)) {
      bool reads = false;
      if (other != number && !step.isFree)
        forEachRead(*step.op, [&](Value read) {
          reads |= isa<TensorType>(read.getType()) &&
                   liveRanges.getRoot(read) == argument;
        });
      if (!reads || isBehind(other, number))
        continue;
      steps[number].before.insert(other);
      step.behind.insert(number);
    }
  }
}

StepGraph::StepGraph(func::FuncOp main, const LiveRanges &liveRanges)
    : main(main), liveRanges(liveRanges) {
  Block &block = main.getBody().front();
  size_t count = block.getOperations().size() - 1;
  if (count > kMaxOrderedSteps)
    return;
  steps.reserve(count);
  for (Operation &op : block.without_terminator())
    addStep(op);
  // Before the last check nothing is written over.
  for (unsigned number = first; number < steps.size(); ++number)
    addOverwrites(number);
}

//===----------------------------------------------------------------------===//
// What lives
//===----------------------------------------------------------------------===//

StepGraph::State StepGraph::makeState() const {
  State state;
  state.unplaced.assign(uses.begin(), uses.end());
  state.isMade.resize(bytes.size());
  return state;
}

/// The bytes that live behind a group of steps and did not before.
int64_t StepGraph::getGrowth(const State &state,
                             ArrayRef<unsigned> group) const {
  llvm::SmallDenseMap<unsigned, unsigned, 8> usesInside;
  for (unsigned step : group)
    for (unsigned value : steps[step].values)
      ++usesInside[value];
  int64_t growth = 0;
  for (auto [value, count] : usesInside) {
    if (!state.isMade.test(value))
      growth += bytes[value];
    if (state.unplaced[value] == count)
      growth -= bytes[value];
  }
  return growth;
}

/// A call may write a result over what it is the last one to read, if both have
/// as many bytes.
void StepGraph::place(State &state, unsigned step) const {
  SmallVector<int64_t> freed;
  for (unsigned value : steps[step].values)
    if (--state.unplaced[value] == 0)
      freed.push_back(bytes[value]);
  int64_t apart = 0;
  for (unsigned value : steps[step].values) {
    if (state.isMade.test(value))
      continue;
    state.isMade.set(value);
    state.live += bytes[value];
    auto *over = llvm::find(freed, bytes[value]);
    if (state.unplaced[value] > 0 && over != freed.end()) {
      apart += *over;
      *over = 0;
      state.live -= bytes[value];
    }
  }
  state.most = std::max(state.most, state.live);
  state.live += apart;
  for (unsigned value : steps[step].values)
    if (state.unplaced[value] == 0)
      state.live -= bytes[value];
}

int64_t StepGraph::getMostLive(ArrayRef<unsigned> order) const {
  State state = makeState();
  for (unsigned step : order)
    place(state, step);
  return state.most;
}

//===----------------------------------------------------------------------===//
// Sinking
//===----------------------------------------------------------------------===//

Order StepGraph::sink(Order order) const {
  Order behind;
  llvm::BitVector isReadLater(bytes.size());
  while (!order.empty()) {
    unsigned number = order.pop_back_val();
    const Step &step = steps[number];
    // An operation that is no step goes to its reader, whatever it makes.
    int64_t made = step.isFree, kept = 0;
    for (unsigned value : step.values) {
      if (step.made.contains(value))
        made += bytes[value];
      else if (!isReadLater.test(value))
        kept += bytes[value];
    }
    auto *at = behind.begin();
    if (number >= first && !step.behind.empty() && made > kept)
      at = llvm::find_if(
          behind, [&](unsigned other) { return step.behind.contains(other); });
    behind.insert(at, number);
    for (unsigned value : step.values)
      isReadLater.set(value);
  }
  return behind;
}

//===----------------------------------------------------------------------===//
// Hoisting
//===----------------------------------------------------------------------===//

StepQueue::StepQueue(ArrayRef<Step> steps, ArrayRef<unsigned> order)
    : steps(steps), order(order), ranks(steps.size()), numOpen(steps.size()),
      taken(steps.size()) {
  for (auto [rank, step] : llvm::enumerate(order))
    ranks[step] = rank;
  for (auto [number, step] : llvm::enumerate(steps)) {
    numOpen[number] = step.before.size();
    if (numOpen[number] == 0)
      ready.insert(ranks[number]);
  }
}

void StepQueue::take(unsigned step) {
  assert(!taken.test(step) && numOpen[step] == 0 && "a step is not ready");
  ready.erase(ranks[step]);
  taken.set(step);
  for (unsigned next : steps[step].behind)
    if (--numOpen[next] == 0)
      ready.insert(ranks[next]);
}

std::optional<Order> StepQueue::getWaiting(unsigned step) const {
  llvm::SmallSetVector<unsigned, 8> waiting;
  waiting.insert(step);
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (numOpen[waiting[i]] > kMaxWaiting)
      return std::nullopt;
    for (unsigned other : steps[waiting[i]].before)
      if (!taken.test(other))
        waiting.insert(other);
    if (waiting.size() > kMaxWaiting + 1)
      return std::nullopt;
  }
  Order group;
  while (group.size() < waiting.size())
    for (unsigned member : waiting)
      if (!llvm::is_contained(group, member) &&
          llvm::all_of(steps[member].before, [&](unsigned other) {
            return taken.test(other) || llvm::is_contained(group, other);
          }))
        group.push_back(member);
  return group;
}

Order StepGraph::hoist(ArrayRef<unsigned> order) const {
  StepQueue queue(steps, order);
  State state = makeState();
  Order result;
  auto take = [&](ArrayRef<unsigned> group) {
    for (unsigned step : group) {
      queue.take(step);
      place(state, step);
      result.push_back(step);
    }
  };
  take(order.take_front(first));
  while (!queue.isEmpty()) {
    Order best;
    int64_t least = 0;
    auto offer = [&](ArrayRef<unsigned> group) {
      int64_t growth = getGrowth(state, group);
      if (growth >= least)
        return;
      least = growth;
      best.assign(group.begin(), group.end());
    };
    auto ready = queue.getReady();
    auto free =
        llvm::find_if(ready, [&](unsigned step) { return steps[step].isFree; });
    if (free != ready.end()) {
      take(*free);
      continue;
    }
    for (unsigned step : ready)
      offer(step);
    llvm::SmallSetVector<unsigned, 16> next;
    if (best.empty())
      for (unsigned step : ready)
        for (unsigned other : steps[step].behind)
          if (!steps[other].isFree)
            next.insert(other);
    for (unsigned step : next)
      if (std::optional<Order> group = queue.getWaiting(step))
        offer(*group);
    if (best.empty())
      best.push_back(*ready.begin());
    take(best);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

std::optional<Order> StepGraph::findBetter() const {
  auto old = llvm::to_vector(llvm::seq<unsigned>(0, steps.size()));
  int64_t most = getMostLive(old);
  if (most < kMinBytes)
    return std::nullopt;
  int64_t least = most - most / kMinSavedLivePart;
  std::optional<Order> best;
  Order sunk = sink(old);
  for (const Order &order : {sunk, hoist(old), hoist(sunk)})
    if (int64_t live = getMostLive(order); live < least) {
      least = live;
      best = order;
    }
  return best;
}

void StepGraph::apply(ArrayRef<unsigned> order) {
  Operation *end = main.getBody().front().getTerminator();
  for (unsigned step : order)
    steps[step].op->moveBefore(end);
}

namespace {
struct OrderStepsPass : metaop::impl::OrderStepsPassBase<OrderStepsPass> {
  using OrderStepsPassBase::OrderStepsPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto main = symbols.lookup<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    readFirst(main);
    FailureOr<LiveRanges> liveRanges =
        LiveRanges::find(main, symbols, partAlignment);
    if (failed(liveRanges))
      return signalPassFailure();
    StepGraph graph(main, *liveRanges);
    if (std::optional<Order> order = graph.findBetter())
      graph.apply(*order);
  }
};
} // namespace
