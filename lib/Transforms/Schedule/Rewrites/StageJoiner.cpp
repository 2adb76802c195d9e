//===- StageJoiner.cpp - Stages that share outer loops --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A softmax is three stages: the maximum of a row, the sum of its exponentials,
// and the quotients. One after another they bring each row from memory three
// times. In one kernel, with the loop over rows around all three (loop fusion;
// Halide's compute_at), the row stays in cache, and what only these stages read
// becomes a row of local memory.
//
// Kernels are taken in program order, and each is joined with the kernels whose
// results it reads, the latest first. Both sides are groups of stages with
// *slots*: loops that each of their stages can have outside, in parallel. The
// slots of the joined group are the pairs of slots that number the same
// dimension of every value that passes between the two. They join if
//  * each iteration of these slots reads what it has itself computed, and
//    nothing else of the group's results (SharedLoops.cpp);
//  * nothing computed in between by others depends on one and feeds the other
//    (GroupOrder.cpp);
//  * no stage of weight loses a loop that is worth more to it as it is;
//  * there is not too much code;
//  * the target finds it worth it.
//
// Values that only the group reads are local if the target has a place for what
// an iteration writes of them. Others become results of the kernel, though
// nobody outside may read them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Rewrites/StageJoiner.h"
#include "MetaOps/Dialect/MetaOp/Analysis/CodeSize.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Fusion/GroupOrder.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <queue>

using namespace mlir;
using namespace mlir::metaop;

/// A stage this many times smaller than the group may do without vectors.
static constexpr int64_t kSmallStageRatio = 8;
/// Longer loop bodies only cost compile time.
static constexpr size_t kMaxStages = 16;

using Group = JoinGroup;
using Dependence = JoinDependence;

namespace {
class Joiner {
public:
  Joiner(Block &block, const JoinTarget &target, bool report)
      : block(block), target(target), report(report),
        order(block.getOperations().size()) {}

  LogicalResult run();

private:
  LogicalResult makeGroups();
  LogicalResult makeGroup(KernelOp kernel);
  bool join(unsigned a, unsigned b);
  std::optional<SmallVector<Dependence>> getDependences(const Group &from,
                                                        const Group &to) const;
  SmallVector<std::pair<unsigned, unsigned>>
  matchSlots(ArrayRef<Dependence> dependences, const Group &a,
             const Group &b) const;
  Group combine(const Group &a, const Group &b,
                ArrayRef<std::pair<unsigned, unsigned>> pairs) const;
  void numberOps();
  void reorder();
  bool leaves(const Group &group, Value result) const;
  void rewrite(Group &group);
  LogicalResult checkForced();

  Block &block;
  const JoinTarget &target;
  bool report;
  /// Groups by number; those that were merged into another have no kernels.
  SmallVector<Group> groups;
  llvm::DenseMap<Operation *, unsigned> groupOf;
  /// The operations of the block by their places in it.
  llvm::DenseMap<Operation *, unsigned> nodeOf;
  GroupOrder order;
};

} // namespace

//===----------------------------------------------------------------------===//
// Groups of one stage
//===----------------------------------------------------------------------===//

int64_t metaop::countIterations(const Stage &stage) {
  int64_t iterations = 1;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
    iterations *= stage.getPlannedExtent(loop);
  return iterations;
}

static bool isStatic(FusedOp op) {
  auto hasShape = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), hasShape) &&
         llvm::all_of(op->getResultTypes(), hasShape) &&
         op.getIterationValue().getType().hasStaticShape();
}

