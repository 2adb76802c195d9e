//===- CudaBackendTest.cpp - Programs on a GPU ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs are compiled for a GPU, and run through a driver that writes down
// what it is asked for. What its kernels do is written here.
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include "MetaOps/Runtime/Compiler/KernelTools.h"
#include "MetaOps/Runtime/GPU/CudaDevice.h"
#include "MetaOps/Runtime/GPU/EmulatedDevice.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <dlfcn.h>

using namespace metaops;
using mlir::metaop::Chip;

namespace {

constexpr int64_t kElements = 1000;
constexpr const char *kAdd = R"(
func.func @main(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = metaop.add %x, %y : tensor<1000xf32>
  return %0 : tensor<1000xf32>
})";

float *getFloats(void *argument) { return *static_cast<float **>(argument); }

/// Of (x, y, z), z = x + y.
void add(void **arguments) {
  for (int64_t i = 0; i < kElements; ++i)
    getFloats(arguments[2])[i] =
        getFloats(arguments[0])[i] + getFloats(arguments[1])[i];
}

/// Returns whether a text has a part.
void expectIn(llvm::StringRef part, const std::string &text) {
  EXPECT_TRUE(llvm::StringRef(text).contains(part)) << text;
}

class CudaBackendTest : public ::testing::Test {
protected:
  CudaBackendTest() {
    void *library = dlopen(METAOPS_FAKE_DRIVER, RTLD_NOW);
    auto *get =
        reinterpret_cast<FakeDriver *(*)()>(dlsym(library, "fakeDriver"));
    fake = get();
    *fake = FakeDriver();
    options.chip = Chip::getDefault();
    options.search = [this] { return search; };
  }
  ~CudaBackendTest() override {
    program.reset();
    compiler.reset();
    EXPECT_EQ(fake->depth, 0);
    EXPECT_EQ(fake->live, 0);
  }

  /// Finds nothing but the fake driver.
  static AssemblerSearch searchDriver() {
    AssemblerSearch search;
    search.toolkits = Toolkits({});
    search.nvJitLinks = {};
    search.driver = METAOPS_FAKE_DRIVER;
    search.ptxas = "ptxas-absent";
    return search;
  }

  /// Compiles a program, two of whose arguments may be written over or not.
  llvm::Error compile(const char *text, bool inPlace = false) {
    if (!compiler)
      compiler = createCudaCompiler(options);
    auto made = compiler->compile(text, {inPlace, false}, CompileOptions());
    if (!made)
      return made.takeError();
    program = std::move(*made);
    return llvm::Error::success();
  }

  BufferRef makeBuffer(float first) {
    BufferRef buffer = memory.allocate(kElements * sizeof(float));
    for (int64_t i = 0; i < kElements; ++i)
      static_cast<float *>(buffer->data())[i] = first + float(i);
    return buffer;
  }

  llvm::Error run() {
    arguments = {makeBuffer(1), makeBuffer(1000)};
    results.clear();
    times.clear();
    return program->run(arguments, results, memory, threads, &times);
  }
  void checkSums() {
    for (int64_t i = 0; i < kElements; ++i)
      EXPECT_EQ(static_cast<float *>(results[0]->data())[i],
                float(1001 + 2 * i));
  }
  std::vector<std::string> takeCalls(llvm::StringRef prefix = "cu") {
    std::vector<std::string> taken;
    for (const std::string &call : fake->calls)
      if (llvm::StringRef(call).starts_with(prefix) &&
          call != "cuCtxPushCurrent")
        taken.push_back(call);
    fake->calls.clear();
    return taken;
  }

  FakeDriver *fake;
  AssemblerSearch search = searchDriver();
  CudaOptions options;
  std::unique_ptr<Compiler> compiler;
  std::shared_ptr<Program> program;
  Allocator memory;
  ThreadPool threads;
  llvm::SmallVector<BufferRef> arguments, results;
  std::vector<CallTime> times;
};

using Calls = std::vector<std::string>;

