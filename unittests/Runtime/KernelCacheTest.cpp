//===- KernelCacheTest.cpp - Kernels are compiled once --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Kernels/KernelCache.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/CPU/CpuBackend.h"
#include "NoNewThreads.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace metaops;

namespace {

class KernelCacheTest : public ::testing::Test {
protected:
  KernelCacheTest()
      : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { messages += diagnostic.str(); });
    cache = create();
  }

  static std::unique_ptr<KernelCache>
  create(const KernelCacheOptions &options = {}) {
    return std::make_unique<KernelCache>(cantFail(CpuBackend::create()),
                                         options);
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    metaop::registerSliceDialects(registry);
    return registry;
  }

  /// One loop that steps by vectors of `width` elements.
  static std::string getVectorSchedule(unsigned width) {
    std::string number = std::to_string(width);
    return "#metaop.schedule<[step(0, " + number + ")], tile = [0: " + number +
           "], lanes = 0: " + number + ">";
  }

  /// A function of one kernel: `op` of its two arguments, which it takes in the
  /// given order, in vectors of `width` elements.
  std::string getText(StringRef name, StringRef op, unsigned width,
                      StringRef location = "", bool swapped = false,
                      unsigned size = 8) {
    std::string first = swapped ? "%y" : "%x", second = swapped ? "%x" : "%y";
    std::string text =
        ("func.func private @" + name +
         "(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {\n"
         "  %0 = metaop.kernel(%a = " +
         first + " : tensor<8xf32>, %b = " + second +
         " : tensor<8xf32>) -> tensor<8xf32> {\n"
         "    %1 = metaop.fused(%c = %a : tensor<8xf32>, %d = %b : "
         "tensor<8xf32>) -> tensor<8xf32> schedule(" +
         getVectorSchedule(width) +
         ") {\n"
         "      %2 = metaop." +
         op + " %c, %d : tensor<8xf32> " + location +
         "\n      metaop.yield %2 : tensor<8xf32>\n    }\n"
         "    metaop.yield %1 : tensor<8xf32>\n  }\n"
         "  return %0 : tensor<8xf32>\n}\n")
            .str();
    std::string type = "tensor<" + std::to_string(size) + "xf32>";
    for (size_t at = 0; (at = text.find("tensor<8xf32>", at)) != text.npos;
         at += type.size())
      text.replace(at, StringRef("tensor<8xf32>").size(), type);
    return text;
  }
  /// A difference of `size` elements.
  std::string getSized(unsigned size) {
    return getText("k", "sub", 8, "", /*swapped=*/false, size);
  }

  func::FuncOp parse(StringRef text) {
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back()) << messages;
    return *modules.back()->getOps<func::FuncOp>().begin();
  }

  std::shared_ptr<const KernelCall> get(StringRef text) {
    return cantFail(cache->get(parse(text), compiled));
  }

  /// 5 - 3 in all elements, if the kernel subtracts.
  float run(const KernelCall &call) {
    float x[8], y[8], z[8] = {};
    std::fill_n(x, 8, 5.0f);
    std::fill_n(y, 8, 3.0f);
    void *buffers[] = {x, y, z};
    call.run(buffers, 0, call.parallelRange);
    return z[7];
  }

  /// Returns whether `call` subtracts vectors of `size` elements and no more.
  static bool subtracts(const KernelCall &call, unsigned size) {
    std::vector<float> x(size + 16), y(size + 16), z(size + 16, -1.0f);
    for (unsigned i = 0; i < x.size(); ++i) {
      x[i] = 3.0f * i;
      y[i] = 100.0f - i;
    }
    void *buffers[] = {x.data(), y.data(), z.data()};
    call.run(buffers, 0, call.parallelRange);
    for (unsigned i = 0; i < z.size(); ++i)
      if (z[i] != (i < size ? x[i] - y[i] : -1.0f))
        return false;
    return true;
  }

  /// Functions for `texts`, compiled together.
  std::vector<std::shared_ptr<const KernelCall>>
  getAll(ArrayRef<std::string> texts) {
    std::vector<func::FuncOp> functions;
    for (const std::string &text : texts)
      functions.push_back(parse(text));
    return cantFail(cache->getAll(functions, compiled));
  }

  MLIRContext context;
  std::string messages;
  std::unique_ptr<KernelCache> cache;
  std::vector<OwningOpRef<ModuleOp>> modules;
  unsigned compiled = 0;
};

TEST_F(KernelCacheTest, RunsWhatItCompiles) {
  EXPECT_EQ(run(*get(getText("k", "sub", 8))), 2.0f);
  EXPECT_EQ(compiled, 1u);
  EXPECT_EQ(cache->size(), 1u);
}

