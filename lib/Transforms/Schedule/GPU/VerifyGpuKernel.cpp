//===- VerifyGpuKernel.cpp - Rules of schedules for GPUs -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// G2 to G19 of docs/Schedule.md, which lists them: first those of one stage,
// then those of stages that share levels and hand results on, and at last what
// the kernel takes of the chip.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/GPU/VerifyGpuKernel.h"
#include "GpuLevels.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleRules.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuPlaces.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuResources.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {
class KernelVerifier {
public:
  KernelVerifier(ArrayRef<GpuStage> stages, const Chip &chip)
      : stages(stages), chip(chip) {}

  LogicalResult verify();

private:
  LogicalResult verifyStage(const GpuStage &each);
  LogicalResult verifyFields(const GpuStage &each);
  LogicalResult verifyThreads(const GpuStage &each);
  LogicalResult verifyVectors(const GpuStage &each);
  LogicalResult verifySums(const GpuStage &each, const StageWrite &write);
  LogicalResult verifyCarry(const GpuStage &each);
  LogicalResult verifyStaged(const GpuStage &each);
  LogicalResult verifyFixedPoint(const GpuStage &each);
  LogicalResult verifyResources();
  LogicalResult verifyShared(const GpuStage &before, const GpuStage &after);
  LogicalResult verifyResult(unsigned writer, const StageWrite &write);
  LogicalResult verifySharedSums(unsigned number, const StageWrite &write);
  LogicalResult verifyNumbers(unsigned writer, const GpuStage &reader);

  ArrayRef<GpuStage> stages;
  const Chip &chip;
};
} // namespace

static InFlightDiagnostic fail(const GpuStage &each, StringRef label) {
  return refuse(each.stage.op, label);
}

//===----------------------------------------------------------------------===//
// One stage
//===----------------------------------------------------------------------===//

LogicalResult KernelVerifier::verifyFields(const GpuStage &each) {
  ScheduleAttr schedule = each.schedule;
  bool isForCpu =
      schedule.getTranspose() >= 0 || schedule.getPrefetch() > 0 ||
      !schedule.getStream().empty() || !schedule.getUnrollDims().empty() ||
      llvm::any_of(schedule.getLevels(), [](const LoopLevel &level) {
        return level.kind == LevelKind::Parallel ||
               level.tail != LevelTail::Mask;
      });
  if (isForCpu)
    return fail(each, "G2")
           << "schedule has `parallel`, `body`, `sizes`, `transpose`, "
              "`unroll`, `prefetch` or `stream`, which are for CPUs";
  FusedOp op = each.stage.op;
  if (!schedule.getPlace().empty() &&
      schedule.getPlace().size() != op.getNumResults())
    return fail(each, "G11")
           << "schedule has places of " << schedule.getPlace().size()
           << " results, but the stage has " << op.getNumResults();
  return success();
}

LogicalResult KernelVerifier::verifyThreads(const GpuStage &each) {
  ScheduleAttr schedule = each.schedule;
  int64_t threads = schedule.getNumThreads(), warps = schedule.getNumWarps();
  bool hasWarps =
      llvm::any_of(schedule.getLevels(), [](const LoopLevel &level) {
        return level.kind == LevelKind::Warp;
      });
  if (threads > Chip::kMaxThreadsOfBlock)
    return fail(each, "G3")
           << "schedule has " << threads << " threads, but a block has at most "
           << Chip::kMaxThreadsOfBlock;
  if (hasWarps && threads != warps * Chip::kWarpThreads)
    return fail(each, "G4")
           << "schedule has " << threads / warps
           << " threads in a warp, which has " << Chip::kWarpThreads;
  if (int64_t size = schedule.getClusterSize(); size > chip.maxCluster)
    return fail(each, "G5")
           << "schedule has clusters of " << size << " blocks, but "
           << chip.name << " has at most " << chip.maxCluster;
  bool hasParts = false;
  for (unsigned depth = 0; depth < schedule.getNumGridLevels(); ++depth) {
    bool isPart = isOfCluster(schedule, depth);
    if (hasParts && !isPart)
      return fail(each, "G5") << "schedule has blocks of dimension "
                              << schedule.getLevels()[depth].dim
                              << " inside of those that clusters have";
    hasParts |= isPart;
  }
  return success();
}