TEST_F(CudaBackendTest, runsACallThroughTheGpusMemory) {
  fake->kernel = add;
  llvm::cantFail(compile(kAdd));
  takeCalls();
  llvm::cantFail(run());
  checkSums();
  Calls calls = takeCalls();
  ASSERT_EQ(calls.size(), 16u);
  EXPECT_EQ(calls[3], "cuModuleLoadData driver's code");
  expectIn("cuModuleGetFunction kernel_", calls[4]);
  EXPECT_EQ(llvm::ArrayRef(calls).drop_front(5),
            llvm::ArrayRef<std::string>(
                {"cuMemAlloc 4000", "cuMemcpyHtoD 4000", "cuMemAlloc 4000",
                 "cuMemcpyHtoD 4000", "cuMemAlloc 4000", "cuMemcpyHtoD 4000",
                 "cuEventRecord", calls[12], "cuEventRecord",
                 "cuEventSynchronize", "cuMemcpyDtoH 4000"}));
  expectIn("cuLaunchKernel ", calls[12]);
  // By the GPU's clock.
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].statistics.total, 1'500'000);

  // A second time nothing is loaded.
  llvm::cantFail(run());
  checkSums();
  calls = takeCalls();
  EXPECT_EQ(calls.front(), "cuMemAlloc 4000");
  EXPECT_EQ(calls.size(), 11u);
}

TEST_F(CudaBackendTest, whatIsInPlaceIsOneAllocation) {
  fake->kernel = [](void **arguments) {
    EXPECT_EQ(getFloats(arguments[0]), getFloats(arguments[2]));
    add(arguments);
  };
  llvm::cantFail(compile(kAdd, /*inPlace=*/true));
  llvm::cantFail(run());
  checkSums();
  EXPECT_EQ(results[0]->data(), arguments[0]->data());
  EXPECT_EQ(takeCalls("cuMem"),
            (Calls{"cuMemAlloc 4000", "cuMemcpyHtoD 4000", "cuMemAlloc 4000",
                   "cuMemcpyHtoD 4000", "cuMemcpyDtoH 4000"}));
}