TEST_F(KernelCacheTest, CompilesWithoutThreadsThatCannotBeStarted) {
  KernelCacheOptions options;
  options.threads = 4;
  cache = create(options);
  NoNewThreads limit;
  getAll({getText("a", "sub", 8), getText("b", "add", 8), getSized(16)});
  EXPECT_EQ(compiled, 3u);
}

TEST_F(KernelCacheTest, NamesAndLocationsMakeNoOtherKernel) {
  auto first = get(getText("k", "sub", 8, "loc(\"a.py\":1:1)"));
  auto second = get(getText("other", "sub", 8, "loc(\"b.py\":2:2)"));
  EXPECT_EQ(first, second);
  EXPECT_EQ(compiled, 1u);
}

TEST_F(KernelCacheTest, AnotherOperationIsAnotherKernel) {
  EXPECT_EQ(run(*get(getText("k", "sub", 8))), 2.0f);
  EXPECT_EQ(run(*get(getText("k", "mul", 8))), 15.0f);
  EXPECT_EQ(compiled, 2u);
}

TEST_F(KernelCacheTest, AnotherScheduleIsAnotherKernel) {
  EXPECT_NE(get(getText("k", "sub", 8)), get(getText("k", "sub", 4)));
  EXPECT_EQ(compiled, 2u);
}

TEST_F(KernelCacheTest, AnotherOrderOfTheArgumentsIsAnotherKernel) {
  EXPECT_EQ(run(*get(getText("k", "sub", 8))), 2.0f);
  EXPECT_EQ(run(*get(getText("k", "sub", 8, "", /*swapped=*/true))), -2.0f);
  EXPECT_EQ(compiled, 2u);
}

TEST_F(KernelCacheTest, AKernelThatCannotBeLoweredIsAnErrorEachTime) {
  // 16384 bytes of the kernel's own memory are too few for what it holds.
  std::string type = "tensor<100000xf32>";
  std::string schedule = " schedule(#metaop.schedule<[step(0)]>) {\n";
  std::string text =
      "func.func private @k(%x: " + type + ") -> " + type +
      " {\n %0 = metaop.kernel(%a = %x : " + type + ") -> " + type +
      " {\n %1 = metaop.fused(%b = %a : " + type + ") -> " + type + schedule +
      " %2 = metaop.exp %b : " + type + "\n metaop.yield %2 : " + type +
      "\n }\n %3 = metaop.fused(%b = %1 : " + type + ") -> " + type + schedule +
      " %4 = metaop.exp %b : " + type + "\n metaop.yield %4 : " + type +
      "\n }\n metaop.yield %3 : " + type + "\n }\n return %0 : " + type + "\n}";
  for (int time = 0; time < 2; ++time) {
    messages.clear();
    auto kernel = cache->get(parse(text), compiled);
    ASSERT_FALSE(kernel);
    EXPECT_EQ(toString(kernel.takeError()),
              "a kernel could not be lowered to loops");
    EXPECT_NE(messages.find("does not fit its local memory"),
              std::string::npos);
  }
  EXPECT_EQ(compiled, 0u);
  EXPECT_EQ(cache->size(), 0u);
  // What follows is not disturbed.
  EXPECT_EQ(run(*get(getText("k", "sub", 8))), 2.0f);
}

TEST_F(KernelCacheTest, SizesShareCode) {
  auto first = get(getSized(100));
  EXPECT_EQ(compiled, 1u);
  EXPECT_TRUE(first->scalars.empty());
  EXPECT_TRUE(subtracts(*first, 100));
  // The second size comes with code for both, and for those to come.
  auto second = get(getSized(77));
  EXPECT_EQ(compiled, 2u);
  EXPECT_FALSE(second->scalars.empty());
  for (unsigned size = 17; size < 400; size += 11) {
    auto call = get(getSized(size));
    EXPECT_TRUE(subtracts(*call, size)) << size;
    EXPECT_EQ(call->kernel, second->kernel) << size;
  }
  EXPECT_EQ(compiled, 2u);
  EXPECT_TRUE(subtracts(*second, 77));
  // What was compiled for one size stays for that.
  EXPECT_EQ(get(getSized(100)), first);
}

TEST_F(KernelCacheTest, AFewSizesOfOneProgramHaveCodeOfTheirOwn) {
  auto calls = getAll({getSized(100), getSized(200), getSized(100)});
  EXPECT_EQ(compiled, 2u);
  EXPECT_EQ(calls[0], calls[2]);
  EXPECT_NE(calls[0]->kernel, calls[1]->kernel);
  EXPECT_TRUE(calls[0]->scalars.empty());
  EXPECT_TRUE(calls[1]->scalars.empty());
  EXPECT_TRUE(subtracts(*calls[1], 200));
}

