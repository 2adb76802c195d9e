//===- StoredProgramTest.cpp - Programs found on disk ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CPU/CpuCompiler.h"
#include "PackedProduct.h"

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace metaops;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {

/// A kernel that is called twice, a value between kernels, and a view.
constexpr StringRef slice =
    "func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3x1xf32>, "
    "tensor<3xf32>) {\n"
    "  %0 = metaop.mul %x, %x : tensor<3xf32>\n"
    "  %1 = metaop.stop_fuse %0 : tensor<3xf32>\n"
    "  %2 = metaop.mul %1, %1 : tensor<3xf32>\n"
    "  %3 = metaop.reshape %2 : tensor<3xf32> -> tensor<3x1xf32>\n"
    "  return %2, %3, %x : tensor<3xf32>, tensor<3x1xf32>, tensor<3xf32>\n}\n";

class StoredProgramTest : public ::testing::Test {
protected:
  StoredProgramTest() {
    llvm::SmallString<128> path;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("metaops-store", path));
    folder = std::string(path);
  }
  ~StoredProgramTest() override {
    (void)llvm::sys::fs::remove_directories(folder);
  }

  std::unique_ptr<Compiler> makeCompiler() {
    auto compiler = createCpuCompiler();
    compiler->setCacheDirectory(folder);
    return compiler;
  }

  /// The last element of each result for an x of 1, 2, 3.
  std::vector<float> run(Program &program) {
    llvm::SmallVector<BufferRef> results;
    BufferRef x = memory.allocate(3 * sizeof(float));
    const float values[] = {1, 2, 3};
    std::copy(values, values + 3, static_cast<float *>(x->data()));
    llvm::cantFail(program.run({x}, results, memory, threads));
    std::vector<float> last;
    for (const BufferRef &result : results)
      last.push_back(static_cast<const float *>(result->data())[2]);
    return last;
  }
  const std::vector<float> expected = {81, 81, 3};

  std::shared_ptr<Program> compile(Compiler &compiler,
                                   ArrayRef<bool> donatable = {},
                                   CompileOptions options = {}) {
    return llvm::cantFail(compiler.compile(slice, donatable, options));
  }

  /// The keys of all entries of a kind.
  std::vector<DiskKey> listKeys(StringRef prefix) {
    std::vector<DiskKey> keys;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end;
         it.increment(error)) {
      StringRef name = llvm::sys::path::filename(it->path());
      if (!name.consume_front(prefix))
        continue;
      std::string bytes = llvm::fromHex(name);
      DiskKey &key = keys.emplace_back();
      std::copy(bytes.begin(), bytes.end(), key.begin());
    }
    return keys;
  }

  std::string folder;
  Allocator memory;
  ThreadPool threads;
};

TEST_F(StoredProgramTest, AnotherCompilerLoadsTheProgram) {
  auto first = makeCompiler(), second = makeCompiler();
  auto compiled = compile(*first), loaded = compile(*second);
  EXPECT_EQ(run(*compiled), expected);
  EXPECT_EQ(run(*loaded), expected);
  const ProgramInfo &a = compiled->getInfo(), &b = loaded->getInfo();
  EXPECT_FALSE(a.isLoaded);
  EXPECT_TRUE(b.isLoaded);
  EXPECT_EQ(a.compiledKernels, 1u);
  EXPECT_EQ(b.compiledKernels, 0u);
  EXPECT_EQ(b.loadedKernels, 1u);
  EXPECT_EQ(b.metaOps, a.metaOps);
  EXPECT_EQ(b.distinctKernels, a.distinctKernels);
  EXPECT_EQ(b.arenaBytes, a.arenaBytes);
  ASSERT_EQ(b.calls.size(), a.calls.size());
  for (size_t i = 0; i < a.calls.size(); ++i) {
    EXPECT_EQ(b.calls[i].name, a.calls[i].name);
    EXPECT_EQ(b.calls[i].nodes, a.calls[i].nodes);
    EXPECT_EQ(b.calls[i].operators, a.calls[i].operators);
    EXPECT_EQ(b.calls[i].bytesRead, a.calls[i].bytesRead);
    EXPECT_EQ(b.calls[i].bytesWritten, a.calls[i].bytesWritten);
    EXPECT_EQ(b.calls[i].flops, a.calls[i].flops);
  }
  CompilerStatistics statistics = second->getStatistics();
  EXPECT_EQ(statistics.programsLoaded, 1);
  EXPECT_EQ(statistics.kernelsLoaded, 1);
  EXPECT_EQ(statistics.disk.hits, 2);
  EXPECT_EQ(first->getStatistics().programsLoaded, 0);
}