// A sum of floats that is scattered: passes that find a unit and add integers,
// in memory that the call lends, and one that makes floats of these.
TEST_F(CudaBackendTest, functionsRunInOrderInMemoryThatTheCallLends) {
  llvm::cantFail(compile(R"(
func.func @main(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> tensor<7xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(i) -> (i floordiv 150)>
    : tensor<1000xf32> -> tensor<7xf32>
  return %0 : tensor<7xf32>
})"));
  takeCalls();
  llvm::cantFail(run());
  Calls functions = takeCalls("cuModuleGetFunction");
  EXPECT_GT(functions.size(), 1u);
  llvm::cantFail(run());
  EXPECT_EQ(takeCalls("cuLaunchKernel").size(), functions.size());
  EXPECT_EQ(times.back().statistics.total,
            int64_t(functions.size()) * 1'500'000);
}

TEST_F(CudaBackendTest, eachStepThatFailsIsAnErrorAndTheNextRunIsNot) {
  fake->kernel = add;
  llvm::cantFail(compile(kAdd));
  for (const char *call :
       {"cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuModuleLoadData",
        "cuModuleGetFunction", "cuMemAlloc", "cuMemcpyHtoD", "cuEventRecord",
        "cuLaunchKernel", "cuEventSynchronize", "cuMemcpyDtoH"}) {
    fake->failing = call;
    SCOPED_TRACE(call);
    expectIn("CUDA_ERROR_OUT_OF_MEMORY", toString(run()));
    fake->failing.clear();
    llvm::cantFail(run());
    checkSums();
    // A program that begins with nothing loaded.
    program.reset();
    compiler.reset();
    llvm::cantFail(compile(kAdd));
  }
}

TEST_F(CudaBackendTest, whatIsEmulatedCanBeAssembledAsWell) {
  EmulatedDeviceOptions emulated;
  emulated.assembledFor.assign(2, options);
  emulated.assembledFor[1].chip = llvm::cantFail(Chip::find("sm_80"));
  compiler = createEmulatorCompiler(*Chip::getDefault(), emulated);
  llvm::cantFail(compile(kAdd));
  EXPECT_EQ(takeCalls("cuLinkCreate").size(), 2u);
  EXPECT_EQ(fake->target, 80);
  // It runs on the emulator all the same.
  llvm::cantFail(run());
  checkSums();
  EXPECT_TRUE(takeCalls("cuLaunchKernel").empty());

  fake->failing = "cuLinkComplete";
  compiler = createEmulatorCompiler(*Chip::getDefault(), emulated);
  std::string message = toString(compile(kAdd));
  expectIn("for sm_90a, kernel", message);
  expectIn("has no code", message);
}

/// Schedules are tried on the GPU, and the driver's clock decides.
class CudaTuningTest : public CudaBackendTest {
protected:
  CudaTuningTest() {
    fake->kernel = add;
    // The fewer blocks, the better.
    fake->time = [](unsigned blocks) { return 0.1f * float(blocks); };
  }

  TuningResult tune() {
    compiler = createCudaCompiler(options);
    return llvm::cantFail(
        compiler->getTools()->tune(kAdd, CompileOptions(), {1.0},
                                   /*budget=*/60, threads, nullptr));
  }

  /// Runs what is not tuned. The driver's kernels see the blocks of that, and
  /// of the launch that they are in.
  void findUsualBlocks() {
    driver = fake;
    llvm::cantFail(compile(kAdd));
    llvm::cantFail(run());
    usual = fake->blocks;
  }
  static inline FakeDriver *driver;
  static inline unsigned usual;
};

TEST_F(CudaTuningTest, theGpusClockDecides) {
  TuningResult result = tune();
  EXPECT_TRUE(result.errors.empty());
  ASSERT_EQ(result.kernels.size(), 1u);
  const TunedKernels &tuned = result.kernels[0];
  ASSERT_EQ(tuned.before.size(), 1u);
  ASSERT_EQ(tuned.lines.size(), 1u);
  EXPECT_GT(tuned.measured, 3u);

  // What was found has as many blocks as the times say.
  llvm::cantFail(compile(kAdd));
  llvm::cantFail(run());
  EXPECT_NEAR(tuned.secondsBefore, 1e-4 * fake->blocks, 1e-7);
  unsigned before = fake->blocks;
  CompileOptions compileOptions;
  compileOptions.schedules = tuned.lines[0];
  compileOptions.scheduleFile = "tuned";
  program =
      llvm::cantFail(compiler->compile(kAdd, {false, false}, compileOptions));
  llvm::cantFail(run());
  checkSums();
  EXPECT_LT(fake->blocks, before);
  EXPECT_NEAR(tuned.secondsAfter, 1e-4 * fake->blocks, 1e-7);
}

TEST_F(CudaTuningTest, nothingIsKeptThatIsNotFaster) {
  fake->time = nullptr;
  TuningResult result = tune();
  ASSERT_EQ(result.kernels.size(), 1u);
  EXPECT_TRUE(result.kernels[0].lines.empty());
  EXPECT_GT(result.kernels[0].measured, 3u);
  EXPECT_NEAR(result.kernels[0].secondsBefore, 1.5e-3, 1e-9);
  EXPECT_EQ(result.kernels[0].secondsAfter, result.kernels[0].secondsBefore);
}

TEST_F(CudaTuningTest, whatComputesSomethingElseIsNotUsed) {
  findUsualBlocks();
  fake->kernel = [](void **arguments) {
    add(arguments);
    if (driver->blocks < usual)
      getFloats(arguments[2])[7] += 1;
  };
  TuningResult result = tune();
  ASSERT_FALSE(result.errors.empty());
  expectIn("result 0: elements differ by 1", result.errors[0]);
  ASSERT_EQ(result.kernels.size(), 1u);
  EXPECT_TRUE(result.kernels[0].lines.empty());
}

TEST_F(CudaTuningTest, whatDoesNotRunIsToldOf) {
  findUsualBlocks();
  fake->kernel = [](void **arguments) {
    add(arguments);
    driver->failing = driver->blocks < usual ? "cuMemcpyDtoH" : "";
  };
  TuningResult result = tune();
  ASSERT_FALSE(result.errors.empty());
  expectIn("copying from a GPU failed", result.errors[0]);
  expectIn("with the schedules", result.errors[0]);
  ASSERT_EQ(result.kernels.size(), 1u);
  EXPECT_TRUE(result.kernels[0].lines.empty());
  fake->failing.clear();
}

/// A cache on disk that holds what an assembler has made that is gone.
class CudaCacheTest : public CudaBackendTest {
protected:
  CudaCacheTest() {
    llvm::SmallString<128> path;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("metaops-cuda", path));
    folder = std::string(path);
    fake->kernel = add;
    fake->version = 14000;
    fake->code = "other code";
    compileInCache();
    fake->version = 13000;
    fake->code = "driver's code";
    takeCalls();
  }
  ~CudaCacheTest() override { (void)llvm::sys::fs::remove_directories(folder); }

  void compileInCache() {
    compiler = createCudaCompiler(options);
    compiler->setCacheDirectory(folder + "/cache");
    llvm::cantFail(compile(kAdd));
  }

  std::string folder;
};