/// Makes a group of a kernel that may join others.
LogicalResult Joiner::makeGroup(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  if (!llvm::hasNItems(body, 2) || isForbidden(kernel, kJoinStages))
    return success();
  auto op = cast<FusedOp>(body.front());
  if (op.getScheduleAttr() || !isStatic(op))
    return success();
  FailureOr<Stage> stage = Stage::build(op);
  if (failed(stage))
    return failure();
  if (stage->isEmpty())
    return success();
  // Rows of its own would be one chain of steps each, and no others beside it.
  if (stage->carry)
    return success();
  // A scatter walks its source in order, whatever dimensions others keep.
  if (llvm::any_of(stage->writes, [&](const StageWrite &write) {
        return stage->isIndirect(write.place);
      }))
    return success();
  Group group;
  group.kernels = {kernel};
  group.work = countIterations(*stage);
  group.code = stage->getCodeSize();
  auto joined = std::make_shared<JoinedStage>();
  joined->op = op;
  int64_t blocked = -1;
  for (int64_t loop : target.getLoops(*stage, blocked)) {
    if (llvm::any_of(stage->writes, [&](const StageWrite &write) {
          return !write.disjoint.test(loop);
        }))
      continue;
    JoinSlot slot;
    slot.extent = stage->getStaticExtent(loop);
    slot.planned = stage->getPlannedExtent(loop);
    if (loop == blocked)
      slot.blockedWork = group.work;
    joined->slots.push_back(loop);
    group.slots.push_back(slot);
  }
  joined->model = std::move(*stage);
  group.stages.push_back(std::move(joined));
  if (group.slots.empty())
    return success();
  groupOf[kernel] = groups.size();
  groups.push_back(std::move(group));
  return success();
}