TEST_F(StoredProgramTest, WhatMakesAnotherProgramMakesAnotherKey) {
  auto compiler = makeCompiler();
  compile(*compiler);
  compile(*compiler, {true});
  CompileOptions options;
  options.rules = "paper";
  compile(*compiler, {}, options);
  options = {};
  options.fuse = false;
  compile(*compiler, {}, options);
  options = {};
  options.reuseMemory = false;
  compile(*compiler, {}, options);
  EXPECT_EQ(listKeys("program-").size(), 5u);
}

TEST_F(StoredProgramTest, AKernelOfAnotherProgramIsLoaded) {
  auto first = makeCompiler(), second = makeCompiler();
  compile(*first);
  for (const DiskKey &key : listKeys("program-"))
    DiskStore(folder).remove(DiskEntryKind::Program, key);
  auto program = compile(*second);
  EXPECT_FALSE(program->getInfo().isLoaded);
  EXPECT_EQ(program->getInfo().compiledKernels, 0u);
  EXPECT_EQ(program->getInfo().loadedKernels, 1u);
  EXPECT_EQ(run(*program), expected);
}

TEST_F(StoredProgramTest, AMissingKernelIsCompiledAgain) {
  auto first = makeCompiler(), second = makeCompiler();
  compile(*first);
  for (const DiskKey &key : listKeys("kernel-"))
    DiskStore(folder).remove(DiskEntryKind::Kernel, key);
  auto program = compile(*second);
  EXPECT_FALSE(program->getInfo().isLoaded);
  EXPECT_EQ(program->getInfo().compiledKernels, 1u);
  EXPECT_EQ(run(*program), expected);
  auto third = makeCompiler();
  EXPECT_TRUE(compile(*third)->getInfo().isLoaded);
}

TEST_F(StoredProgramTest, AnObjectThatCannotBeLinkedIsCompiledAgain) {
  auto first = makeCompiler(), second = makeCompiler();
  compile(*first);
  for (const DiskKey &key : listKeys("kernel-"))
    DiskStore(folder).store(DiskEntryKind::Kernel, key, "no object");
  auto program = compile(*second);
  EXPECT_EQ(program->getInfo().compiledKernels, 1u);
  EXPECT_EQ(run(*program), expected);
  auto third = makeCompiler();
  EXPECT_TRUE(compile(*third)->getInfo().isLoaded);
}

TEST_F(StoredProgramTest, ReadingIsSafeWhateverTheBytesAre) {
  auto compiler = makeCompiler();
  compile(*compiler);
  DiskStore store(folder);
  ASSERT_EQ(listKeys("program-").size(), 1u);
  DiskKey key = listKeys("program-").front();
  std::string good = store.load(DiskEntryKind::Program, key)->getBuffer().str();
  auto isLoaded = [&](StringRef bytes) {
    store.store(DiskEntryKind::Program, key, bytes);
    return compile(*compiler)->getInfo().isLoaded;
  };
  EXPECT_TRUE(isLoaded(good));
  EXPECT_FALSE(isLoaded(""));
  EXPECT_FALSE(isLoaded(good + '\0'));
  for (size_t at = 0; at < good.size(); ++at) {
    // A number one byte longer, -1, and the greatest of one byte.
    for (char byte : {'\xff', '\x7f', '\x3f'}) {
      std::string bad = good;
      bad[at] = byte;
      (void)isLoaded(bad);
    }
    EXPECT_FALSE(isLoaded(StringRef(good).take_front(at))) << at;
  }
  EXPECT_EQ(run(*compile(*makeCompiler())), expected);
}