LogicalResult KernelVerifier::verifyVectors(const GpuStage &each) {
  int64_t dim = each.schedule.getVectorDim();
  int64_t width = each.schedule.getVectorWidth();
  auto verify = [&](const StagePlace &place, Value value) -> LogicalResult {
    int64_t bytes = multiplyCounts(getElementBytes(value.getType()), width);
    if (dim >= 0 && each.stage.getStep(place.offset, dim) == 1 &&
        bytes > Chip::kMaxAccessBytes)
      return fail(each, "G6")
             << "schedule has vectors of " << bytes << " bytes of "
             << value.getType() << ", but an access has at most "
             << Chip::kMaxAccessBytes;
    return success();
  };
  for (const StageRead &read : each.stage.reads)
    if (failed(verify(read.place, read.value)))
      return failure();
  for (const StageWrite &write : each.stage.writes)
    if (failed(verify(write.place, write.value)))
      return failure();
  return success();
}

LogicalResult KernelVerifier::verifySums(const GpuStage &each,
                                         const StageWrite &write) {
  if (!write.kind || !write.isProjection)
    return success();
  for (auto [depth, level] : llvm::enumerate(each.schedule.getLevels())) {
    // One cluster has all of it, and its blocks parts.
    int64_t extent = each.stage.getStaticExtent(level.dim);
    bool isWhole = level.kind == LevelKind::Cluster &&
                   !ShapedType::isDynamic(extent) && extent <= level.step;
    bool isPart = level.kind == LevelKind::Block &&
                  each.schedule.getEnclosing(depth).has_value();
    if (!write.loops.test(level.dim) && level.isGrid() && !isWhole && !isPart)
      return fail(each, "G7")
             << "blocks have parts of loop " << level.dim << ", which result "
             << write.result << " is reduced over, and do not wait for each "
             << "other; split the reduction in two kernels";
  }
  if (auto loop = findMisplacedLoop(each, write))
    return fail(each, "G8")
           << "loop " << loop->kept << ", which result " << write.result
           << " keeps, is inside of loop " << loop->reduced
           << ", which it is reduced over: its sums would not be in registers";
  return success();
}

LogicalResult KernelVerifier::verifyCarry(const GpuStage &each) {
  if (!each.stage.carry)
    return success();
  int64_t loop = each.stage.carry->loop;
  ArrayRef<LoopLevel> levels = each.schedule.getLevels();
  bool isInOrder = llvm::count_if(levels,
                                  [&](const LoopLevel &level) {
                                    return level.dim == loop;
                                  }) == 1 &&
                   levels.back() == LoopLevel{LevelKind::Step, loop, 1};
  if (!isInOrder)
    return fail(each, "G9") << "loop " << loop
                            << " carries prefixes, and has to be the innermost "
                               "one, a `step` of one iteration";
  return success();
}

/// Returns true if threads have iterations behind the end of a loop that is in
/// no level around them: its box has no place for what they read there.
static bool mayLeaveBox(const GpuStage &each, int64_t dim) {
  int64_t extent = each.stage.getStaticExtent(dim);
  bool hasThreads = false;
  for (const LoopLevel &level : each.schedule.getLevels()) {
    hasThreads |= level.isDistributed();
    if (level.dim == dim)
      return hasThreads && extent % level.step != 0;
  }
  return false;
}

LogicalResult KernelVerifier::verifyStaged(const GpuStage &each) {
  for (StagedRead staged : each.schedule.getStaged()) {
    if (staged.read >= static_cast<int64_t>(each.stage.reads.size()))
      return fail(each, "G10")
             << "schedule stages read " << staged.read << ", but the stage has "
             << each.stage.reads.size() << " reads";
    const StageRead &read = each.stage.reads[staged.read];
    if (read.isIndirect || each.stage.isIndirect(read.place))
      return fail(each, "G10") << "schedule stages read " << staged.read
                               << ", whose place is computed from tensors";
    llvm::SmallBitVector loops = each.stage.getLoopsOf(read.value);
    for (unsigned loop : loops.set_bits())
      if (!getBlockSpan(each, loop))
        return fail(each, "G10")
               << "schedule stages read " << staged.read << " of all of loop "
               << loop << ", whose extent is not known";
    for (unsigned loop : loops.set_bits())
      if (mayLeaveBox(each, loop))
        return fail(each, "G10")
               << "schedule stages read " << staged.read << " of all of loop "
               << loop << ", through which threads go beyond its end";
  }
  return success();
}