TEST_F(CudaCacheTest, programsDoNotDependOnTheAssemblerButCubinsDo) {
  compileInCache();
  EXPECT_EQ(program->getInfo().compiledKernels, 0);
  llvm::cantFail(run());
  checkSums();
  EXPECT_EQ(takeCalls("cuLinkCreate").size(), 1u);
}

TEST_F(CudaCacheTest, whatWasAssembledForTheEmulatorIsKeptByItself) {
  EmulatedDeviceOptions emulated;
  emulated.assembledFor.push_back(options);
  emulated.assembledFor[0].cubinFolder = folder + "/cubins";
  auto assemble = [&] {
    compiler = createEmulatorCompiler(*Chip::getDefault(), emulated);
    return compile(kAdd);
  };
  // A refusal is not kept.
  fake->failing = "cuLinkComplete";
  EXPECT_TRUE(bool(assemble()));
  fake->failing.clear();
  llvm::cantFail(assemble());
  takeCalls("cuLinkCreate");
  llvm::cantFail(assemble());
  EXPECT_TRUE(takeCalls("cuLinkCreate").empty());
}

TEST_F(CudaCacheTest, theEmulatorTellsWhatKernelsAreMadeOf) {
  EmulatedDeviceOptions emulated;
  emulated.kernelLog = folder + "/kernels.txt";
  compiler = createEmulatorCompiler(*Chip::getDefault(), emulated);
  // The last line's hashes.
  auto log = [&](std::string text) {
    llvm::cantFail(compile(text.c_str()));
    auto file = llvm::cantFail(llvm::errorOrToExpected(
        llvm::MemoryBuffer::getFile(emulated.kernelLog)));
    llvm::StringRef line = file->getBuffer().rtrim('\n').rsplit('\n').second;
    llvm::SmallVector<llvm::StringRef> words;
    (line.empty() ? file->getBuffer().rtrim('\n') : line).split(words, ' ');
    return std::vector<std::string>(words.begin(), words.end());
  };
  auto replace = [](std::string text, llvm::StringRef from,
                    llvm::StringRef to) {
    for (size_t at = 0; (at = text.find(from.str(), at)) != text.npos;)
      text.replace(at, from.size(), to.str());
    return text;
  };
  std::vector<std::string> first = log(kAdd);
  ASSERT_GT(first.size(), 2u);
  EXPECT_EQ(first[0].size(), 16u);
  // One that is known is told, too; numbers make no difference.
  EXPECT_EQ(log(kAdd), first);
  EXPECT_EQ(log(replace(kAdd, "1000", "2000")), first);
  // Other arithmetic or types are in the same loops, a sum is in others.
  auto count = [&](const std::vector<std::string> &words) {
    return llvm::count_if(words, [&](const std::string &word) {
      return !llvm::is_contained(first, word);
    });
  };
  EXPECT_EQ(count(log(replace(kAdd, "metaop.add", "metaop.mul"))), 1);
  EXPECT_GT(count(log(replace(kAdd, "f32", "f64"))), 0);
  EXPECT_GT(count(log(R"(
func.func @main(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> tensor<f32> {
  %0 = metaop.add %x, %y : tensor<1000xf32>
  %1 = metaop.reduce add %0 dims = [0] : tensor<1000xf32> -> tensor<f32>
  return %1 : tensor<f32>
})")),
            0);
}

TEST_F(CudaCacheTest, cubinsOfAnAssemblerThatIsNamedAreTaken) {
  options.otherAssemblers = {"the driver of CUDA 14.0"};
  compileInCache();
  llvm::cantFail(run());
  checkSums();
  EXPECT_TRUE(takeCalls("cuLinkCreate").empty());
}

TEST_F(CudaCacheTest, whatTheDriverRefusesIsMadeByItsOwnAssembler) {
  options.otherAssemblers = {"the driver of CUDA 14.0"};
  fake->refused = "other code";
  compileInCache();
  llvm::cantFail(run());
  checkSums();
  EXPECT_EQ(
      takeCalls("cuModuleLoadData"),
      (Calls{"cuModuleLoadData other code", "cuModuleLoadData driver's code"}));
}

TEST_F(CudaBackendTest, theChipIsTheGpusWhereNoneIsNamed) {
  options.chip = nullptr;
  fake->capability = 86;
  llvm::cantFail(compile(kAdd));
  EXPECT_EQ(fake->target, 86);
  fake->capability = 75;
  compiler = createCudaCompiler(options);
  expectIn(
      "a GPU of compute capability 7.5 runs none of the code that is made, "
      "sm_80, ",
      toString(compile(kAdd)));
}

TEST_F(CudaBackendTest, codeIsNotRunOnAnOlderGpu) {
  fake->capability = 80;
  llvm::cantFail(compile(kAdd));
  expectIn("GPU 0 is an sm_80, which does not run code for sm_90a; expected "
           "code for sm_80",
           toString(run()));
}

TEST_F(CudaBackendTest, whatIsMissingIsSaid) {
  search.driver = "libcuda-absent.so";
  std::string message = toString(compile(kAdd));
  expectIn("there is no assembler for GPUs", message);
  expectIn("libcuda-absent.so: NVIDIA's driver", message);
  // Without a chip, before anything else.
  options.chip = nullptr;
  compiler.reset();
  expectIn("libcuda-absent.so is a part of NVIDIA's driver",
           toString(compile(kAdd)));
  search = searchDriver();
  compiler.reset();
  message = toString(compile(R"(
func.func @main(%x: tensor<1000xf64>, %y: tensor<1000xf64>) -> tensor<1000xf64> {
  %0 = metaop.exp %x : tensor<1000xf64>
  return %0 : tensor<1000xf64>
})"));
  expectIn("__nv_exp", message);
  expectIn("nvidia-nvvm", message);
  // The next program is none the worse for it.
  llvm::cantFail(compile(kAdd));
}

TEST(ChipTest, runsOn) {
  auto runs = [](const char *chip, int capability) {
    return llvm::cantFail(Chip::find(chip))->runsOn(capability);
  };
  EXPECT_TRUE(runs("sm_80", 80) && runs("sm_80", 89) && runs("sm_90", 90));
  EXPECT_FALSE(runs("sm_86", 80) || runs("sm_80", 90) || runs("sm_90", 89));
  EXPECT_TRUE(runs("sm_90a", 90) && !runs("sm_90a", 91));
  EXPECT_EQ(llvm::cantFail(Chip::findFor(90))->name, "sm_90a");
  EXPECT_EQ(llvm::cantFail(Chip::findFor(88))->name, "sm_87");
}

} // namespace
