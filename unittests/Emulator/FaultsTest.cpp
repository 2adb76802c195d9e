//===- FaultsTest.cpp - Faults that are planted ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pairs of kernels that differ in one place: {{A|B}} is A in the one with the
// fault and B in the sound one. The operation that the report has to name is
// marked by @, as if it came from model.py:7. Each is run in several orders.
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

using namespace metaops;

namespace {

struct Planted {
  const char *name;
  FaultKind kind;
  const char *operation;
  unsigned blocks, threads, cluster;
  std::string body;
  /// Shared memory: an array of floats @s.
  unsigned shared = 64;
};

std::ostream &operator<<(std::ostream &stream, const Planted &planted) {
  return stream << planted.name;
}

/// One of the two kernels.
std::string choose(std::string body, bool isBroken) {
  for (size_t at; (at = body.find("{{")) != std::string::npos;) {
    size_t middle = body.find('|', at), end = body.find("}}", at);
    std::string text = isBroken ? body.substr(at + 2, middle - at - 2)
                                : body.substr(middle + 1, end - middle - 1);
    body.replace(at, end + 2 - at, text);
  }
  for (size_t at; (at = body.find('@')) != std::string::npos;)
    body.replace(at, 1, " loc(\"model.py\":7:1)");
  return body;
}

std::unique_ptr<EmulatedKernel> compilePlanted(const Planted &planted,
                                               bool isBroken) {
  std::string body = "%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n" +
                     choose(planted.body, isBroken);
  return compileOrFail(
      makeKernel("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %z: !llvm.ptr<1>", body,
                 makeShared("s", planted.shared, "f32")));
}

EmulatorReport runPlanted(const Planted &planted, const EmulatedKernel &kernel,
                          uint64_t seed) {
  // Not next to each other: what is behind the end of one is in no other.
  std::vector<std::array<double, 2>> memory(5 * 64);
  void *x = &memory[0], *y = &memory[2 * 64], *z = &memory[4 * 64];
  WrittenBytes written(64 * 16);
  Allocation inputs = {"x", x, 1024}, outputs = {"y", y, 1024},
             scratch = {"z", z, 1024};
  inputs.isReadOnly = true;
  inputs.isPending = std::string(planted.name) == "GridNotWaitedFor";
  scratch.written = &written;
  EmulatorOptions options = withSeed(seed);
  options.patience = 100;
  return launchOrFail(
      kernel, makeShape(planted.blocks, planted.threads, planted.cluster),
      {x, y, z}, {inputs, outputs, scratch}, options);
}

class Faults : public testing::TestWithParam<Planted> {};

TEST_P(Faults, AreFoundAndNamed) {
  const Planted &planted = GetParam();
  auto kernel = compilePlanted(planted, /*isBroken=*/true);
  ASSERT_TRUE(kernel);
  for (uint64_t seed : allSeeds) {
    auto report = runPlanted(planted, *kernel, seed);
    bool isNamed = std::any_of(
        report.faults.begin(), report.faults.end(), [&](const Fault &fault) {
          // Of two that race, the order decides which one is named first.
          std::string other =
              std::string("(") + planted.operation + " at model.py:7)";
          return fault.kind == planted.kind && fault.kernel == "k" &&
                 fault.location == "model.py:7" &&
                 (fault.operation == planted.operation ||
                  fault.message.find(other) != std::string::npos);
        });
    EXPECT_TRUE(isNamed) << "seed " << seed << "\n" << report.str();
  }
}

TEST_P(Faults, AreNotInTheSoundKernel) {
  auto kernel = compilePlanted(GetParam(), /*isBroken=*/false);
  ASSERT_TRUE(kernel);
  expectSound([&](const EmulatorOptions &options) {
    return runPlanted(GetParam(), *kernel, options.seed);
  });
}

#define LOAD_X "(load %v f32 %x %i)\n"
#define CLUSTER_BARRIER "nvvm.cluster.arrive\nnvvm.cluster.wait\n"
#define COPY(to)                                                               \
  "%from = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> "              \
  "!llvm.ptr<1>, f32\n"                                                        \
  "%to = llvm.getelementptr %s[" to "] : (!llvm.ptr<3>, i32) -> "              \
  "!llvm.ptr<3>, f32\n"                                                        \
  "nvvm.cp.async.shared.global %to, %from, 4, cache = ca : !llvm.ptr<3>, "     \
  "!llvm.ptr<1>"
#define OTHER                                                                  \
  "%last = llvm.sub %ntid, %c1 : i32\n%other = llvm.sub %last, %tid : i32\n"

const Planted memoryFaults[] = {
    {"LoadBeyondTheEnd", FaultKind::OutOfBounds, "llvm.load", 8, 32, 1,
     "%next = llvm.add %i, {{%c1|%c0}} : i32\n(load %v f32 %x %next)@\n"
     "(store %v f32 %y %i)"},
    {"StoreBeyondTheEnd", FaultKind::OutOfBounds, "llvm.store", 8, 32, 1,
     LOAD_X "%next = llvm.add %i, {{%c4|%c0}} : i32\n(store %v f32 %y %next)@"},
    {"LoadBeforeTheBeginning", FaultKind::OutOfBounds, "llvm.load", 2, 32, 1,
     "%before = llvm.sub %i, {{%c1|%c0}} : i32\n(load %v f32 %x %before)@\n"
     "(store %v f32 %y %i)"},
    {"AtomicBeyondTheEnd", FaultKind::OutOfBounds, "llvm.atomicrmw", 8, 32, 1,
     "%next = llvm.add %i, {{%c1|%c0}} : i32\n"
     "%p = llvm.getelementptr %y[%next] : (!llvm.ptr<1>, i32) -> "
     "!llvm.ptr<1>, i32\n"
     "%old = llvm.atomicrmw add %p, %c1 monotonic : !llvm.ptr<1>, i32@"},
    {"SharedBeyondTheEnd", FaultKind::OutOfBounds, "llvm.store", 1, 64, 1,
     LOAD_X "%next = llvm.add %tid, {{%c1|%c0}} : i32\n(put %v f32 %s %next)@"},
    {"SharedBeforeTheBeginning", FaultKind::OutOfBounds, "llvm.store", 1, 64, 1,
     LOAD_X "%next = llvm.sub %tid, {{%c1|%c0}} : i32\n(put %v f32 %s %next)@"},
    {"OwnVariableBeyondTheEnd", FaultKind::OutOfBounds, "llvm.store", 1, 32, 1,
     "%a = llvm.alloca %c16 x i32 : (i32) -> !llvm.ptr\n"
     "%k = llvm.urem %tid, {{%c31|%c16}} : i32\n"
     "%p = llvm.getelementptr %a[%k] : (!llvm.ptr, i32) -> !llvm.ptr, i32\n"
     "llvm.store %tid, %p : i32, !llvm.ptr@"},
    {"MisalignedVectorInGlobalMemory", FaultKind::Misaligned, "llvm.load", 1,
     32, 1,
     "%k = llvm.mul %i, {{%c3|%c4}} : i32\n"
     "%p = llvm.getelementptr %x[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, "
     "f32\n%v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> "
     "vector<4xf32>@\n(store %v vector<4xf32> %y %i)"},
    {"MisalignedVectorInSharedMemory", FaultKind::Misaligned, "llvm.store", 1,
     16, 1,
     "%k = llvm.mul %tid, {{%c3|%c2}} : i32\n%v = llvm.mlir.zero : "
     "vector<2xf32>\n"
     "%p = llvm.getelementptr %s[%k] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, "
     "f32\nllvm.store %v, %p : vector<2xf32>, !llvm.ptr<3>@"},
    {"WriteToAnInput", FaultKind::ReadOnly, "llvm.store", 1, 32, 1,
     LOAD_X "(store %v f32 {{%x|%y}} %i)@"},
    {"SharedMemoryNeverWritten", FaultKind::Uninitialised, "llvm.load", 1, 64,
     1,
     LOAD_X "{{|(put %v f32 %s %tid)\nnvvm.barrier0\n}}" OTHER
            "(get %w f32 %s %other)@\n(store %w f32 %y %i)"},
    {"SharedMemoryWrittenByAllButOne", FaultKind::Uninitialised, "llvm.load", 1,
     64, 1,
     LOAD_X "%does = llvm.icmp \"ne\" %tid, {{%c5|%c64}} : i32\n"
            "llvm.cond_br %does, ^put, ^join\n^put:\n(put %v f32 %s %tid)\n"
            "llvm.br ^join\n^join:\nnvvm.barrier0\n" OTHER
            "(get %w f32 %s %other)@\n(store %w f32 %y %i)"},
    {"ScratchNeverWritten", FaultKind::Uninitialised, "llvm.load", 1, 32, 1,
     LOAD_X "%k = llvm.add %i, {{%c1|%c0}} : i32\n(store %v f32 %z %k)\n"
            "(load %w f32 %z %i)@\n(store %w f32 %y %i)"},
    {"InvariantLoadOfWhatIsWritten", FaultKind::StaleRead, "llvm.load", 1, 32,
     1,
     "(store %tid i32 %y %i)\n"
     "%p = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> "
     "!llvm.ptr<1>, i32\n"
     "%w = llvm.load %p {{invariant|}} : !llvm.ptr<1> -> i32@\n"
     "(store %w i32 %y %i)"},
    {"WriteOfWhatWasLoadedAsInvariant", FaultKind::StaleRead, "llvm.store", 1,
     32, 1,
     "%p = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> "
     "!llvm.ptr<1>, i32\n"
     "%w = llvm.load %p {{invariant|}} : !llvm.ptr<1> -> i32\n"
     "(store %w i32 %y %i)@"},
    {"GridNotWaitedFor", FaultKind::PendingGrid, "llvm.load", 2, 32, 1,
     "{{|nvvm.griddepcontrol wait\n}}(load %v f32 %x %i)@\n"
     "(store %v f32 %y %i)"},
};

const Planted races[] = {
    {"MissingBarrier", FaultKind::Race, "llvm.load", 1, 64, 1,
     LOAD_X "(put %v f32 %s %tid)\n(put %v f32 %s %tid)\n"
            "{{nvvm.bar.warp.sync %all : i32|nvvm.barrier0}}\n" OTHER
            "(get %w f32 %s %other)@\n(store %w f32 %y %i)"},
    {"MissingBarrierBeforeTheNextRound", FaultKind::Race, "llvm.store", 1, 64,
     1,
     LOAD_X OTHER
     "llvm.br ^loop(%c0, %v : i32, f32)\n^loop(%k: i32, %u: f32):\n"
     "(put %u f32 %s %tid)@\nnvvm.barrier0\n(get %w f32 %s %other)\n"
     "{{|nvvm.barrier0\n}}%j = llvm.add %k, %c1 : i32\n"
     "%more = llvm.icmp \"ult\" %j, %c3 : i32\n"
     "llvm.cond_br %more, ^loop(%j, %w : i32, f32), ^done\n^done:\n"
     "(store %w f32 %y %i)"},
    {"ShuffleTakenForABarrier", FaultKind::Race, "llvm.load", 1, 32, 1,
     LOAD_X "(put %v f32 %s %tid)\n"
            "%t = nvvm.shfl.sync bfly %all, %v, %c1, %c31 : f32 -> f32\n"
            "{{|nvvm.bar.warp.sync %all : i32\n}}" OTHER
            "(get %w f32 %s %other)@\n(store %w f32 %y %i)"},
    {"WarpSyncOfHalfAWarp", FaultKind::Race, "llvm.load", 1, 32, 1,
     LOAD_X "(put %v f32 %s %tid)\n(const %low i32 65535)\n"
            "(const %high i32 -65536)\n"
            "%isLow = llvm.icmp \"ult\" %lane, %c16 : i32\n"
            "%half = llvm.select %isLow, %low, %high : i1, i32\n"
            "nvvm.bar.warp.sync {{%half|%all}} : i32\n" OTHER
            "(get %w f32 %s %other)@\n(store %w f32 %y %i)"},
    {"AllThreadsWriteOnePlace", FaultKind::Race, "llvm.store", 1, 64, 1,
     LOAD_X "%zero = llvm.mul %i, {{%c0|%c1}} : i32\n(store %v f32 %y %zero)@"},
    {"AllBlocksWriteOnePlace", FaultKind::Race, "llvm.store", 4, 32, 1,
     LOAD_X "%k = llvm.add {{%tid|%i}}, %c0 : i32\n(store %v f32 %y %k)@"},
    {"BlocksReadWhatOthersWrite", FaultKind::Race, "llvm.load", 4, 32, 1,
     LOAD_X "(store %v f32 %y %i)\n%up = llvm.add %i, {{%c32|%c0}} : i32\n"
            "(const %all128 i32 128)\n%k = llvm.urem %up, %all128 : i32\n"
            "(load %w f32 %y %k)@\n(store %w f32 %z %i)"},
    {"VectorsThatOverlap", FaultKind::Race, "llvm.store", 1, 32, 1,
     "%v = llvm.mlir.zero : vector<2xf32>\n"
     "%k = llvm.mul %i, {{%c1|%c2}} : i32\n"
     "%p = llvm.getelementptr %y[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, "
     "f32\nllvm.store %v, %p {alignment = 4 : i64} : vector<2xf32>, "
     "!llvm.ptr<1>@"},
    {"BytesThatOverlap", FaultKind::Race, "llvm.store", 1, 32, 1,
     "%b = llvm.trunc %tid : i32 to i8\n%h = llvm.trunc %tid : i32 to i16\n"
     "(store {{%h i16|%b i8}} %y %i)\n%k = llvm.add %i, %c0 : i32\n"
     "%p = llvm.getelementptr %y[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, "
     "i8\nllvm.store %b, %p : i8, !llvm.ptr<1>@"},
    {"PlainReadBesideAtomics", FaultKind::Race, "llvm.load", 1, 64, 1,
     "%old = llvm.atomicrmw add %y, %c1 monotonic : !llvm.ptr<1>, i32\n"
     "{{|nvvm.barrier0\n}}(load %w i32 %y %c0)@\n(store %w i32 %z %i)"},
    {"PlainWriteBesideAtomics", FaultKind::Race, "llvm.store", 1, 64, 1,
     "%isFirst = llvm.icmp \"eq\" %tid, %c0 : i32\n"
     "llvm.cond_br %isFirst, ^zero, ^join\n^zero:\n(store %c0 i32 %y %c0)@\n"
     "llvm.br ^join\n^join:\n{{|nvvm.barrier0\n}}"
     "%old = llvm.atomicrmw add %y, %c1 monotonic : !llvm.ptr<1>, i32@"},
    {"AtomicsOfABlockOnWhatOthersUse", FaultKind::Race, "llvm.atomicrmw", 2, 32,
     1,
     "%old = llvm.atomicrmw add %y, %c1 "
     "{{syncscope(\"block\")|syncscope(\"device\")}} monotonic : "
     "!llvm.ptr<1>, i32@"},
    {"ConsumerThatOnlyArrives", FaultKind::Race, "llvm.load", 1, 64, 1,
     LOAD_X "(put %v f32 %s %tid)\n"
            "{{nvvm.barrier.arrive id = %c1 number_of_threads = %c64|"
            "nvvm.barrier id = %c1 number_of_threads = %c64}}\n" OTHER
            "(get %w f32 %s %other)@\n(store %w f32 %y %i)"},
    {"FlagWithoutRelease", FaultKind::Race, "llvm.load", 1, 64, 1,
     "%isFirst = llvm.icmp \"eq\" %tid, %c0 : i32\n"
     "llvm.cond_br %isFirst, ^send, ^wait\n^send:\n(store %c7 i32 %z %c0)\n"
     "llvm.store %c1, %y atomic {{monotonic|release}} {alignment = 4 : i64} : "
     "i32, !llvm.ptr<1>\nllvm.br ^end\n^wait:\n"
     "%f = llvm.load %y atomic acquire {alignment = 4 : i64} : !llvm.ptr<1> "
     "-> i32\n%isSet = llvm.icmp \"eq\" %f, %c1 : i32\n"
     "llvm.cond_br %isSet, ^go, ^wait\n^go:\n(load %v i32 %z %c0)@\n"
     "(store %v i32 %y %tid)\nllvm.br ^end\n^end:"},
};

const Planted copyFaults[] = {
    {"CopyNotWaitedFor", FaultKind::PendingCopy, "llvm.load", 1, 64, 1,
     COPY("%tid") "\nnvvm.cp.async.commit.group\n"
                  "{{|nvvm.cp.async.wait.group 0\n}}nvvm.barrier0\n"
                  "(get %w f32 %s %tid)@\n(store %w f32 %y %i)"},
    {"CopyWaitedForTooEarly", FaultKind::PendingCopy, "llvm.load", 1, 64, 1,
     COPY("%tid") "\nnvvm.cp.async.commit.group\n"
                  "nvvm.cp.async.wait.group {{1|0}}\nnvvm.barrier0\n"
                  "(get %w f32 %s %tid)@\n(store %w f32 %y %i)"},
    {"CopyNotCommitted", FaultKind::PendingCopy, "llvm.load", 1, 64, 1,
     COPY("%tid") "\n{{|nvvm.cp.async.commit.group\n}}"
                  "nvvm.cp.async.wait.group 0\nnvvm.barrier0\n"
                  "(get %w f32 %s %tid)@\n(store %w f32 %y %i)"},
    {"CopyReadByOthersWithoutABarrier", FaultKind::Race, "llvm.load", 1, 64, 1,
     COPY("%tid") "\nnvvm.cp.async.commit.group\n"
                  "nvvm.cp.async.wait.group 0\n{{|nvvm.barrier0\n}}" OTHER
                  "(get %w f32 %s %other)@\n(store %w f32 %y %i)"},
    {"CopyOverWhatOthersRead", FaultKind::Race, "nvvm.cp.async.shared.global",
     1, 64, 1,
     LOAD_X "(put %v f32 %s %tid)\nnvvm.barrier0\n" OTHER
            "(get %w f32 %s %other)\n{{|nvvm.barrier0\n}}" COPY(
                "%tid") "@\nnvvm.cp.async.commit.group\n"
                        "nvvm.cp.async.wait.group 0\n(store %w f32 %y %i)"},
    {"CopyOfTooMuch", FaultKind::WrongCopy, "nvvm.cp.async.shared.global", 1,
     64, 1,
     "%from = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> "
     "!llvm.ptr<1>, f32\n%to = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, "
     "i32) -> !llvm.ptr<3>, f32\n"
     "nvvm.cp.async.shared.global %to, %from, 4, cache = ca, {{%c5|%c3}} : "
     "!llvm.ptr<3>, !llvm.ptr<1>, i32@\nnvvm.cp.async.commit.group\n"
     "nvvm.cp.async.wait.group 0"},
    {"CopyFromBeyondTheEnd", FaultKind::OutOfBounds,
     "nvvm.cp.async.shared.global", 1, 64, 1,
     "%k = llvm.mul %tid, {{%c5|%c1}} : i32\n"
     "%from = llvm.getelementptr %x[%k] : (!llvm.ptr<1>, i32) -> "
     "!llvm.ptr<1>, f32\n%to = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, "
     "i32) -> !llvm.ptr<3>, f32\n"
     "nvvm.cp.async.shared.global %to, %from, 4, cache = ca : !llvm.ptr<3>, "
     "!llvm.ptr<1>@\nnvvm.cp.async.commit.group\nnvvm.cp.async.wait.group 0"},
};

const Planted barrierFaults[] = {
    {"BarrierForHalfAWarp", FaultKind::DivergentBarrier, "nvvm.barrier0", 1, 64,
     1,
     "%isLow = llvm.icmp \"ult\" %lane, {{%c16|%c32}} : i32\n"
     "llvm.cond_br %isLow, ^in, ^out\n^in:\nnvvm.barrier0@\n"
     "llvm.br ^join\n^out:\nllvm.br ^join\n^join:\nnvvm.barrier0\n"},
    {"BarriersInBothBranches", FaultKind::DivergentBarrier, "nvvm.barrier0", 1,
     64, 1,
     "%isLow = llvm.icmp \"ult\" {{%lane|%tid}}, {{%c16|%c32}} : i32\n"
     "llvm.cond_br %isLow, ^in, ^out\n^in:\nnvvm.barrier0@\n"
     "llvm.br ^join\n^out:\nnvvm.barrier0@\nllvm.br ^join\n^join:"},
    {"BarrierInALoopThatLanesLeave", FaultKind::DivergentBarrier,
     "nvvm.barrier0", 1, 32, 1,
     "%n = llvm.urem {{%lane|%block}}, %c4 : i32\n"
     "llvm.br ^loop(%c0 : i32)\n^loop(%k: i32):\nnvvm.barrier0@\n"
     "%j = llvm.add %k, %c1 : i32\n%more = llvm.icmp \"ule\" %j, %n : i32\n"
     "llvm.cond_br %more, ^loop(%j : i32), ^done\n^done:\nnvvm.barrier0@"},
    {"WarpsAtDifferentBarriers", FaultKind::Deadlock, "nvvm.barrier", 1, 64, 1,
     "%warp = llvm.udiv %tid, {{%c32|%c64}} : i32\n"
     "(barrier %warp %c64)@"},
    {"BarrierOfTooMany", FaultKind::Deadlock, "nvvm.barrier", 1, 64, 1,
     "(const %many i32 {{96|64}})\n"
     "(barrier %c1 %many)@"},
    {"BarrierOfTooFew", FaultKind::Deadlock, "nvvm.barrier", 1, 96, 1,
     "(const %some i32 {{64|96}})\n"
     "(barrier %c1 %some)@"},
    {"BarrierWithDifferentCounts", FaultKind::WrongBarrier, "nvvm.barrier", 1,
     64, 1,
     "%isLow = llvm.icmp \"ult\" %tid, %c32 : i32\n"
     "%n = llvm.select %isLow, {{%c32|%c64}}, %c64 : i1, i32\n"
     "%m = llvm.add %n, {{%c32|%c0}} : i32\n"
     "(barrier %c1 %m)@"},
    {"BarrierWithANumberThatThereIsNot", FaultKind::WrongBarrier,
     "nvvm.barrier", 1, 64, 1, "(barrier {{%c16|%c15}} %c64)@"},
    {"BarrierOfPartsOfWarps", FaultKind::WrongBarrier, "nvvm.barrier", 1, 64, 1,
     "(barrier %c1 {{%c31|%c64}})@"},
    {"MaskWithoutItsLane", FaultKind::WrongMask, "nvvm.shfl.sync", 1, 32, 1,
     "(const %mask i32 {{-2|-1}})\n"
     "%t = nvvm.shfl.sync bfly %mask, %tid, %c2, %c31 : i32 -> i32@"},
    {"DifferentShufflesInBothBranches", FaultKind::Deadlock, "nvvm.shfl.sync",
     1, 32, 1,
     "%isLow = llvm.icmp \"ult\" %lane, %c16 : i32\n"
     "llvm.cond_br %isLow, ^in, ^out\n^in:\n"
     "%a = nvvm.shfl.sync {{up|bfly}} %all, %tid, %c1, {{%c0|%c31}} : i32 -> "
     "i32@\n"
     "llvm.br ^join\n^out:\n"
     "%b = nvvm.shfl.sync bfly %all, %tid, %c1, %c31 : i32 -> i32@\n"
     "llvm.br ^join\n^join:"},
    {"DifferentMasks", FaultKind::Deadlock, "nvvm.vote.sync", 1, 32, 1,
     "%isLow = llvm.icmp \"ult\" %lane, %c16 : i32\n(const %some i32 -65)\n"
     "%mask = llvm.select %isLow, %all, {{%some|%all}} : i1, i32\n"
     "%r = nvvm.vote.sync ballot %mask, %true -> i32@"},
    {"ValueOfALaneThatTakesNoPart", FaultKind::InactiveLane, "nvvm.shfl.sync",
     1, 32, 1,
     "%isLow = llvm.icmp \"ult\" %lane, %c16 : i32\n(const %low i32 65535)\n"
     "llvm.cond_br %isLow, ^in, ^out\n^in:\n"
     "%t = nvvm.shfl.sync bfly %low, %tid, {{%c16|%c8}}, %c31 : i32 -> i32@\n"
     "llvm.br ^out\n^out:"},
    {"ValueOfALaneThatThereIsNot", FaultKind::InactiveLane, "nvvm.shfl.sync", 1,
     48, 1,
     "%t = nvvm.shfl.sync bfly %all, %tid, {{%c16|%c8}}, %c31 : i32 -> "
     "i32@"},
    {"FlagThatNobodySets", FaultKind::Stall, "llvm.load", 1, 64, 1,
     "%isFirst = llvm.icmp \"eq\" %tid, {{%c64|%c0}} : i32\n"
     "llvm.cond_br %isFirst, ^send, ^wait\n^send:\n"
     "llvm.store volatile %c1, %y : i32, !llvm.ptr<1>\nllvm.br ^end\n^wait:\n"
     "%f = llvm.load volatile %y : !llvm.ptr<1> -> i32@\n"
     "%isSet = llvm.icmp \"eq\" %f, %c1 : i32\n"
     "llvm.cond_br %isSet, ^end, ^wait\n^end:"},
    {"EndlessLoop", FaultKind::Stall, "llvm.add", 1, 32, 1,
     "llvm.br ^loop(%c0 : i32)\n^loop(%k: i32):\n"
     "%j = llvm.add %k, {{%c0|%c1}} : i32@\n(load %v i32 %x %c0)\n"
     "%more = llvm.icmp \"ult\" %j, %c64 : i32\n"
     "llvm.cond_br %more, ^loop(%j : i32), ^end\n^end:"},
    {"Trap", FaultKind::Trap, "llvm.intr.trap", 1, 32, 1,
     "%isBad = llvm.icmp \"eq\" %tid, {{%c7|%c64}} : i32\n"
     "llvm.cond_br %isBad, ^trap, ^end\n^trap:\n\"llvm.intr.trap\"() : () -> "
     "()@\nllvm.unreachable\n^end:"},
};

const Planted clusterFaults[] = {
    {"BlockThatMayNotHaveStarted", FaultKind::RemoteBlock, "llvm.store", 4, 32,
     2,
     "{{|" CLUSTER_BARRIER "}}"
     "%there = nvvm.mapa %s, %c1 : !llvm.ptr<3> -> !llvm.ptr<7>\n"
     "%at = llvm.getelementptr %there[%lane] : (!llvm.ptr<7>, i32) -> "
     "!llvm.ptr<7>, f32\n%rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n"
     "%isFirst = llvm.icmp \"eq\" %rank, %c0 : i32\n"
     "llvm.cond_br %isFirst, ^put, ^join\n^put:\n" LOAD_X
     "llvm.store %v, %at : f32, !llvm.ptr<7>@\nllvm.br "
     "^join\n^join:\n" CLUSTER_BARRIER},
    {"BlockThatMayHaveEnded", FaultKind::RemoteBlock, "llvm.load", 4, 32, 2,
     LOAD_X "(put %v f32 %s %tid)\n" CLUSTER_BARRIER
            "%rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n"
            "%other = llvm.xor %rank, %c1 : i32\n"
            "%there = nvvm.mapa %s, %other : !llvm.ptr<3> -> !llvm.ptr<7>\n"
            "%at = llvm.getelementptr %there[%lane] : (!llvm.ptr<7>, i32) -> "
            "!llvm.ptr<7>, f32\n%w = llvm.load %at : !llvm.ptr<7> -> f32@\n"
            "{{|" CLUSTER_BARRIER "}}(store %w f32 %y %i)"},
    {"BlockThatThereIsNot", FaultKind::RemoteBlock, "nvvm.mapa", 4, 32, 2,
     "%there = nvvm.mapa %s, {{%c2|%c1}} : !llvm.ptr<3> -> !llvm.ptr<7>@\n"
     "%n = llvm.ptrtoint %there : !llvm.ptr<7> to i32\n(store %n i32 %y %i)"},
    {"ArrivingTwice", FaultKind::WrongBarrier, "nvvm.cluster.arrive", 2, 32, 2,
     "nvvm.cluster.arrive\n{{|nvvm.cluster.wait\n}}nvvm.cluster.arrive@\n"
     "nvvm.cluster.wait"},
    {"WaitingWithoutArriving", FaultKind::WrongBarrier, "nvvm.cluster.wait", 2,
     32, 2, "{{|nvvm.cluster.arrive\n}}nvvm.cluster.wait@"},
    {"BlockThatWaitsElsewhere", FaultKind::Deadlock, "nvvm.barrier", 2, 64, 2,
     "%rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n"
     "%n = llvm.add %rank, {{%c0|%c1}} : i32\n%w = llvm.udiv %tid, %c32 : i32\n"
     "%isApart = llvm.icmp \"eq\" %n, %w : i32\n"
     "%isFirst = llvm.icmp \"eq\" %n, %c0 : i32\n"
     "%waits = llvm.and %isApart, %isFirst : i1\n"
     "llvm.cond_br %waits, ^apart, ^join\n^apart:\n(barrier %c1 %c64)@\n"
     "llvm.br ^join\n^join:\nnvvm.cluster.arrive\nnvvm.cluster.wait@"},
    {"ClusterWithoutABarrierBetween", FaultKind::Race, "llvm.load", 2, 32, 2,
     LOAD_X CLUSTER_BARRIER
     "(put %v f32 %s %tid)\n{{|" CLUSTER_BARRIER "}}"
     "%rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n"
     "%other = llvm.xor %rank, %c1 : i32\n"
     "%there = nvvm.mapa %s, %other : !llvm.ptr<3> -> !llvm.ptr<7>\n"
     "%at = llvm.getelementptr %there[%lane] : (!llvm.ptr<7>, i32) -> "
     "!llvm.ptr<7>, f32\n%w = llvm.load %at : !llvm.ptr<7> -> "
     "f32@\n" CLUSTER_BARRIER "(store %w f32 %y %i)"},
};

std::string getTestName(const testing::TestParamInfo<Planted> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Memory, Faults, testing::ValuesIn(memoryFaults),
                         getTestName);
INSTANTIATE_TEST_SUITE_P(Races, Faults, testing::ValuesIn(races), getTestName);
INSTANTIATE_TEST_SUITE_P(Copies, Faults, testing::ValuesIn(copyFaults),
                         getTestName);
INSTANTIATE_TEST_SUITE_P(Barriers, Faults, testing::ValuesIn(barrierFaults),
                         getTestName);
INSTANTIATE_TEST_SUITE_P(Clusters, Faults, testing::ValuesIn(clusterFaults),
                         getTestName);

TEST(FaultReports, SayWhatWasThereBefore) {
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n(load %v f32 %x %i)\n"
      "(put %v f32 %s %tid) loc(\"model.py\":3:1)\n"
      "%o = llvm.xor %tid, %c32 : i32\n"
      "(get %w f32 %s %o) loc(\"model.py\":4:1)\n(store %w f32 %y %i)",
      makeShared("s", 64, "f32")));
  ASSERT_TRUE(kernel);
  std::vector<float> x(64), y(64);
  auto report = launchOrFail(*kernel, makeShape(1, 64), {x.data(), y.data()},
                             {allocate("x", x), allocate("y", y)});
  ASSERT_FALSE(report.isSound());
  // Whichever of the two came first in this order.
  for (const Fault &fault : report.faults)
    if (fault.kind == FaultKind::Race) {
      bool isRead = fault.location == "model.py:4";
      unsigned other = fault.thread.x ^ 32;
      std::string text =
          std::string(isRead ? "reads what was written by thread ("
                             : "writes what was read by thread (") +
          std::to_string(other) + ", 0, 0) of block (0, 0, 0) (llvm." +
          (isRead ? "store at model.py:3)" : "load at model.py:4)");
      EXPECT_EQ(fault.message, text);
      unsigned place = isRead ? other : fault.thread.x;
      EXPECT_EQ(fault.address,
                "shared s + " + std::to_string(4 * place) + " bytes");
      EXPECT_NE(report.str().find("k: model.py:"), std::string::npos);
      return;
    }
  FAIL() << report.str();
}