TEST_F(KernelCacheTest, ManySizesOfOneProgramShareCode) {
  std::vector<std::string> texts;
  for (unsigned size = 100; size < 120; ++size)
    texts.push_back(getSized(size));
  auto calls = getAll(texts);
  EXPECT_EQ(compiled, 1u);
  for (auto [i, call] : llvm::enumerate(calls)) {
    EXPECT_EQ(call->kernel, calls[0]->kernel);
    EXPECT_TRUE(subtracts(*call, 100 + i));
  }
}

/// A sum over the rows of a table of `rows` times `columns`.
std::string getSum(unsigned rows, unsigned columns) {
  std::string x = "tensor<" + std::to_string(rows) + "x" +
                  std::to_string(columns) + "xf32>";
  std::string y = "tensor<" + std::to_string(rows) + "xf32>";
  return "func.func private @k(%x: " + x + ") -> " + y +
         " {\n %0 = metaop.kernel(%a = %x : " + x + ") -> " + y +
         " {\n %1 = metaop.fused(%b = %a : " + x + ") -> " + y +
         " schedule(#metaop.schedule<[parallel(0, 4), step(1, 8)], tile = [0: "
         "4,"
         " 1: 8], lanes = 1: 8>) {\n"
         " %2 = metaop.reduce add %b dims = [1] : " +
         x + " -> " + y + "\n metaop.yield %2 : " + y +
         "\n }\n metaop.yield %1 : " + y + "\n }\n return %0 : " + y + "\n}";
}

/// What `call` makes of rows that depend on their number, and a rim.
std::vector<float> runSum(const KernelCall &call, unsigned rows,
                          unsigned columns) {
  std::vector<float> x(rows * columns), y(rows + 8, -1.0f);
  for (unsigned i = 0; i < x.size(); ++i)
    x[i] = 1.0f / (1 + (i * 37) % 101);
  void *buffers[] = {x.data(), y.data()};
  call.run(buffers, 0, call.parallelRange);
  return y;
}

TEST_F(KernelCacheTest, ARangeAndAWorkBelongToTheCall) {
  auto first = get(getSum(12, 40)), second = get(getSum(13, 40)),
       third = get(getSum(100, 40));
  EXPECT_EQ(second->kernel, third->kernel);
  EXPECT_EQ(first->parallelRange, 3);
  EXPECT_EQ(second->parallelRange, 4);
  EXPECT_EQ(third->parallelRange, 25);
  EXPECT_GT(third->workPerStep, 0);
}

TEST_F(KernelCacheTest, GeneralCodeGivesTheBitsOfSpecialCode) {
  // Sizes that vectors and copies divide, and such that they do not.
  for (unsigned rows : {12u, 13u, 5u, 32u, 63u})
    for (unsigned columns : {96u, 40u, 37u, 100u, 65u}) {
      unsigned count = 0;
      auto fresh = create();
      auto special = cantFail(fresh->get(parse(getSum(rows, columns)), count));
      auto general = get(getSum(rows, columns));
      EXPECT_TRUE(special->scalars.empty());
      auto y = runSum(*general, rows, columns);
      EXPECT_EQ(runSum(*special, rows, columns), y) << rows << " " << columns;
      for (unsigned i = 0; i < 8; ++i)
        EXPECT_EQ(y[rows + i], -1.0f);
      for (unsigned i = 0; i < rows; ++i) {
        double sum = 0;
        for (unsigned j = 0; j < columns; ++j)
          sum += 1.0f / (1 + ((i * columns + j) * 37) % 101);
        EXPECT_NEAR(y[i], sum, 1e-5 * sum);
      }
    }
  EXPECT_LE(compiled, 4u);
}

TEST_F(KernelCacheTest, WideningComesToAnEnd) {
  // Sizes that are equal at first and then are not split what shared one
  // argument before.
  unsigned sizes[][2] = {{64, 64}, {72, 72},  {72, 80},  {96, 80},
                         {96, 96}, {104, 72}, {112, 64}, {88, 200}};
  for (auto [rows, columns] : sizes)
    get(getSum(rows, columns));
  EXPECT_LE(compiled, 5u);
  unsigned before = compiled;
  for (unsigned rows = 9; rows < 64; rows += 5)
    for (unsigned columns = 17; columns < 120; columns += 13)
      runSum(*get(getSum(rows, columns)), rows, columns);
  EXPECT_LE(compiled, before + 2);
}

