//===- CountBlockWork.cpp - Counting the work of a block ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes through the levels of a schedule as the lowering does: each value stands
// at the depth of the loops that it depends on, once for each copy that a
// thread has of it. How the threads of a warp lie decides how often shared
// memory and the first cache are asked for what they access together.
//
// Addresses and the ends of loops are what an assembler makes of them, about: a
// few instructions for each access, and for each iteration. Waits are those of
// a thread that goes through its part alone.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/GPU/CountBlockWork.h"
#include "GpuLevels.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "OperationUnits.h"
#include "StagedBox.h"
#include "WarpPlaces.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::divideCeilSigned;
using llvm::SmallBitVector;

/// Instructions, about: before anything else in a thread; to find an address,
/// or both of an element that is copied; to go on to the next iteration; to
/// decide whether something is there.
static constexpr double kStart = 40, kAddress = 2, kCopyAddress = 3,
                        kIteration = 3, kGuard = 2;
/// Cycles from a read to its value, of global memory, of the first cache and of
/// shared memory; from an operation to what takes its result; of an exchange in
/// a warp; and until all warps of a block have come to a barrier.
static constexpr double kGlobalWait = 600, kFirstWait = 35, kSharedWait = 30,
                        kArithmeticWait = 4, kExchangeWait = 25,
                        kBarrierWait = 30;
/// Elements of a box that a thread has on their way at a time.
static constexpr double kCopiesAtOnce = 16;

namespace {
/// Counts what threads do of one stage.
class StageCounter {
public:
  StageCounter(ArrayRef<GpuStage> stages, unsigned number, BlockWork &work);

  void count();

private:
  /// An access by each thread.
  struct Access {
    const StagePlace &place;
    SmallBitVector loops;
    int64_t elementBytes;
    /// The elements of a vector; one of what is accessed one by one.
    int64_t width;
    bool isShared;
    /// Accesses behind the end have to be left out.
    bool isChecked;
  };
  enum class Memory { Global, Shared, Registers };

  void findRuns();
  void findDepths();
  double getTrips(unsigned depth) const;
  double getExtent(unsigned loop) const;
  double getPartly(const SmallBitVector &loops) const;
  bool hasLanes(const SmallBitVector &loops) const {
    return schedule.getVectorWidth() > 1 && loops.test(schedule.getVectorDim());
  }
  SmallBitVector getLoopsOf(Value value) const {
    SmallBitVector loops = stage.getLoopsOf(value);
    loops.resize(stage.getNumLoops());
    return loops;
  }
  double countElements(const SmallBitVector &loops) const;
  int64_t getWidth(const StagePlace &place, const SmallBitVector &loops) const;
  Memory findMemory(const StageRead &read, SmallVector<int64_t> &shape) const;

  void issue(double times, double instructions) {
    work.slots += times * instructions * warps;
  }
  void addUnit(double times, WorkClass kind, Type element);
  void addOperation(Operation *op);
  void addRead(const StageRead &read);
  double getMissing(const Access &access, unsigned depth) const;
  void addAccess(const Access &access, WarpPlaces::PlaceFn getPlace,
                 unsigned depth, double times);
  void addStaged(StagedRead staged);
  void addAllStaged();
  void addWrite(const StageWrite &write);
  void addStore(const StageWrite &write, const SmallBitVector &loops,
                unsigned depth, double times);
  void addExchange(const StageWrite &write, unsigned depth);
  void addWaits();

  ArrayRef<GpuStage> stages;
  unsigned number;
  const GpuStage &each;
  const Stage &stage;
  ScheduleAttr schedule;
  ThreadLevels levels;
  WarpPlaces places;
  BlockWork &work;
  double warps;
  /// Number of times that a thread does what stands at a depth.
  SmallVector<double> runs;
  llvm::DenseMap<Value, unsigned> depthOf;
  /// The longest wait for memory that stands at a depth, and operations there.
  SmallVector<double> waits, operations;
  /// Number of times that threads wait for elements of a box.
  double copyRounds = 0;
};
} // namespace