/// Two parts of a tensor, in rows that are apart, of which one is read again.
constexpr StringRef pitched =
    "func.func @main(%x: tensor<3xf32>) -> (tensor<3x18xf32>, tensor<3xf32>) "
    "{\n"
    "  %0 = metaop.broadcast %x dims = [0] : tensor<3xf32> -> "
    "tensor<3x9xf32>\n"
    "  %1 = metaop.mul %0, %0 : tensor<3x9xf32>\n"
    "  %2 = metaop.stop_fuse %1 : tensor<3x9xf32>\n"
    "  %3 = metaop.add %2, %2 : tensor<3x9xf32>\n"
    "  %4 = metaop.concat %2, %3 dim = 1 : (tensor<3x9xf32>, tensor<3x9xf32>) "
    "-> tensor<3x18xf32>\n"
    "  %5 = metaop.reduce add %2 dims = [1] : tensor<3x9xf32> -> "
    "tensor<3xf32>\n"
    "  return %4, %5 : tensor<3x18xf32>, tensor<3xf32>\n}\n";

TEST_F(StoredProgramTest, RowsAreWhereTheyWere) {
  auto first = makeCompiler(), second = makeCompiler();
  auto compiled = llvm::cantFail(first->compile(pitched, {}, {}));
  auto loaded = llvm::cantFail(second->compile(pitched, {}, {}));
  EXPECT_TRUE(loaded->getInfo().isLoaded);
  for (const KernelInfo &call : compiled->getInfo().calls)
    EXPECT_TRUE(call.isKernel);
  for (const auto &program : {compiled, loaded}) {
    llvm::SmallVector<BufferRef> results;
    BufferRef x = memory.allocate(3 * sizeof(float));
    const float values[] = {1, 2, 3};
    std::copy(values, values + 3, static_cast<float *>(x->data()));
    llvm::cantFail(program->run({x}, results, memory, threads));
    const auto *whole = static_cast<const float *>(results[0]->data());
    const auto *sums = static_cast<const float *>(results[1]->data());
    for (int64_t row = 0; row < 3; ++row) {
      float square = values[row] * values[row];
      for (int64_t column = 0; column < 18; ++column)
        EXPECT_EQ(whole[row * 18 + column], column < 9 ? square : 2 * square);
      EXPECT_EQ(sums[row], 9 * square);
    }
  }
}

TEST_F(StoredProgramTest, ReadingRowsIsSafeWhateverTheBytesAre) {
  auto compiler = makeCompiler();
  llvm::cantFail(compiler->compile(pitched, {}, {}));
  DiskStore store(folder);
  DiskKey key = listKeys("program-").front();
  std::string good = store.load(DiskEntryKind::Program, key)->getBuffer().str();
  for (size_t at = 0; at < good.size(); ++at)
    for (char byte : {'\xff', '\x7f', '\x3f'}) {
      std::string bad = good;
      bad[at] = byte;
      store.store(DiskEntryKind::Program, key, bad);
      EXPECT_TRUE(llvm::cantFail(compiler->compile(pitched, {}, {})));
    }
}

/// Both results of a sort, and a part of the one of another.
constexpr StringRef sorts =
    "func.func @main(%x: tensor<3x2xf32>, %k: tensor<i64>) -> "
    "(tensor<3x2xf32>, tensor<3x2xi64>, tensor<2x2xf32>) {\n"
    "  %0, %1 = metaop.sort %x dim = 1 : tensor<3x2xf32> -> "
    "tensor<3x2xf32>\n"
    "  %2, %3 = metaop.sort %x dim = 0 descending begin = %k : "
    "tensor<3x2xf32> -> tensor<2x2xf32>\n"
    "  return %0, %1, %2 : tensor<3x2xf32>, tensor<3x2xi64>, "
    "tensor<2x2xf32>\n}\n";

template <typename T>
std::vector<T> getElements(const BufferRef &buffer, size_t count) {
  const auto *elements = static_cast<const T *>(buffer->data());
  return std::vector<T>(elements, elements + count);
}