LogicalResult KernelVerifier::verifyStage(const GpuStage &each) {
  if (failed(verifyFields(each)) || failed(verifyThreads(each)) ||
      failed(verifyVectors(each)))
    return failure();
  for (const StageWrite &write : each.stage.writes)
    if (failed(verifySums(each, write)))
      return failure();
  return success(succeeded(verifyCarry(each)) && succeeded(verifyStaged(each)));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult KernelVerifier::verifyResources() {
  GpuResources resources = GpuResources::estimate(stages);
  const GpuStage &last = stages.back();
  if (resources.sharedBytes > chip.sharedBytesOfBlock)
    return fail(last, "G12")
           << "kernel needs " << resources.sharedBytes
           << " bytes of shared memory, but a block of " << chip.name
           << " has at most " << chip.sharedBytesOfBlock;
  // The assembler orders what one element takes; tiles multiply it.
  bool hasTiles = llvm::any_of(stages, [](const GpuStage &each) {
    return !each.schedule.getTile().empty();
  });
  if (hasTiles && resources.registers > Chip::kMaxRegistersOfThread)
    return fail(last, "G13") << "kernel needs about " << resources.registers
                             << " registers, but a thread has at most "
                             << Chip::kMaxRegistersOfThread;
  for (const GpuStage &each : stages) {
    int64_t threads = each.schedule.getNumThreads();
    if (threads == resources.threads)
      continue;
    if (resources.threads % threads != 0)
      return fail(each, "G15")
             << "schedule has " << threads << " threads, but the kernel "
             << resources.threads;
    for (const StageWrite &write : each.stage.writes)
      for (auto [depth, level] : llvm::enumerate(each.schedule.getLevels()))
        if (write.kind &&
            (level.isDistributed() || isOfCluster(each.schedule, depth)) &&
            !(write.isProjection && write.loops.test(level.dim)))
          return fail(each, "G15")
                 << "schedule has " << threads << " of " << resources.threads
                 << " threads, which may not reduce together";
  }
  return success();
}

/// Returns true if a level of both stages is the same loop.
static bool isSameLevel(const GpuStage &lhs, const GpuStage &rhs,
                        unsigned depth) {
  if (depth >= lhs.schedule.getNumLevels() ||
      depth >= rhs.schedule.getNumLevels())
    return false;
  const LoopLevel &left = lhs.schedule.getLevels()[depth];
  const LoopLevel &right = rhs.schedule.getLevels()[depth];
  return left.kind == right.kind && left.step == right.step &&
         lhs.schedule.getEnclosing(depth) == rhs.schedule.getEnclosing(depth) &&
         lhs.schedule.getCount(depth) == rhs.schedule.getCount(depth) &&
         lhs.stage.getStaticExtent(left.dim) ==
             rhs.stage.getStaticExtent(right.dim);
}

LogicalResult KernelVerifier::verifyShared(const GpuStage &before,
                                           const GpuStage &after) {
  unsigned shared = after.schedule.getShared();
  unsigned grid = std::max(before.schedule.getNumGridLevels(),
                           after.schedule.getNumGridLevels());
  if (shared < grid)
    return fail(after, "G14") << "schedule shares " << shared
                              << " levels with the stage before, but the grid "
                                 "has "
                              << grid;
  for (unsigned depth = 0; depth < shared; ++depth)
    if (!isSameLevel(before, after, depth))
      return fail(after, "G14") << "schedule shares level " << depth
                                << ", which is another one in the stage before";
  return success();
}

//===----------------------------------------------------------------------===//
// What stages hand on
//===----------------------------------------------------------------------===//

/// Returns true if an iteration of a level inside of blocks, or a thread, has
/// combined a part alone of what a result is reduced over.
static bool hasPartOfSum(const GpuStage &each, const StageWrite &write,
                         unsigned depth) {
  const LoopLevel &level = each.schedule.getLevels()[depth];
  if (!write.kind || write.loops.test(level.dim))
    return false;
  return isLoop(each.stage, each.schedule, depth) ||
         (level.isDistributed() && each.schedule.getCount(depth) > 1);
}

/// Returns true if the blocks of a cluster have all of a dimension together.
static bool isWholeInCluster(const GpuStage &each, int64_t dim) {
  int64_t extent = each.stage.getStaticExtent(dim), step = 0;
  for (const LoopLevel &level : each.schedule.getLevels())
    if (level.kind == LevelKind::Cluster && level.dim == dim)
      step = level.step;
  return !ShapedType::isDynamic(extent) && step >= extent;
}

static bool isStaged(const GpuStage &reader, const StageRead &read) {
  int64_t number = &read - reader.stage.reads.begin();
  return llvm::any_of(
      reader.schedule.getStaged(),
      [number](const StagedRead &staged) { return staged.read == number; });
}

LogicalResult KernelVerifier::verifyResult(unsigned number,
                                           const StageWrite &write) {
  const GpuStage &writer = stages[number];
  FusedOp op = writer.stage.op;
  Value result = op->getResult(write.result);
  ResultPlace place = writer.schedule.getPlaceOf(write.result);
  std::optional<unsigned> shared =
      findSharedLevels(stages, number, write.result);
  if (!shared)
    return success();
  auto kernel = cast<KernelOp>(op->getParentOp());
  bool leaves = llvm::is_contained(kernel.getYield().getOperands(), result);
  auto describe = [&](InFlightDiagnostic &&error) {
    return std::move(error) << "result " << write.result << " cannot live in "
                            << stringifyResultPlace(place) << ": ";
  };
  if (place == ResultPlace::Memory && !leaves)
    return describe(fail(writer, "G18")) << "it is no result of the kernel";
  if (place == ResultPlace::Cluster && writer.schedule.getClusterSize() == 1)
    return describe(fail(writer, "G18")) << "blocks are in no cluster";
  if (place == ResultPlace::Memory && isSumOfCluster(writer, write))
    return describe(fail(writer, "G18"))
           << "one block of a cluster stores it, and others may not see it";
  if (place == ResultPlace::Shared || place == ResultPlace::Cluster)
    for (auto [index, extent] :
         llvm::zip_equal(write.map.getResults(), write.shape))
      if (!isa<AffineConstantExpr>(extent) &&
          !getSharedLevel(index, writer, *shared))
        return describe(fail(writer, "G18")) << "its extents are not known";
  for (unsigned depth = 0; depth < *shared; ++depth)
    if (hasPartOfSum(writer, write, depth))
      return fail(writer, "G16")
             << "shares level " << depth << " with a stage that reads result "
             << write.result << ", of which each iteration has a part only";
  // Dimensions of which the block does the iterations one after another; but
  // for those that all blocks of a cluster have together.
  SmallVector<int64_t> dims;
  SmallVector<unsigned> depths;
  for (unsigned depth = 0; depth < *shared; ++depth) {
    const LoopLevel &level = writer.schedule.getLevels()[depth];
    bool isTogether =
        place == ResultPlace::Cluster && isWholeInCluster(writer, level.dim);
    if (isTogether && isLoop(writer.stage, writer.schedule, depth))
      return describe(fail(writer, "G18"))
             << "a loop that stages share divides what blocks of a cluster "
                "have";
    if (!level.isDistributed() && !isTogether && write.loops.test(level.dim) &&
        !llvm::is_contained(dims, level.dim)) {
      dims.push_back(level.dim);
      depths.push_back(depth);
    }
  }
  for (const GpuStage &reader : stages.drop_front(number + 1))
    for (const StageRead &read : reader.stage.reads) {
      if (!isReadOf(reader.stage, read.source, result))
        continue;
      SmallVector<int64_t> readDims;
      for (unsigned depth : depths)
        readDims.push_back(reader.schedule.getLevels()[depth].dim);
      if (!staysInIteration(write, dims, read, readDims) ||
          (place == ResultPlace::Cluster && !hasSameForm(write, read)))
        return fail(reader, "G16")
               << "shares " << *shared << " levels with a stage before they "
               << "have computed what it reads of that stage";
      if (place != ResultPlace::Memory && isStaged(reader, read))
        return fail(reader, "G10")
               << "schedule stages read " << &read - reader.stage.reads.begin()
               << ", which lives in " << stringifyResultPlace(place);
      if (place == ResultPlace::Registers &&
          !staysInThread(writer, write, reader, read))
        return describe(fail(writer, "G17")) << "other threads read it";
    }
  return success();
}

/// Of what nobody reads, too, an iteration of a shared loop would have a part.
LogicalResult KernelVerifier::verifySharedSums(unsigned number,
                                               const StageWrite &write) {
  const GpuStage &each = stages[number];
  unsigned shared = number > 0 ? each.schedule.getShared() : 0;
  if (number + 1 < stages.size())
    shared = std::max(
        shared, static_cast<unsigned>(stages[number + 1].schedule.getShared()));
  for (unsigned depth = 0; depth < shared; ++depth)
    if (write.isProjection && isLoop(each.stage, each.schedule, depth) &&
        hasPartOfSum(each, write, depth))
      return fail(each, "G8")
             << "shares level " << depth << " with another stage, and result "
             << write.result << " is reduced over it: its sums would not be in "
             << "registers";
  return success();
}

/// Symbols are read before the first level, and generators outside of threads.
LogicalResult KernelVerifier::verifyNumbers(unsigned writer,
                                            const GpuStage &reader) {
  FusedOp from = stages[writer].stage.op;
  auto isFromWriter = [&](Value argument) {
    return getOuterProducer(reader.stage.op, argument) == from;
  };
  bool any = llvm::any_of(reader.stage.symbols, [&](const StageSymbol &symbol) {
    return symbol.kind == StageSymbol::Kind::Scalar &&
           isFromWriter(symbol.value);
  });
  for (Operation *inner : reader.stage.body)
    any |= isa<GeneratorOpInterface>(inner) &&
           llvm::any_of(inner->getOperands(), isFromWriter);
  if (any)
    return fail(reader, "G16") << "reads places, or generates numbers, that "
                                  "depend on what the same kernel computes";
  return success();
}

/// Sums of floats in any order are in fixed point: of words whose number, and
/// of terms whose number, is known.
LogicalResult KernelVerifier::verifyFixedPoint(const GpuStage &each) {
  for (const StageWrite &write : each.stage.writes) {
    if (!addsFloatsInAnyOrder(write))
      continue;
    Type element = getElementTypeOrSelf(write.value);
    if (!element.isF32() && !element.isF64())
      return fail(each, "G19") << "sums " << element
                               << " in any order, which have to be widened "
                                  "before";
    for (unsigned loop = 0; loop < each.stage.getNumLoops(); ++loop)
      if (ShapedType::isDynamic(each.stage.getStaticExtent(loop)))
        return fail(each, "G19") << "sums floats in any order, in dimensions "
                                    "whose extents are not known";
    for (auto [extent, stride] : llvm::zip_equal(write.shape, write.strides))
      if (!isa<AffineConstantExpr>(extent) || !isa<AffineConstantExpr>(stride))
        return fail(each, "G19") << "sums floats in any order to a result "
                                    "whose extents are not known";
  }
  return success();
}

LogicalResult KernelVerifier::verify() {
  bool isInAnyOrder =
      stages.front().stage.op->getParentOfType<KernelOp>().getFloatAtomics();
  for (const GpuStage &each : stages)
    if (failed(verifyStage(each)) ||
        (!isInAnyOrder && failed(verifyFixedPoint(each))))
      return failure();
  for (size_t i = 1; i < stages.size(); ++i)
    if (failed(verifyShared(stages[i - 1], stages[i])))
      return failure();
  for (size_t i = 0; i < stages.size(); ++i) {
    for (const StageWrite &write : stages[i].stage.writes)
      if (failed(verifyResult(i, write)) || failed(verifySharedSums(i, write)))
        return failure();
    for (const GpuStage &reader : stages.drop_front(i + 1))
      if (failed(verifyNumbers(i, reader)))
        return failure();
  }
  return verifyResources();
}

bool metaop::addsFloatsInAnyOrder(const StageWrite &write) {
  return isAtomic(write) && write.kind == Combiner::Add &&
         isa<FloatType>(getElementTypeOrSelf(write.value));
}

FailureOr<GpuKernelStages> metaop::readGpuStages(KernelOp kernel) {
  GpuKernelStages result;
  // A stage behind one without iterations shares with the one before that what
  // all three share.
  int64_t mostShared = INT64_MAX;
  for (auto op : kernel.getBody().front().getOps<FusedOp>()) {
    FailureOr<Stage> stage = Stage::build(op);
    bool isFirst = result.stages.empty() && result.empty.empty();
    if (failed(stage) || failed(verifySchedule(op, *stage, isFirst)))
      return failure();
    ScheduleAttr schedule = op.getScheduleAttr();
    mostShared = std::min(mostShared, schedule.getShared());
    if (stage->isEmpty()) {
      result.empty.push_back({std::move(*stage), schedule});
      continue;
    }
    int64_t shared = result.stages.empty() ? 0 : mostShared;
    result.stages.push_back({std::move(*stage), schedule.withShared(shared)});
    mostShared = INT64_MAX;
  }
  return std::move(result);
}

LogicalResult metaop::verifyGpuStages(ArrayRef<GpuStage> stages,
                                      const Chip &chip) {
  if (stages.empty())
    return success();
  return KernelVerifier(stages, chip).verify();
}

LogicalResult metaop::verifyGpuKernel(KernelOp kernel, const Chip &chip) {
  FailureOr<GpuKernelStages> read = readGpuStages(kernel);
  if (failed(read))
    return failure();
  return verifyGpuStages(read->stages, chip);
}