LogicalResult Joiner::makeGroups() {
  for (auto kernel : block.getOps<KernelOp>())
    if (failed(makeGroup(kernel)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// What passes between two groups
//===----------------------------------------------------------------------===//

/// The value of the block that an argument of a stage is.
static Value getBlockValue(FusedOp op, Value argument) {
  auto kernel = cast<KernelOp>(op->getParentOp());
  auto inner = cast<BlockArgument>(getOuterValue(op, argument));
  return kernel.getInputs()[inner.getArgNumber()];
}

/// The result of `op` that a value of the block is.
static std::optional<unsigned> getResultNumber(FusedOp op, Value value) {
  auto kernel = cast<KernelOp>(op->getParentOp());
  auto result = dyn_cast<OpResult>(value);
  if (!result || result.getOwner() != kernel)
    return std::nullopt;
  Value yielded = kernel.getYield().getOperand(result.getResultNumber());
  if (yielded.getDefiningOp() != op)
    return std::nullopt;
  return cast<OpResult>(yielded).getResultNumber();
}

/// All that `to` reads of what `from` writes; none if it does so outside of
/// loops, as a number.
std::optional<SmallVector<Dependence>>
Joiner::getDependences(const Group &from, const Group &to) const {
  SmallVector<Dependence> dependences;
  for (const auto &reader : to.stages) {
    llvm::SmallDenseSet<Value> isRead;
    for (const StageRead &read : reader->model.reads) {
      if (!isa<BlockArgument>(read.source))
        continue;
      isRead.insert(read.source);
      Value value = getBlockValue(reader->op, read.source);
      for (const auto &writer : from.stages)
        if (auto number = getResultNumber(writer->op, value))
          for (const StageWrite &write : writer->model.writes)
            if (write.result == *number)
              dependences.push_back(
                  {writer.get(), reader.get(), &write, &read});
    }
    auto isNumberOfGroup = [&](Value argument) {
      if (!isa<BlockArgument>(argument))
        return false;
      Value value = getBlockValue(reader->op, argument);
      return llvm::any_of(from.stages, [&](const auto &writer) {
        return getResultNumber(writer->op, value).has_value();
      });
    };
    for (const StageSymbol &symbol : reader->model.symbols)
      if (symbol.kind != StageSymbol::Kind::Indirect &&
          isNumberOfGroup(symbol.value))
        return std::nullopt;
    for (Operation *inner : reader->model.body)
      if (isa<GeneratorOpInterface>(inner) &&
          llvm::any_of(inner->getOperands(), isNumberOfGroup))
        return std::nullopt;
  }
  return dependences;
}

/// The slot that an index is, if it is one.
static std::optional<unsigned> getSlot(AffineExpr index,
                                       const JoinedStage &stage) {
  auto loop = dyn_cast<AffineDimExpr>(index);
  const auto *found =
      loop ? llvm::find(stage.slots, loop.getPosition()) : stage.slots.end();
  if (found == stage.slots.end())
    return std::nullopt;
  return found - stage.slots.begin();
}

/// Pairs of slots that number the same dimension in each dependence.
SmallVector<std::pair<unsigned, unsigned>>
Joiner::matchSlots(ArrayRef<Dependence> dependences, const Group &a,
                   const Group &b) const {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  for (auto [i, dependence] : llvm::enumerate(dependences)) {
    SmallVector<std::pair<unsigned, unsigned>> here;
    for (auto [written, used] :
         llvm::zip_equal(dependence.write->map.getResults(),
                         dependence.read->map.getResults())) {
      auto first = getSlot(written, *dependence.writer);
      auto second = getSlot(used, *dependence.reader);
      if (first && second && a.slots[*first].extent == b.slots[*second].extent)
        here.emplace_back(*first, *second);
    }
    if (i == 0)
      pairs = here;
    else
      llvm::erase_if(
          pairs, [&](auto &pair) { return !llvm::is_contained(here, pair); });
  }
  return pairs;
}

Group Joiner::combine(const Group &a, const Group &b,
                      ArrayRef<std::pair<unsigned, unsigned>> pairs) const {
  Group joined;
  joined.work = a.work + b.work;
  joined.code = a.code + b.code;
  joined.kernels = a.kernels;
  joined.kernels.append(b.kernels);
  llvm::sort(joined.kernels, [](KernelOp first, KernelOp second) {
    return first->isBeforeInBlock(second);
  });
  SmallVector<std::pair<unsigned, unsigned>> kept;
  for (auto [first, second] : pairs) {
    JoinSlot slot = a.slots[first];
    slot.blockedWork += b.slots[second].blockedWork;
    if (slot.blockedWork > joined.work / kSmallStageRatio)
      continue;
    joined.slots.push_back(slot);
    kept.emplace_back(first, second);
  }
  auto add = [&](const Group &group, bool isFirst) {
    for (const auto &stage : group.stages) {
      auto copy = std::make_shared<JoinedStage>(*stage);
      copy->slots.clear();
      for (auto [first, second] : kept)
        copy->slots.push_back(stage->slots[isFirst ? first : second]);
      joined.stages.push_back(std::move(copy));
    }
  };
  add(a, true);
  add(b, false);
  llvm::sort(joined.stages, [](const auto &first, const auto &second) {
    return first->op->getParentOp()->isBeforeInBlock(second->op->getParentOp());
  });
  return joined;
}

//===----------------------------------------------------------------------===//
// Whether two groups join
//===----------------------------------------------------------------------===//

int64_t JoinGroup::getRange() const {
  int64_t range = 1;
  for (const JoinSlot &slot : slots)
    range *= slot.planned;
  return range;
}

llvm::SetVector<Value> JoinGroup::getTraffic() const {
  llvm::SetVector<Value> values;
  for (KernelOp kernel : kernels) {
    values.insert(kernel->operand_begin(), kernel->operand_end());
    values.insert(kernel->result_begin(), kernel->result_end());
  }
  return values;
}

const JoinedStage &JoinGroup::find(FusedOp op) const {
  return **llvm::find_if(stages,
                         [&](const auto &stage) { return stage->op == op; });
}

const JoinedStage &JoinGroup::getLargest() const {
  return **llvm::max_element(stages, [](const auto &first, const auto &second) {
    return countIterations(first->model) < countIterations(second->model);
  });
}

bool JoinGroup::isForced() const {
  return llvm::any_of(kernels, [](KernelOp kernel) {
    return metaop::isForced(kernel, kJoinStages);
  });
}

JoinTraffic::JoinTraffic(const JoinGroup &a, const JoinGroup &b) {
  llvm::SetVector<Value> first = a.getTraffic(), second = b.getTraffic();
  auto getSum = [](const llvm::SetVector<Value> &values) {
    int64_t bytes = 0;
    for (Value value : values)
      bytes = addCounts(bytes, countBytes(value.getType()));
    return bytes;
  };
  for (Value value : second)
    if (first.contains(value))
      saved = addCounts(saved, countBytes(value.getType()));
  smaller = std::min(getSum(first), getSum(second));
  total = addCounts(getSum(first), getSum(second)) - saved;
}

static bool staysInside(const Group &group, ArrayRef<Dependence> dependences) {
  return llvm::all_of(dependences, [&](const Dependence &dependence) {
    return staysInIteration(
        *dependence.write, group.find(dependence.writer->op).slots,
        *dependence.read, group.find(dependence.reader->op).slots);
  });
}

bool Joiner::join(unsigned a, unsigned b) {
  if (a == b ||
      groups[a].stages.size() + groups[b].stages.size() > kMaxStages ||
      groups[a].code + groups[b].code > kMaxKernelCode)
    return false;
  auto forward = getDependences(groups[a], groups[b]);
  auto backward = getDependences(groups[b], groups[a]);
  if (!forward || !backward || forward->empty() || !backward->empty())
    return false;
  Group joined =
      combine(groups[a], groups[b], matchSlots(*forward, groups[a], groups[b]));
  if (joined.slots.empty())
    return false;
  // All dependences inside, as fewer slots are left than each side had.
  auto inside = getDependences(joined, joined);
  if (!inside || !staysInside(joined, *inside) ||
      !target.canJoin(joined, *inside) ||
      !(groups[a].isForced() || groups[b].isForced() ||
        target.isWorthIt(groups[a], groups[b], joined, *inside)) ||
      !order.merge(nodeOf.lookup(groups[a].kernels.front()),
                   nodeOf.lookup(groups[b].kernels.front())))
    return false;
  for (KernelOp kernel : groups[a].kernels)
    groupOf[kernel] = b;
  groups[a] = Group();
  groups[b] = std::move(joined);
  return true;
}

//===----------------------------------------------------------------------===//
// From groups to kernels
//===----------------------------------------------------------------------===//

/// Moves the operations so that the kernels of each group are neighbours.
void Joiner::reorder() {
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> unitOf;
  SmallVector<SmallVector<Operation *>> units;
  llvm::DenseMap<unsigned, unsigned> unitOfGroup;
  // A unit stands where the last of its operations stood.
  for (Operation &op : llvm::reverse(block)) {
    auto group = groupOf.find(&op);
    unsigned unit = units.size();
    if (group != groupOf.end())
      unit = unitOfGroup.try_emplace(group->second, unit).first->second;
    if (unit == units.size())
      units.emplace_back();
    units[unit].push_back(&op);
    unitOf[&op] = unit;
  }
  SmallVector<unsigned> numOpen(units.size(), 0);
  SmallVector<llvm::SmallSetVector<unsigned, 4>> users(units.size());
  for (auto [unit, members] : llvm::enumerate(units))
    for (Operation *op : members)
      for (Operation *user : op->getUsers()) {
        unsigned next = unitOf.lookup(block.findAncestorOpInBlock(*user));
        if (next != unit && users[unit].insert(next))
          ++numOpen[next];
      }
  // Units are numbered from the end.
  std::priority_queue<unsigned> ready;
  for (unsigned unit = 0; unit < units.size(); ++unit)
    if (numOpen[unit] == 0)
      ready.push(unit);
  while (!ready.empty()) {
    unsigned unit = ready.top();
    ready.pop();
    for (Operation *op : llvm::reverse(units[unit]))
      op->moveBefore(&block, block.end());
    for (unsigned next : users[unit])
      if (--numOpen[next] == 0)
        ready.push(next);
  }
}

/// Returns whether others than the group read a result of one of its stages.
bool Joiner::leaves(const Group &group, Value result) const {
  auto kernel = cast<KernelOp>(result.getDefiningOp()->getParentOp());
  for (auto [output, yielded] :
       llvm::zip_equal(kernel.getResults(), kernel.getYield().getOperands()))
    if (yielded == result &&
        llvm::any_of(output.getUsers(), [&](Operation *user) {
          auto reader =
              dyn_cast_or_null<KernelOp>(block.findAncestorOpInBlock(*user));
          return !reader || !llvm::is_contained(group.kernels, reader);
        }))
      return true;
  return false;
}

void Joiner::rewrite(Group &group) {
  auto inside = getDependences(group, group);
  JoinPlan plan = target.plan(
      group, *inside, [&](Value result) { return leaves(group, result); });
  SmallVector<Value> outputs;
  for (const auto &stage : group.stages) {
    auto kernel = cast<KernelOp>(stage->op->getParentOp());
    for (auto [output, yielded] :
         llvm::zip_equal(kernel.getResults(), kernel.getYield().getOperands()))
      if (!plan.local.contains(yielded))
        outputs.push_back(output);
  }
  auto locations = llvm::map_to_vector(
      group.kernels, [](KernelOp kernel) { return kernel.getLoc(); });
  auto kernels = llvm::map_to_vector(group.stages, [](const auto &stage) {
    return cast<KernelOp>(stage->op->getParentOp());
  });
  OpBuilder builder(group.kernels.back());
  IRMapping mapping;
  KernelOp kernel =
      mergeKernels(builder, FusedLoc::get(builder.getContext(), locations),
                   kernels, outputs, mapping);
  for (auto [stage, schedule] : llvm::zip_equal(group.stages, plan.schedules))
    mapping.lookup(stage->op->getResult(0))
        .getDefiningOp<FusedOp>()
        .setScheduleAttr(schedule);
  if (report)
    kernel.emitRemark("joins ")
        << group.stages.size() << " stages in " << group.slots.size()
        << " loops of " << group.getRange() << " iterations"
        << (group.isForced() ? ", as is forced" : "");
  redirectOutputs(outputs, kernel);
  // The readers of the results are known now.
  for (auto [stage, fused] :
       llvm::zip_equal(group.stages, kernel.getBody().getOps<FusedOp>()))
    fused.setScheduleAttr(target.finish(fused, stage->model));
  eraseMerged(group.kernels);
}

/// Makes the graph of the block. Kernels that join are nodes that merge.
void Joiner::numberOps() {
  for (auto [number, op] : llvm::enumerate(block))
    nodeOf[&op] = number;
  for (auto [number, op] : llvm::enumerate(block))
    for (Operation *user : op.getUsers())
      if (Operation *reader = block.findAncestorOpInBlock(*user))
        order.addEdge(number, nodeOf.lookup(reader), /*fusable=*/true);
}

/// Fails where a kernel that is to be joined is alone.
LogicalResult Joiner::checkForced() {
  for (auto kernel : block.getOps<KernelOp>()) {
    if (!metaop::isForced(kernel, kJoinStages))
      continue;
    auto group = groupOf.find(kernel);
    if (group == groupOf.end())
      return emitCannotForce(kernel, kJoinStages)
             << "its stage has tiles, a schedule, or no loop to share";
    if (groups[group->second].kernels.size() == 1)
      return emitCannotForce(kernel, kJoinStages)
             << "no kernel that it gives a value to, or has one from, can "
                "share "
                "its loops";
  }
  return success();
}

LogicalResult Joiner::run() {
  if (failed(makeGroups()))
    return failure();
  if (groups.size() < 2)
    return checkForced();
  numberOps();
  bool anyJoined = false;
  for (auto kernel : block.getOps<KernelOp>()) {
    if (!groupOf.contains(kernel))
      continue;
    llvm::SmallSetVector<Operation *, 4> inputs;
    for (Value input : kernel.getInputs())
      if (auto producer = input.getDefiningOp<KernelOp>();
          producer && groupOf.contains(producer))
        inputs.insert(producer);
    SmallVector<Operation *> producers = inputs.takeVector();
    llvm::sort(producers, [](Operation *first, Operation *second) {
      return second->isBeforeInBlock(first);
    });
    for (Operation *producer : producers)
      anyJoined |= join(groupOf.lookup(producer), groupOf.lookup(kernel));
  }
  if (failed(checkForced()))
    return failure();
  if (!anyJoined)
    return success();
  reorder();
  for (Group &group : groups)
    if (group.kernels.size() > 1)
      rewrite(group);
  return success();
}

LogicalResult metaop::joinStages(Block &block, const JoinTarget &target,
                                 bool report) {
  return Joiner(block, target, report).run();
}
