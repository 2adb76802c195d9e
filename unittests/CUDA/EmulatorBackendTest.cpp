//===- EmulatorBackendTest.cpp - Programs on emulated GPUs ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of a program are compiled on several threads, in contexts that they
// take from a pool, and the emulator runs them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/GPU/CudaDevice.h"
#include "MetaOps/Runtime/GPU/EmulatedDevice.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "gtest/gtest.h"

using namespace metaops;
using mlir::metaop::Chip;

namespace {

constexpr unsigned kKernels = 8;

/// A program whose results are i * x, for i from `first`, which is above 1, on,
/// of vectors of different lengths: each is a kernel of its own.
std::string makeScalings(unsigned first) {
  std::string arguments, body, values, types;
  for (unsigned i = 0; i < kKernels; ++i) {
    std::string name = std::to_string(i);
    std::string type = "tensor<" + std::to_string(64 * (i + 1)) + "xf32>";
    const char *comma = i ? ", " : "";
    arguments += comma + ("%x" + name) + ": " + type;
    values += comma + ("%y" + name);
    types += comma + type;
    body += "  %c" + name + " = metaop.constant dense<" +
            std::to_string(first + i) + ".0> : " + type + "\n  %y" + name +
            " = metaop.mul %x" + name + ", %c" + name + " : " + type + "\n";
  }
  return "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body +
         "  return " + values + " : " + types + "\n}\n";
}

class EmulatorBackendTest : public ::testing::Test {
protected:
  /// Compiles a program, and checks what it computes.
  void check(unsigned first) {
    auto program = compiler->compile(makeScalings(first),
                                     llvm::SmallVector<bool>(kKernels, false),
                                     CompileOptions());
    ASSERT_TRUE(bool(program)) << toString(program.takeError());
    llvm::SmallVector<BufferRef> arguments, results;
    for (unsigned i = 0; i < kKernels; ++i) {
      size_t size = 64 * (i + 1);
      arguments.push_back(memory.allocate(size * sizeof(float)));
      for (size_t at = 0; at < size; ++at)
        getFloats(arguments.back())[at] = float(at) - 7;
    }
    llvm::Error error =
        (*program)->run(arguments, results, memory, threads, nullptr);
    ASSERT_FALSE(bool(error)) << toString(std::move(error));
    for (unsigned i = 0; i < kKernels; ++i)
      for (size_t at = 0; at < 64 * (i + 1); ++at)
        ASSERT_EQ(getFloats(results[i])[at], (first + i) * (float(at) - 7));
  }
  static float *getFloats(const BufferRef &buffer) {
    return static_cast<float *>(buffer->data());
  }

  std::unique_ptr<Compiler> compiler =
      createEmulatorCompiler(*Chip::getDefault());
  Allocator memory;
  ThreadPool threads;
};

TEST_F(EmulatorBackendTest, runsThemOnAGpuOfAnEmulatedDriver) {
  for (const char *text : {"emulated:seed=5", "emulated:chip=sm_80"}) {
    CudaOptions options;
    options.emulated = std::make_shared<EmulatedDriver>(
        llvm::cantFail(EmulatedDriverOptions::parse(text)));
    compiler = createCudaCompiler(options);
    check(2);
    compiler.reset();
    EXPECT_EQ(options.emulated->listLeaks(), std::vector<std::string>());
  }
}

TEST_F(EmulatorBackendTest, findsWhatACallMayNotDo) {
  auto program = llvm::cantFail(compiler->compile(
      makeScalings(2), llvm::SmallVector<bool>(kKernels, false),
      CompileOptions()));
  const Step &step =
      static_cast<const CompiledProgram &>(*program).getData().steps.front();
  const auto &call = std::get<KernelCall>(step.action);
  size_t bytes = step.buffers.front().bytes;
  std::vector<float> x(bytes / sizeof(float), 1), y(x.size());
  // A call as the program makes it has one input, and buffers of all bytes.
  auto launch = [&](unsigned numInputs, size_t room) {
    KernelBuffer buffers[] = {{reinterpret_cast<char *>(x.data()), room},
                              {reinterpret_cast<char *>(y.data()), room}};
    return toString(call.kernel->launcher->launch(call, buffers, numInputs,
                                                  threads, nullptr));
  };
  auto finds = [&](unsigned numInputs, size_t room, llvm::StringRef fault) {
    std::string message = launch(numInputs, room);
    EXPECT_TRUE(llvm::StringRef(message).contains(fault)) << message;
  };
  EXPECT_EQ(launch(1, bytes), "");
  EXPECT_GE(y.front(), 2);
  finds(2, bytes, "input 1");
  finds(0, bytes, "uninitialised");
  finds(1, bytes / 2, "out of bounds");
  EXPECT_EQ(launch(1, bytes), "");
}

TEST_F(EmulatorBackendTest, memoryOfACallIsGivenBackWhereItDoesNotFit) {
  CudaOptions options;
  options.emulated = std::make_shared<EmulatedDriver>(
      llvm::cantFail(EmulatedDriverOptions::parse("emulated:memory=2K")));
  compiler = createCudaCompiler(options);
  std::string text = makeScalings(2);
  auto program = llvm::cantFail(compiler->compile(
      text, llvm::SmallVector<bool>(kKernels, false), CompileOptions()));
  llvm::SmallVector<BufferRef> arguments, results;
  for (unsigned i = 0; i < kKernels; ++i)
    arguments.push_back(memory.allocate(64 * (i + 1) * sizeof(float)));
  std::string message =
      toString(program->run(arguments, results, memory, threads, nullptr));
  EXPECT_NE(message.find("CUDA_ERROR_OUT_OF_MEMORY, out of memory: GPU 0 has "),
            std::string::npos)
      << message;
  program.reset();
  compiler.reset();
  EXPECT_EQ(options.emulated->listLeaks(), std::vector<std::string>());
}

TEST_F(EmulatorBackendTest, compilesKernelsOnSeveralThreads) {
  // The second program's kernels take contexts that the first one's gave back.
  for (unsigned first : {2u, 12u, 22u})
    check(first);
}

} // namespace
