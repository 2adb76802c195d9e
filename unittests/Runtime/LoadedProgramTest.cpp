//===- LoadedProgramTest.cpp - Running program files ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramFileFixture.h"

#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

using namespace metaops;
using llvm::StringRef;

namespace {

constexpr int64_t kElements = ProgramFileExample::kElements;
constexpr size_t kBytes = ProgramFileExample::kBytes;

std::string failureOf(llvm::Error error) {
  return error ? toString(std::move(error)) : "no failure";
}

void succeed(llvm::Error error) {
  EXPECT_EQ(failureOf(std::move(error)), "no failure");
}

ProgramError::Kind kindOf(llvm::Error error) {
  ProgramError::Kind kind = {};
  llvm::handleAllErrors(std::move(error), [&](const ProgramError &failure) {
    kind = failure.getKind();
  });
  return kind;
}

/// Floats that begin at a multiple of 64 bytes, or some bytes behind one.
class Floats {
public:
  explicit Floats(int64_t count, size_t bytesBehind = 0, float value = -1)
      : memory(count + 32, value) {
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    begin = memory.data() +
            (llvm::alignTo(address, 64) - address + bytesBehind) / 4;
  }

  Floats(const Floats &) = delete;
  Floats(Floats &&) = default;

  float *data() { return begin; }
  float &operator[](int64_t i) { return begin[i]; }
  operator ConstMemory() const { return {begin, kBytes}; }
  operator MutableMemory() { return {begin, kBytes}; }

private:
  std::vector<float> memory;
  float *begin;
};

class LoadedProgramTest : public ::testing::Test {
protected:
  std::unique_ptr<LoadedProgram> load(unsigned threads = 2) {
    LoadOptions options;
    options.threads = threads;
    return valueOf(LoadedProgram::read(example.write(), options));
  }

  static Floats makeX(float seed, size_t bytesBehind = 0) {
    Floats x(kElements, bytesBehind);
    for (int64_t i = 0; i < kElements; ++i)
      x[i] = seed + float(i % 37) / 8;
    return x;
  }
  float sumOf(float x, int64_t i) const {
    return x + example.weight[i] + example.weight[i];
  }
  /// Compares all elements: x of `makeX` and what comes of it.
  void check(float seed, const float *sum, const float *same,
             const float *again) {
    Floats x = makeX(seed);
    unsigned wrong = 0;
    for (int64_t i = 0; i < kElements; ++i)
      wrong += sum[i] != sumOf(x[i], i) || same[i] != x[i] ||
               again[i] != sumOf(x[i], i);
    EXPECT_EQ(wrong, 0u);
  }
  void check(float seed, llvm::ArrayRef<BufferRef> outputs) {
    ASSERT_EQ(outputs.size(), 3u);
    auto at = [&](unsigned i) {
      EXPECT_EQ(outputs[i]->bytes(), kBytes);
      return static_cast<const float *>(outputs[i]->data());
    };
    check(seed, at(0), at(1), at(2));
  }