StageCounter::StageCounter(ArrayRef<GpuStage> stages, unsigned number,
                           BlockWork &work)
    : stages(stages), number(number), each(stages[number]), stage(each.stage),
      schedule(each.schedule), levels(stage, schedule), places(levels),
      work(work),
      warps(divideCeilSigned(levels.getNumThreads(), Chip::kWarpThreads)),
      waits(levels.getNumLevels() + 1, 0),
      operations(levels.getNumLevels() + 1, 0) {}

//===----------------------------------------------------------------------===//
// Depths of values and operations
//===----------------------------------------------------------------------===//

double StageCounter::getExtent(unsigned loop) const {
  SmallBitVector one(stage.getNumLoops());
  one.set(loop);
  return countIterations(stage, one);
}

/// Iterations of a level, for each of those around it: loops end where the
/// dimension does, so that of the last there may be fewer.
double StageCounter::getTrips(unsigned depth) const {
  const LoopLevel &level = levels.getLevel(depth);
  auto countAll = [&](unsigned at) {
    return std::ceil(getExtent(level.dim) / levels.getLevel(at).step);
  };
  bool isKnown = !ShapedType::isDynamic(stage.getStaticExtent(level.dim));
  if (level.isGrid())
    return isKnown || schedule.getEnclosing(depth) ? 1 : countAll(depth);
  if (!levels.isLoop(depth))
    return 1;
  std::optional<unsigned> outer = schedule.getEnclosing(depth);
  if (!outer)
    return countAll(depth);
  double most = schedule.getCount(depth);
  return levels.isInsideThreads(depth)
             ? most
             : std::min(most, countAll(depth) / countAll(*outer));
}

void StageCounter::findRuns() {
  runs.assign(1, 1);
  for (unsigned depth = 0; depth < levels.getNumLevels(); ++depth) {
    runs.push_back(runs[depth] * getTrips(depth));
    if (levels.isLoop(depth))
      issue(runs.back(), kIteration);
  }
}

/// As the lowering does: what is read of shared memory stands inside of the
/// loops that fill it.
void StageCounter::findDepths() {
  unsigned shared = schedule.getShared();
  auto isStaged = [&](const StageRead &read) {
    return llvm::any_of(schedule.getStaged(), [&](StagedRead staged) {
      return &stage.reads[staged.read] == &read;
    });
  };
  for (const StageRead &read : stage.reads)
    depthOf[read.value] = levels.getDepth(
        getLoopsOf(read.value),
        isStaged(read) ? std::max(shared, levels.getThreadDepth()) : shared);
  for (Operation *op : stage.body) {
    unsigned least = shared;
    for (Value operand : op->getOperands())
      least = std::max(least, depthOf.lookup(operand));
    Value result = op->getResult(0);
    depthOf[result] = levels.getDepth(getLoopsOf(result), least);
  }
}

/// The part of the iterations that may reach behind the end of some loops.
double StageCounter::getPartly(const SmallBitVector &loops) const {
  double whole = 1;
  for (unsigned loop : loops.set_bits())
    if (levels.mayExceed(loop))
      whole *= 1 - 1 / std::ceil(getExtent(loop) / levels.getCover(loop));
  return 1 - whole;
}

/// Counts the iterations of some loops that a thread has side by side.
double StageCounter::countElements(const SmallBitVector &loops) const {
  double count = 1;
  for (unsigned loop : loops.set_bits())
    count *= schedule.getTileSize(loop);
  return count;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static bool isHalf(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type)) &&
         getElementBytes(type) == 2;
}

void StageCounter::addUnit(double times, WorkClass kind, Type element) {
  OperationUnits units = OperationUnits::of(kind, element);
  work.single += times * units.single * warps;
  work.wide += times * units.wide * warps;
  work.special += times * units.special * warps;
  issue(times, units.single + units.wide + units.special);
}

/// Returns true for a product that is added, by one instruction.
static bool isFused(const Stage &stage, Operation *op) {
  return isa<MulOp>(op) && llvm::any_of(stage.writes, [&](const auto &write) {
           return write.isFloatSum() && write.value == op->getResult(0);
         });
}