TEST_F(KernelCacheTest, ManyThreadsCompileWhatOneDoes) {
  std::vector<std::string> texts;
  for (StringRef op : {"add", "sub", "mul", "max", "min"})
    for (unsigned width : {2, 4, 8})
      texts.push_back(getText("k", op, width));
  std::vector<std::vector<std::string>> names;
  for (unsigned threads : {1, 2, 7, 40}) {
    KernelCacheOptions options;
    options.threads = threads;
    cache = create(options);
    compiled = 0;
    auto calls = getAll(texts);
    EXPECT_EQ(compiled, texts.size());
    auto &called = names.emplace_back();
    for (auto &call : calls)
      called.push_back(call->kernel->name);
    const float expected[] = {8, 2, 15, 5, 3};
    for (auto [i, call] : llvm::enumerate(calls))
      EXPECT_EQ(run(*call), expected[i / 3]);
    EXPECT_EQ(names.front(), called);
  }
}

TEST_F(KernelCacheTest, AnErrorOfOneKernelIsTold) {
  // Vectors as wide as this are not compiled.
  std::string bad = getText("k", "sub", 8);
  std::string schedule = getVectorSchedule(8);
  bad.replace(bad.find(schedule), schedule.size(), getVectorSchedule(512));
  std::vector<func::FuncOp> functions = {
      parse(getText("a", "add", 8)), parse(bad), parse(getText("b", "mul", 8))};
  auto calls = cache->getAll(functions, compiled);
  ASSERT_FALSE(calls);
  EXPECT_EQ(toString(calls.takeError()),
            "a kernel could not be lowered to loops");
  EXPECT_EQ(run(*get(getText("b", "mul", 8))), 15.0f);
}

class JitTest : public ::testing::Test {
protected:
  /// The object file of a module in LLVM's assembly.
  std::unique_ptr<llvm::MemoryBuffer> compile(StringRef text) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    auto module = llvm::parseAssemblyString(text, diagnostic, context);
    EXPECT_TRUE(module) << diagnostic.getMessage().str();
    return cantFail(cantFail(ObjectEmitter::create(target))->compile(*module));
  }
  std::string failureOf(std::unique_ptr<llvm::MemoryBuffer> object) {
    auto function = jit->link(std::move(object), "f");
    return function ? "no failure" : toString(function.takeError());
  }

  CodeTarget target = cantFail(CodeTarget::detect());
  std::unique_ptr<Jit> jit = cantFail(Jit::create(target));
};

constexpr StringRef good = "define void @f(ptr %0, ptr %1, i64 %2, i64 %3) {\n"
                           "  store i64 7, ptr %0\n  ret void\n}\n";

/// What `good` stores.
int64_t callGood(KernelFunction function) {
  int64_t stored = 0;
  function(reinterpret_cast<void **>(&stored), nullptr, 0, 0);
  return stored;
}

TEST_F(JitTest, ASymbolThatIsNotThereIsAnError) {
  EXPECT_NE(failureOf(compile("declare i32 @metaops_is_not_there()\n"
                              "define i32 @f() {\n"
                              "  %1 = call i32 @metaops_is_not_there()\n"
                              "  ret i32 %1\n}\n"))
                .find("metaops_is_not_there"),
            std::string::npos);
}

TEST_F(JitTest, AnEntryThatIsNotThereIsAnError) {
  EXPECT_NE(failureOf(compile("")), "no failure");
}

TEST_F(JitTest, GarbageIsAnError) {
  EXPECT_NE(
      failureOf(llvm::MemoryBuffer::getMemBufferCopy("this is no object file")),
      "no failure");
}

TEST_F(JitTest, WhatIsCutOffIsAnError) {
  auto object = compile(good);
  size_t size = object->getBufferSize();
  for (size_t part = 1; part < 8; ++part)
    EXPECT_NE(failureOf(llvm::MemoryBuffer::getMemBufferCopy(
                  object->getBuffer().take_front(size * part / 8))),
              "no failure");
}

TEST_F(JitTest, WhatIsRefusedLeavesNothingBehind) {
  EXPECT_NE(failureOf(compile("declare i32 @metaops_is_not_there()\n"
                              "define i32 @f() {\n"
                              "  %1 = call i32 @metaops_is_not_there()\n"
                              "  ret i32 %1\n}\n")),
            "no failure");
  EXPECT_NE(failureOf(llvm::MemoryBuffer::getMemBufferCopy("garbage")),
            "no failure");
  KernelFunction f = cantFail(jit->link(compile(good), "f"));
  EXPECT_EQ(callGood(f), 7);
  // The name is taken now.
  EXPECT_NE(failureOf(compile(good)), "no failure");
  EXPECT_EQ(callGood(f), 7);
}

TEST_F(JitTest, TheTargetTellsWhatCodeDependsOn) {
  EXPECT_GE(target.getProcessor().vectorBits, 128u);
  EXPECT_LE(target.getProcessor().vectorBits, 512u);
  EXPECT_EQ(target.getDescription(),
            cantFail(CodeTarget::detect()).getDescription());
  EXPECT_NE(target.getDescription().find("LLVM "), std::string::npos);
}

} // namespace