TEST(FaultReports, NameAllocationsAndBlocks) {
  auto kernel = compileOrFail(
      makeKernel("%x: !llvm.ptr<1>", "(store %i i32 %x %i) loc(\"a.py\":9:2)"));
  ASSERT_TRUE(kernel);
  std::vector<int32_t> x(70);
  auto report = launchOrFail(*kernel, makeShape(3, 32), {x.data()},
                             {allocate("weights", x)});
  ASSERT_EQ(report.faults.size(), 1u);
  const Fault &fault = report.faults[0];
  EXPECT_EQ(fault.kind, FaultKind::OutOfBounds);
  EXPECT_EQ(fault.block.x, 2u);
  unsigned place = 64 + fault.thread.x;
  EXPECT_GE(place, 70u);
  EXPECT_EQ(fault.address, "weights + " + std::to_string(4 * place) + " bytes");
  // What is in bounds was written.
  for (int i = 0; i < 70; ++i)
    EXPECT_EQ(x[i], i);
}

TEST(FaultReports, OfDeadlocksSayWhatEachWarpWaitsFor) {
  auto kernel = compileOrFail(
      makeKernel("", "%warp = llvm.udiv %tid, %c32 : i32\n(barrier %warp %c0) "
                     "loc(\"b.py\":5:1)"));
  ASSERT_TRUE(kernel);
  auto report = launchOrFail(*kernel, makeShape(1, 96), {}, {});
  ASSERT_EQ(report.faults.size(), 1u);
  for (std::string warp : {"0", "1", "2"})
    EXPECT_NE(report.faults[0].message.find(
                  "warp " + warp +
                  " waits at nvvm.barrier at b.py:5 (barrier " + warp +
                  ": 32 of 96 threads are there)"),
              std::string::npos)
        << report.str();
}

} // namespace