/// Halves are rounded behind each operation, and widened before the next.
void StageCounter::addOperation(Operation *op) {
  Value result = op->getResult(0);
  if (const StageRead *read = stage.findRead(result);
      read != stage.reads.end()) {
    addRead(*read);
    return;
  }
  // A half is widened as it is read.
  bool isWidening = op->getNumOperands() == 1 && !isHalf(result.getType()) &&
                    isHalf(op->getOperand(0).getType());
  if (isa<ConstantOp>(op) || isFused(stage, op) || isWidening)
    return;
  unsigned depth = depthOf.lookup(result);
  double times = runs[depth] * countElements(getLoopsOf(result));
  Type element = getElementTypeOrSelf(result.getType());
  // No instruction approximates these: they are polynomials of f32 of halves,
  // too.
  Type computed = element;
  if (isa<Expm1Op, Log1pOp>(op) && isHalf(element))
    computed = Float32Type::get(op->getContext());
  addUnit(times * countInstructions(op), classifyOperation(op), computed);
  operations[depth] += 1;
  if (!isHalf(element))
    return;
  double conversions = 1;
  for (Value operand : op->getOperands())
    conversions += isHalf(operand.getType()) && depthOf.contains(operand) &&
                   stage.findRead(operand) == stage.reads.end();
  issue(times, conversions);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The elements of one access: a vector where these are neighbours, and lie as
/// a whole.
int64_t StageCounter::getWidth(const StagePlace &place,
                               const SmallBitVector &loops) const {
  if (!hasLanes(loops))
    return 1;
  int64_t lanes = schedule.getVectorWidth(), dim = schedule.getVectorDim();
  bool isVector =
      stage.getStep(place.offset, dim) == 1 && levels.hasWholeVectors(dim);
  auto dependsOnLanes = [&](AffineExpr expr) {
    return stage.dependsOn(expr, dim);
  };
  if (llvm::any_of(place.rangeChecks, dependsOnLanes) ||
      llvm::any_of(place.conditions, dependsOnLanes))
    return 1;
  // All lanes have the same element then.
  if (!stage.dependsOn(place.offset, dim))
    return lanes;
  for (unsigned loop : loops.set_bits())
    if (loop != dim)
      isVector &= stage.getStep(place.offset, loop).value_or(0) % lanes == 0;
  return isVector ? lanes : 1;
}

/// The part of the iterations in which a thread comes to another line than in
/// the one before, which is in the first cache.
double StageCounter::getMissing(const Access &access, unsigned depth) const {
  double part = 0, inner = 1;
  for (unsigned at = depth; at-- > levels.getGridDepth();) {
    if (!levels.isLoop(at))
      continue;
    const LoopLevel &level = levels.getLevel(at);
    std::optional<int64_t> step = stage.getStep(access.place.offset, level.dim);
    double bytes = step ? std::abs(*step) * level.step * access.elementBytes
                        : WarpRequest::kFirstLineBytes;
    double lines = bytes / WarpRequest::kFirstLineBytes;
    part = std::max(part, std::min(lines, 1.) / inner);
    inner *= getTrips(at);
  }
  return std::max(part, 1 / inner);
}

/// Adds what threads access so often of all copies that they have of some
/// loops.
void StageCounter::addAccess(const Access &access, WarpPlaces::PlaceFn getPlace,
                             unsigned depth, double times) {
  double elements = countElements(access.loops);
  bool isOne = access.width > 1 &&
               !stage.dependsOn(access.place.offset, schedule.getVectorDim());
  int64_t bytes = access.elementBytes * (isOne ? 1 : access.width);
  int64_t each = std::min(bytes, Chip::kMaxAccessBytes);
  double requests =
      times * elements / access.width * divideCeilSigned(bytes, each);
  double checks =
      access.place.rangeChecks.size() + access.place.conditions.size();
  if (access.isChecked)
    checks += getPartly(access.loops);
  issue(times, kAddress);
  issue(requests, 1 + kGuard * checks);
  WarpRequest request = places.request(getPlace, access.elementBytes, each);
  if (access.isShared)
    work.passes += requests * warps * request.countPasses();
  else
    work.lines += requests * warps * request.countLines();
  double wait = kSharedWait;
  if (!access.isShared)
    wait = kFirstWait + (kGlobalWait - kFirstWait) * getMissing(access, depth);
  waits[depth] = std::max(waits[depth], wait);
}

/// Returns the memory of a read's values, and the shape of what the block has
/// of it, if that is its own.
StageCounter::Memory
StageCounter::findMemory(const StageRead &read,
                         SmallVector<int64_t> &shape) const {
  for (unsigned writer = 0; writer < number; ++writer) {
    FusedOp op = stages[writer].stage.op;
    for (const StageWrite &write : stages[writer].stage.writes) {
      if (!isReadOf(stage, read.source, op->getResult(write.result)))
        continue;
      switch (stages[writer].schedule.getPlaceOf(write.result)) {
      case ResultPlace::Registers:
        return Memory::Registers;
      case ResultPlace::Shared:
      case ResultPlace::Cluster:
        shape = getPlacedShape(stages, writer, write);
        return Memory::Shared;
      case ResultPlace::Memory:
        return Memory::Global;
      }
    }
  }
  return Memory::Global;
}

/// The row-major number of what a map reaches, in a block's own memory.
static int64_t getLocalPlace(const WarpPlaces &places, AffineMap map,
                             ArrayRef<int64_t> shape,
                             ArrayRef<int64_t> positions) {
  int64_t place = 0;
  for (auto [index, extent] : llvm::zip_equal(map.getResults(), shape))
    place =
        place * extent + (extent > 1 ? places.evaluate(index, positions) : 0);
  return place;
}

void StageCounter::addRead(const StageRead &read) {
  unsigned depth = depthOf.lookup(read.value);
  SmallBitVector loops = getLoopsOf(read.value);
  int64_t bytes = getElementBytes(read.value.getType());
  if (isHalf(read.value.getType()))
    issue(runs[depth], countElements(loops));
  for (StagedRead staged : schedule.getStaged()) {
    if (&stage.reads[staged.read] != &read)
      continue;
    StagedBox box(each, staged);
    int64_t width = getWidth({read.place.offset, {}, {}}, loops);
    addAccess(
        {{read.place.offset, {}, {}},
         loops,
         bytes,
         width,
         /*isShared=*/true,
         /*isChecked=*/false},
        [&](ArrayRef<int64_t> positions) {
          SmallVector<int64_t> at;
          for (const StagedBox::Side &side : box.sides)
            at.push_back(positions[side.loop] % side.length);
          return box.getPlace(at);
        },
        depth, runs[depth]);
    return;
  }
  SmallVector<int64_t> shape;
  Memory memory = findMemory(read, shape);
  if (memory == Memory::Registers)
    return;
  bool isShared = memory == Memory::Shared;
  addAccess(
      {read.place, loops, bytes, getWidth(read.place, loops), isShared,
       /*isChecked=*/true},
      [&](ArrayRef<int64_t> positions) {
        return isShared ? getLocalPlace(places, read.map, shape, positions)
                        : places.evaluate(read.place.offset, positions);
      },
      depth, runs[depth]);
}

/// Adds the copying of a box: threads have neighbouring elements.
void StageCounter::addStaged(StagedRead staged) {
  unsigned depth = levels.getThreadDepth();
  StagedBox box(each, staged);
  const StagePlace &place = box.read.place;
  double rounds = static_cast<double>(box.getSize()) / levels.getNumThreads();
  double copies = runs[depth] * rounds;
  double checks = place.rangeChecks.size() + place.conditions.size() +
                  getPartly(getLoopsOf(box.read.value));
  issue(copies, 2 + kCopyAddress + kGuard * checks);
  WarpRequest from, to;
  from.bytes = to.bytes = box.elementBytes;
  int64_t count = std::min(box.getSize(), Chip::kWarpThreads);
  for (int64_t thread = 0; thread < count; ++thread) {
    SmallVector<int64_t> at = box.getSides(thread);
    SmallVector<int64_t> positions(stage.getNumLoops(), 0);
    for (auto [side, position] : llvm::zip_equal(box.sides, at))
      positions[side.loop] = position;
    from.addresses.push_back(places.evaluate(place.offset, positions) *
                             box.elementBytes);
    to.addresses.push_back(box.getPlace(at) * box.elementBytes);
  }
  work.lines += copies * warps * from.countLines();
  work.passes += copies * warps * to.countPasses();
  copyRounds = std::max(copyRounds, std::ceil(rounds / kCopiesAtOnce));
}

/// Adds the copying of all boxes, which are on their way together.
void StageCounter::addAllStaged() {
  for (StagedRead staged : schedule.getStaged())
    addStaged(staged);
  if (schedule.getStaged().empty())
    return;
  double times = runs[levels.getThreadDepth()];
  issue(times, 2);
  work.waits += times * (copyRounds * kGlobalWait + 2 * kBarrierWait);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void StageCounter::addStore(const StageWrite &write,
                            const SmallBitVector &loops, unsigned depth,
                            double times) {
  ResultPlace place = schedule.getPlaceOf(write.result);
  if (place == ResultPlace::Registers)
    return;
  bool isShared = place != ResultPlace::Memory;
  SmallVector<int64_t> shape;
  if (isShared)
    shape = getPlacedShape(stages, number, write);
  double wait = waits[depth];
  addAccess(
      {write.place, loops, getElementBytes(write.value.getType()),
       getWidth(write.place, loops), isShared, /*isChecked=*/true},
      [&](ArrayRef<int64_t> positions) {
        return isShared ? getLocalPlace(places, write.map, shape, positions)
                        : places.evaluate(write.place.offset, positions);
      },
      depth, times);
  // Nobody waits for a store.
  waits[depth] = wait;
}

/// Adds what the threads of a block exchange of a sum: in warps by shuffles,
/// and then what is left of their groups through shared memory.
void StageCounter::addExchange(const StageWrite &write, unsigned depth) {
  double values = runs[depth] * countElements(write.loops);
  double groups = 1;
  bool areWhole = levels.getNumThreads() % Chip::kWarpThreads == 0;
  for (const ThreadLevels::Distributed &level : levels.getDistributed()) {
    if (write.loops.test(level.dim))
      continue;
    int64_t combined = 1;
    while (areWhole && llvm::isPowerOf2_64(level.stride) &&
           level.count / combined % 2 == 0 &&
           level.stride * combined < Chip::kWarpThreads) {
      issue(values, 2);
      work.waits += runs[depth] * (kExchangeWait + kArithmeticWait);
      combined *= 2;
    }
    groups *= level.count / combined;
  }
  if (groups == 1)
    return;
  issue(values, 1 + 2 * groups);
  issue(runs[depth], 2 * kAddress + 2);
  work.passes += values * warps * (1 + groups);
  work.waits += runs[depth] * (2 * kBarrierWait + 2 * kSharedWait);
}

void StageCounter::addWrite(const StageWrite &write) {
  unsigned inner = levels.getNumLevels();
  SmallBitVector all(stage.getNumLoops(), true);
  Type element = getElementTypeOrSelf(write.value.getType());
  if (!write.kind) {
    addStore(write, write.loops, inner, runs[inner]);
    return;
  }
  addUnit(runs[inner] * countElements(all), WorkClass::Arithmetic, element);
  operations[inner] += 1;
  if (!write.isProjection) {
    addStore(write, all, inner, runs[inner]);
    return;
  }
  SmallBitVector reduced = write.loops;
  reduced.flip();
  issue(runs[inner] * countElements(all), kGuard * getPartly(reduced));
  unsigned depth = levels.getSumDepth(
      write, std::max<unsigned>(levels.getGridDepth(), schedule.getShared()));
  addExchange(write, depth);
  addStore(write, write.loops, depth, runs[depth]);
}

//===----------------------------------------------------------------------===//
// The stage
//===----------------------------------------------------------------------===//

void StageCounter::addWaits() {
  for (unsigned depth = 0; depth <= levels.getNumLevels(); ++depth)
    work.waits +=
        runs[depth] * (waits[depth] + kArithmeticWait * operations[depth]);
}

void StageCounter::count() {
  findRuns();
  findDepths();
  issue(1, kStart);
  addAllStaged();
  for (const StageRead &read : stage.reads)
    if (!read.isIndirect)
      addRead(read);
  for (Operation *op : stage.body)
    addOperation(op);
  for (const StageWrite &write : stage.writes)
    addWrite(write);
  addWaits();
}

BlockWork metaop::countBlockWork(ArrayRef<GpuStage> stages) {
  BlockWork work;
  for (unsigned number = 0; number < stages.size(); ++number)
    StageCounter(stages, number, work).count();
  return work;
}
