//===- CompileKernelsTest.cpp - Code of several kernels -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/Kernels/CompileKernels.h"
#include "MetaOps/Target/CPU/CpuTarget.h"

#include "gtest/gtest.h"

#include <condition_variable>
#include <mutex>

using namespace metaops;

namespace {
/// Compiles a kernel to its key, one named "stuck" not before it is let go.
class FakeBackend : public KernelBackend {
public:
  FakeBackend()
      : KernelBackend(std::make_shared<mlir::metaop::CpuTarget>(
            mlir::metaop::Processor())) {}
  std::unique_ptr<KernelWorker> createWorker() const override;
  llvm::Expected<std::unique_ptr<CodeEmitter>> createEmitter() const override {
    return llvm::createStringError("nothing is emitted");
  }
  llvm::Expected<Kernel> load(llvm::StringRef,
                              std::unique_ptr<llvm::MemoryBuffer>) override {
    return llvm::createStringError("nothing is loaded");
  }

  void letGo() {
    std::lock_guard<std::mutex> lock(mutex);
    mayGo = true;
    changed.notify_all();
  }
  void waitToGo() const {
    std::unique_lock<std::mutex> lock(mutex);
    isStuck = true;
    changed.wait(lock, [this] { return mayGo; });
    hasGone = true;
    changed.notify_all();
  }
  /// Returns whether a worker waits to be let go.
  bool hasStuck() const {
    std::lock_guard<std::mutex> lock(mutex);
    return isStuck;
  }
  void waitUntilGone() const {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return hasGone; });
  }

private:
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool mayGo = false;
  mutable bool isStuck = false;
  mutable bool hasGone = false;
};

class FakeWorker : public KernelWorker {
public:
  explicit FakeWorker(const FakeBackend &backend) : backend(backend) {}
  CompiledCode compile(const BoundKernel &kernel, StopCheck) override {
    if (kernel.key == "stuck")
      backend.waitToGo();
    if (kernel.key == "wrong")
      return {nullptr, "this is wrong"};
    return {llvm::MemoryBuffer::getMemBufferCopy(kernel.key), ""};
  }

private:
  const FakeBackend &backend;
};

std::unique_ptr<KernelWorker> FakeBackend::createWorker() const {
  return std::make_unique<FakeWorker>(*this);
}

std::vector<BoundKernel> makeKernels(llvm::ArrayRef<const char *> keys) {
  std::vector<BoundKernel> kernels;
  for (const char *key : keys)
    kernels.push_back({key, getKernelEntry(key), ""});
  return kernels;
}

TEST(CompileKernelsTest, CodesAreInTheOrderOfTheKernels) {
  auto backend = std::make_shared<FakeBackend>();
  for (unsigned threads : {1, 2, 8}) {
    auto [codes, wasStopped] = compileKernels(makeKernels({"a", "wrong", "b"}),
                                              backend, threads, nullptr);
    EXPECT_FALSE(wasStopped);
    ASSERT_EQ(codes.size(), 3u);
    EXPECT_EQ(codes[0].code->getBuffer(), "a");
    EXPECT_EQ(codes[1].code, nullptr);
    EXPECT_EQ(codes[1].error, "this is wrong");
    EXPECT_EQ(codes[2].code->getBuffer(), "b");
  }
}

TEST(CompileKernelsTest, NoKernelsNeedNoThread) {
  auto [codes, wasStopped] =
      compileKernels({}, std::make_shared<FakeBackend>(), 2, nullptr);
  EXPECT_TRUE(codes.empty());
  EXPECT_FALSE(wasStopped);
}

/// A code generator that never ends does not hold the caller, nor does what it
/// needs go.
TEST(CompileKernelsTest, WhatDoesNotEndIsLeft) {
  auto backend = std::make_shared<FakeBackend>();
  // A worker that is stopped before it is stuck would never go.
  auto [codes, wasStopped] =
      compileKernels(makeKernels({"a", "stuck", "b"}), backend, 1,
                     [&] { return backend->hasStuck(); });
  EXPECT_TRUE(wasStopped);
  ASSERT_EQ(codes.size(), 3u);
  for (const CompiledCode &code : codes) {
    EXPECT_EQ(code.code, nullptr);
    EXPECT_EQ(code.error, "");
  }
  backend->letGo();
  backend->waitUntilGone();
}
} // namespace