TEST_F(StoredProgramTest, SortsHaveTheirResults) {
  auto first = makeCompiler(), second = makeCompiler();
  auto compiled = llvm::cantFail(first->compile(sorts, {}, {}));
  auto loaded = llvm::cantFail(second->compile(sorts, {}, {}));
  EXPECT_TRUE(loaded->getInfo().isLoaded);
  EXPECT_EQ(loaded->getInfo().arenaBytes, compiled->getInfo().arenaBytes);
  ASSERT_EQ(loaded->getInfo().calls.size(), 2u);
  for (const auto &program : {compiled, loaded}) {
    EXPECT_EQ(program->getInfo().calls[0].bytesWritten, 6 * 12);
    EXPECT_EQ(program->getInfo().calls[1].bytesWritten, 4 * 4);
    EXPECT_GT(program->getInfo().calls[0].routineWork, 0);
    llvm::SmallVector<BufferRef> results;
    BufferRef x = memory.allocate(6 * sizeof(float));
    const float values[] = {2, 1, 3, 4, 6, 5};
    std::copy(values, values + 6, static_cast<float *>(x->data()));
    BufferRef begin = memory.allocate(sizeof(int64_t));
    *static_cast<int64_t *>(begin->data()) = 1;
    llvm::cantFail(program->run({x, begin}, results, memory, threads));
    EXPECT_EQ(getElements<float>(results[0], 6),
              (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(getElements<int64_t>(results[1], 6),
              (std::vector<int64_t>{1, 0, 0, 1, 1, 0}));
    EXPECT_EQ(getElements<float>(results[2], 4),
              (std::vector<float>{3, 4, 2, 1}));
  }
}

TEST_F(StoredProgramTest, ReadingSortsIsSafeWhateverTheBytesAre) {
  auto compiler = makeCompiler();
  llvm::cantFail(compiler->compile(sorts, {}, {}));
  DiskStore store(folder);
  DiskKey key = listKeys("program-").front();
  std::string good = store.load(DiskEntryKind::Program, key)->getBuffer().str();
  for (size_t at = 0; at < good.size(); ++at)
    for (char byte : {'\xff', '\x7f', '\x3f', '\x01'}) {
      std::string bad = good;
      bad[at] = byte;
      store.store(DiskEntryKind::Program, key, bad);
      EXPECT_TRUE(llvm::cantFail(compiler->compile(sorts, {}, {})));
    }
}

TEST_F(StoredProgramTest, WhatMayBeKeptIsStored) {
  auto first = makeCompiler(), second = makeCompiler();
  auto compiled = llvm::cantFail(first->compile(packedProduct, {}, {}));
  auto loaded = llvm::cantFail(second->compile(packedProduct, {}, {}));
  EXPECT_TRUE(loaded->getInfo().isLoaded);
  for (auto [a, b] :
       llvm::zip_equal(compiled->getInfo().calls, loaded->getInfo().calls))
    EXPECT_EQ(a.mayKeep, b.mayKeep);
  BufferRef x = memory.allocate(256 * 512 * sizeof(float));
  BufferRef w = memory.allocate(128 * 512 * sizeof(float));
  auto countCalls = [&](Program &program) {
    std::vector<int64_t> counts;
    for (int i = 0; i < 4; ++i) {
      BufferRef scratch;
      ProgramRun run = llvm::cantFail(program.prepare({x, w}, memory, scratch));
      program.keepPacked(run, memory);
      std::vector<CallTime> times;
      llvm::cantFail(program.execute(run, threads, nullptr, &times));
      counts.push_back(llvm::count_if(
          times, [](const CallTime &time) { return time.end != 0; }));
    }
    return counts;
  };
  EXPECT_EQ(countCalls(*compiled), countCalls(*loaded));
}

TEST_F(StoredProgramTest, ReadingWhatMayBeKeptIsSafeWhateverTheBytesAre) {
  auto compiler = makeCompiler();
  llvm::cantFail(compiler->compile(packedProduct, {}, {}));
  DiskStore store(folder);
  DiskKey key = listKeys("program-").front();
  std::string good = store.load(DiskEntryKind::Program, key)->getBuffer().str();
  for (size_t at = 0; at < good.size(); ++at)
    for (char byte : {'\x7f', '\x01'}) {
      std::string bad = good;
      bad[at] = byte;
      store.store(DiskEntryKind::Program, key, bad);
      EXPECT_TRUE(llvm::cantFail(compiler->compile(packedProduct, {}, {})));
    }
}

TEST_F(StoredProgramTest, WithoutAFolderNothingIsKept) {
  auto compiler = makeCompiler();
  compiler->setCacheDirectory("");
  compile(*compiler);
  EXPECT_TRUE(listKeys("kernel-").empty());
  compiler->setCacheDirectory(folder);
  compile(*compiler);
  EXPECT_EQ(listKeys("program-").size(), 1u);
}

} // namespace