  ProgramFileExample example;
};

TEST_F(LoadedProgramTest, AProgramRuns) {
  for (unsigned threads : {1, 2, 5}) {
    auto program = load(threads);
    EXPECT_EQ(program->getThreads(), threads);
    EXPECT_EQ(program->getTarget(), "near");
    for (float seed : {0.0f, 3.5f, -100.0f}) {
      Floats x = makeX(seed);
      check(seed, valueOf(program->run({x})));
    }
  }
}

TEST_F(LoadedProgramTest, TensorsHaveNames) {
  auto program = load();
  ASSERT_EQ(program->getInputs().size(), 1u);
  EXPECT_EQ(program->getInputs()[0].name, "x");
  EXPECT_EQ(formatType(program->getInputs()[0]), "float32 (100, 50)");
  EXPECT_EQ(findTensor(program->getOutputs(), "again"), 2u);
  EXPECT_EQ(findTensor(program->getOutputs(), "x"), std::nullopt);
  EXPECT_EQ(listNames(program->getOutputs()), "'sum', 'same', 'again'");
  EXPECT_EQ(findTensor(program->getWeights(), "unused"), 1u);
  EXPECT_EQ(std::memcmp(program->getWeight(1)->data(), "abc", 3), 0);
  EXPECT_EQ(valueOf(program->readIR()), "the IR");
  EXPECT_GE(program->getScratchBytes(), int64_t(kBytes));
}

TEST_F(LoadedProgramTest, OutputsGoWhereTheyAreAskedFor) {
  auto program = load();
  for (size_t behind : {0, 4, 60})
    for (float seed : {1.0f, -2.25f}) {
      Floats x = makeX(seed, behind);
      Floats sum(kElements, behind), same(kElements, behind),
          again(kElements, behind);
      succeed(program->run({x}, {sum, same, again}));
      check(seed, sum.data(), same.data(), again.data());
      // Nothing beside them is written.
      for (Floats *output : {&sum, &same, &again}) {
        EXPECT_EQ((*output)[kElements], -1);
        if (behind > 0)
          EXPECT_EQ((*output)[-1], -1);
      }
    }
}

TEST_F(LoadedProgramTest, OutputsMayBeInputs) {
  auto program = load();
  for (unsigned place = 0; place < 3; ++place) {
    Floats x = makeX(5), first(kElements), second(kElements);
    std::vector<MutableMemory> outputs = {first, second};
    outputs.insert(outputs.begin() + place, x);
    succeed(program->run({x}, outputs));
    check(5, static_cast<float *>(outputs[0].data),
          static_cast<float *>(outputs[1].data),
          static_cast<float *>(outputs[2].data));
  }
}

TEST_F(LoadedProgramTest, OutputsMaySwapInputs) {
  // A program of two inputs that gives the second one, then the first.
  ProgramFileExample swap;
  swap.data = {};
  swap.data.arguments = {8, 8};
  swap.data.results = {{1, 8}, {0, 8}};
  ProgramSignature &signature = swap.contents.signature;
  FunctionSignature &function = signature.functions[0];
  function.inputs = {{"a", DType::I64, {}}, {"b", DType::I64, {1}}};
  function.outputs = {{"c", DType::I64, {1}}, {"d", DType::I64, {}}};
  function.arguments = {std::nullopt, std::nullopt};
  signature.weights.clear();
  swap.contents.weights.clear();
  auto program = valueOf(LoadedProgram::read(swap.write()));
  int64_t a = 17, b = -4;
  succeed(program->run({{&a, 8}, {&b, 8}}, {{&a, 8}, {&b, 8}}));
  EXPECT_EQ(a, -4);
  EXPECT_EQ(b, 17);
}

TEST_F(LoadedProgramTest, OutputsAreDifferentMemoryAndOutliveTheProgram) {
  auto program = load();
  Floats x = makeX(2);
  auto first = valueOf(program->run({x}));
  auto second = valueOf(program->run({makeX(9)}));
  program.reset();
  std::fill_n(static_cast<float *>(first[2]->data()), kElements, 0.0f);
  std::fill_n(x.data(), kElements, 0.0f);
  check(2, {first[0], first[1], first[0]});
  check(9, second);
}

TEST_F(LoadedProgramTest, WrongMemoryIsAnError) {
  auto program = load();
  Floats x = makeX(0), y(kElements);
  auto runOn = [&](ConstMemory memory) {
    return failureOf(program->run({memory}));
  };
  EXPECT_EQ(runOn({x.data(), kBytes - 4}),
            "the input 'x' is float32 (100, 50) of 20000 bytes, given 19996");
  EXPECT_EQ(runOn({nullptr, kBytes}), "the input 'x' has no memory");
  EXPECT_EQ(
      runOn({reinterpret_cast<char *>(x.data()) + 2, kBytes}),
      "the memory of the input 'x' is not aligned to elements of 4 bytes");
  EXPECT_EQ(failureOf(program->run({})), "the program has 1 inputs, given 0");
  EXPECT_EQ(failureOf(program->run({x}, {y, y})),
            "the program has 3 outputs, given 2");
  EXPECT_EQ(failureOf(program->run({x}, {y, y, {y.data(), 8}})),
            "the output 'again' is float32 (100, 50) of 20000 bytes, given 8");
  EXPECT_EQ(kindOf(program->run({x}, {y})), ProgramError::Kind::Argument);
}

TEST_F(LoadedProgramTest, ThreadsAreSet) {
  auto program = load(2);
  EXPECT_EQ(failureOf(program->setThreads(7)), "no failure");
  EXPECT_EQ(program->getThreads(), 7u);
  check(4, valueOf(program->run({makeX(4)})));
  EXPECT_EQ(failureOf(program->setThreads(0)),
            "a program has 1 to 4096 threads, given 0");
  EXPECT_EQ(failureOf(program->setThreads(5000)),
            "a program has 1 to 4096 threads, given 5000");
  EXPECT_EQ(program->getThreads(), 7u);
  LoadOptions options;
  options.threads = 4097;
  EXPECT_TRUE(contains(failureOf(LoadedProgram::read(example.write(), options)),
                       "a program has 1 to 4096 threads, given 4097"));
}

//===----------------------------------------------------------------------===//
// Several functions
//===----------------------------------------------------------------------===//

TEST_F(LoadedProgramTest, FunctionsAreChosenByName) {
  example.addFunction("other");
  std::string bytes = example.write();
  LoadOptions options;
  EXPECT_EQ(valueOf(LoadedProgram::read(bytes, options))->getFunction().name,
            "main");
  options.function = "other";
  auto program = valueOf(LoadedProgram::read(bytes, options));
  EXPECT_EQ(program->getFunction().name, "other");
  EXPECT_EQ(program->getInputs()[0].name, "z");
  EXPECT_EQ(valueOf(program->readIR()), "another IR");
  check(3, valueOf(program->run({makeX(3)})));
  options.function = "none";
  auto failed = LoadedProgram::read(bytes, options);
  ASSERT_FALSE(failed);
  llvm::Error error = failed.takeError();
  EXPECT_TRUE(error.isA<ProgramError>());
  EXPECT_EQ(failureOf(std::move(error)),
            "the program file has no function 'none'; it has 'main', 'other'");
}

TEST_F(LoadedProgramTest, FunctionsShareWeightsAndOutliveEachOther) {
  example.addFunction("other");
  LoadOptions options;
  options.threads = 1;
  auto first = valueOf(LoadedProgram::read(example.write(), options));
  options.function = "other";
  options.threads = 3;
  auto second = valueOf(first->openFunction(options));
  EXPECT_EQ(first->getThreads(), 1u);
  EXPECT_EQ(second->getThreads(), 3u);
  EXPECT_EQ(first->getWeight(0)->data(), second->getWeight(0)->data());
  first->close();
  check(1, valueOf(second->run({makeX(1)})));
  auto third = valueOf(first->openFunction({}));
  first.reset();
  second.reset();
  check(2, valueOf(third->run({makeX(2)})));
}

//===----------------------------------------------------------------------===//
// Files that do not fit
//===----------------------------------------------------------------------===//

TEST_F(LoadedProgramTest, TheBestTargetIsChosen) {
  std::vector<std::string> host = getHostFeatures();
  auto &targets = example.contents.signature.targets;
  targets = {{"one", {host[0]}}, {"all", host}, {"none", {}}, {"same", host}};
  EXPECT_EQ(load()->getTarget(), "all");
  targets = {{"none", {}}, {"too many", host}};
  targets[1].features.push_back("no-such-feature");
  EXPECT_EQ(load()->getTarget(), "none");
}

TEST_F(LoadedProgramTest, AnotherProcessorIsRefusedByBothLists) {
  example.contents.signature.targets = {
      {"far", {"x86-64", "aarch64", "feature-a", "feature-b"}},
      {"farther", {"feature-c"}}};
  std::string failure = failureOf(LoadedProgram::read(example.write()));
  EXPECT_TRUE(contains(failure, "feature-a, feature-b; farther needs "
                                "feature-c; the processor has " +
                                    getHostFeatures()[0]));
  EXPECT_TRUE(contains(failure, "far needs "));
  example.contents.signature.targets.clear();
  failure = failureOf(LoadedProgram::read(example.write()));
  EXPECT_TRUE(contains(failure, "the program file has no machine code"));
  LoadOptions options;
  options.code = false;
  EXPECT_EQ(failureOf(LoadedProgram::read(example.write(), options)),
            "no failure");
}

TEST_F(LoadedProgramTest, UsualTargetsHaveFeatures) {
  auto v3 = getTargetFeatures("x86-64-v3"), v4 = getTargetFeatures("x86-64-v4");
  EXPECT_TRUE(llvm::is_contained(v3, "avx2"));
  EXPECT_FALSE(llvm::is_contained(v3, "avx512f"));
  EXPECT_TRUE(llvm::is_contained(v4, "avx512f"));
  EXPECT_GT(v4.size(), v3.size());
  EXPECT_EQ(getTargetFeatures("aarch64").front(), "aarch64");
  EXPECT_TRUE(getTargetFeatures("x86-64-v9").empty());
}

TEST_F(LoadedProgramTest, WithoutCodeNothingIsExecutable) {
  auto countExecutable = [] {
    std::ifstream maps("/proc/self/maps");
    std::stringstream text;
    text << maps.rdbuf();
    unsigned count = 0;
    for (std::string line; std::getline(text, line);)
      count += line.find("r-xp") != std::string::npos ||
               line.find("rwxp") != std::string::npos;
    return count;
  };
  std::string bytes = example.write();
  unsigned before = countExecutable();
  LoadOptions options;
  options.code = false;
  auto program = valueOf(LoadedProgram::read(bytes, options));
  EXPECT_EQ(countExecutable(), before);
  EXPECT_EQ(program->getTarget(), "");
  EXPECT_EQ(program->getInputs().size(), 1u);
  EXPECT_EQ(
      std::memcmp(program->getWeight(0)->data(), example.weight.data(), kBytes),
      0);
  EXPECT_EQ(failureOf(program->run({makeX(0)})),
            "the program was loaded without code, so it cannot be run");
  // The count can differ.
  auto other = valueOf(LoadedProgram::read(bytes));
  EXPECT_GT(countExecutable(), before);
}

TEST_F(LoadedProgramTest, ProgramsAgreeWithTheirSignatures) {
  auto spoil = [](auto change) {
    ProgramFileExample example;
    change(example.contents.signature.functions[0], example);
    return failureOf(LoadedProgram::read(example.write()));
  };
  using Function = FunctionSignature &;
  using Example = ProgramFileExample &;
  EXPECT_EQ(spoil([](Function, Example) {}), "no failure");
  EXPECT_TRUE(contains(
      spoil([](Function f, Example) { f.inputs[0].shape = {100, 49}; }),
      "has 20000 bytes in the argument 'x', and 19600 by"));
  EXPECT_TRUE(contains(
      spoil([](Function f, Example) { f.outputs[1].dtype = DType::F64; }),
      "has 20000 bytes in the output 'same', and 40000 by"));
  EXPECT_TRUE(contains(spoil([](Function f, Example) { f.outputs.pop_back(); }),
                       "has 3 results, and 2 by the signature"));
  EXPECT_TRUE(contains(spoil([](Function f, Example) {
                         f.arguments.push_back(std::nullopt);
                         f.inputs.push_back({"more", DType::F32, {}});
                       }),
                       "has 3 arguments, and 4 by the signature"));
  EXPECT_TRUE(contains(spoil([](Function, Example e) {
                         e.data.steps.push_back(
                             ProgramFileExample::makeAddition(2, 0, 2));
                       }),
                       "overwrites one of its arguments"));
  EXPECT_TRUE(contains(spoil([](Function, Example e) {
                         e.data.steps[0].buffers[0].bytes = kBytes + 1;
                       }),
                       "step 0 of a program reads memory that is not there"));
}

TEST_F(LoadedProgramTest, KernelsAndWhatTheyCallAreThere) {
  ImageContents image;
  image.architecture = *getHostArchitecture();
  image.pageBytes = kMaxImagePageBytes;
  std::vector<char> code(64, 0), pointers(8, 0);
  image.code = code;
  image.pointers = pointers;
  image.entries = {{"add", 0}};
  for (StringRef name : {"memset", "expf", "pow", "fmaf", "erf"}) {
    image.imports = {{name, {0}}};
    example.image = writeImage(image);
    EXPECT_EQ(failureOf(LoadedProgram::read(example.write())), "no failure");
  }
  // What the process has, but kernels have no use for.
  for (StringRef name : {"system", "dlsym", "malloc", "mmap"}) {
    image.imports = {{name, {0}}};
    example.image = writeImage(image);
    EXPECT_EQ(failureOf(LoadedProgram::read(example.write())),
              "the code image needs symbols that are not there: " + name.str());
  }
  image.imports.clear();
  image.entries = {{"another", 0}};
  example.image = writeImage(image);
  EXPECT_TRUE(contains(failureOf(LoadedProgram::read(example.write())),
                       "a kernel 'add' that is not there"));
}

TEST_F(LoadedProgramTest, MoreMemoryThanThereIsIsAnError) {
  example.data.arenaBytes = int64_t(1) << 60;
  auto program = load();
  auto result = program->run({makeX(0)});
  ASSERT_FALSE(result);
  EXPECT_EQ(kindOf(result.takeError()), ProgramError::Kind::OutOfMemory);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

TEST_F(LoadedProgramTest, RunsAreIndependent) {
  auto program = load(3);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int time = 0; time < 50; ++time) {
        float seed = float(caller * 1000 + time);
        Floats x = makeX(seed);
        check(seed, valueOf(program->run({x})));
        Floats sum(kElements), same(kElements), again(kElements);
        succeed(program->run({x}, {sum, same, again}));
        check(seed, sum.data(), same.data(), again.data());
        if (time % 10 == caller)
          succeed(program->setThreads(1 + time % 4));
      }
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST_F(LoadedProgramTest, ClosingWaitsForRuns) {
  for (int round = 0; round < 20; ++round) {
    auto program = load(2);
    std::atomic<unsigned> done{0}, started{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 3; ++caller)
      callers.emplace_back([&, caller] {
        Floats x = makeX(float(caller));
        for (;;) {
          auto outputs = program->run({x});
          ++started;
          if (!outputs) {
            EXPECT_EQ(kindOf(outputs.takeError()), ProgramError::Kind::Closed);
            return;
          }
          check(float(caller), *outputs);
          ++done;
        }
      });
    while (started < 5)
      std::this_thread::yield();
    program->close();
    for (std::thread &caller : callers)
      caller.join();
    EXPECT_GE(done, 5u);
    EXPECT_EQ(failureOf(program->run({makeX(0)})),
              "the program has been closed");
    program->close();
    EXPECT_EQ(program->getScratchBytes(), 0);
    EXPECT_EQ(program->getInputs()[0].name, "x");
  }
}

} // namespace
