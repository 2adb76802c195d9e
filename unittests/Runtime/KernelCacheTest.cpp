//===- KernelCacheTest.cpp - Kernels are compiled once --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/JIT/KernelCache.h"
#include "MetaOps/Pipelines/Pipelines.h"
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
    cache = cantFail(KernelCache::create());
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    metaop::registerSliceDialects(registry);
    return registry;
  }

  /// A function of one kernel: `op` of its two arguments, which it takes in the
  /// given order, in vectors of `width` elements.
  std::string getText(StringRef name, StringRef op, unsigned width,
                      StringRef location = "", bool swapped = false) {
    std::string first = swapped ? "%y" : "%x", second = swapped ? "%x" : "%y";
    return ("func.func private @" + name +
            "(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {\n"
            "  %0 = metaop.kernel(%a = " +
            first + " : tensor<8xf32>, %b = " + second +
            " : tensor<8xf32>) -> tensor<8xf32> {\n"
            "    %1 = metaop.fused(%c = %a : tensor<8xf32>, %d = %b : "
            "tensor<8xf32>) -> tensor<8xf32> schedule(#metaop.schedule<order ="
            " [0], parallel = 0, vector_dim = 0, vector_width = " +
            std::to_string(width) +
            ", unroll_dim = -1, unroll = 1, shared = 0>) {\n"
            "      %2 = metaop." +
            op + " %c, %d : tensor<8xf32> " + location +
            "\n      metaop.yield %2 : tensor<8xf32>\n    }\n"
            "    metaop.yield %1 : tensor<8xf32>\n  }\n"
            "  return %0 : tensor<8xf32>\n}\n")
        .str();
  }

  func::FuncOp parse(StringRef text) {
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back()) << messages;
    return *modules.back()->getOps<func::FuncOp>().begin();
  }

  std::shared_ptr<const Kernel> get(StringRef text) {
    return cantFail(cache->get(parse(text), compiled));
  }

  /// 5 - 3 in all elements, if the kernel subtracts.
  float run(const Kernel &kernel) {
    float x[8], y[8], z[8] = {};
    std::fill_n(x, 8, 5.0f);
    std::fill_n(y, 8, 3.0f);
    void *buffers[] = {x, y, z};
    EXPECT_EQ(
        kernel.function(buffers, nullptr, 0, kernel.parallelRange, nullptr), 0);
    return z[7];
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
  std::string schedule =
      " schedule(#metaop.schedule<order = [0], parallel = 0, vector_dim = -1, "
      "vector_width = 1, unroll_dim = -1, unroll = 1, shared = 0>) {\n";
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

TEST(Jit, ASymbolThatIsNotThereIsAnError) {
  auto jit = llvm::cantFail(Jit::create());
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module =
      llvm::parseAssemblyString("declare i32 @metaops_is_not_there()\n"
                                "define i32 @kernel_entry() {\n"
                                "  %1 = call i32 @metaops_is_not_there()\n"
                                "  ret i32 %1\n}\n",
                                diagnostic, context);
  ASSERT_TRUE(module);
  auto object = jit->compile(*module);
  ASSERT_TRUE(static_cast<bool>(object));
  auto function = jit->link(std::move(*object), "k", "kernel_entry");
  ASSERT_FALSE(function);
  EXPECT_NE(toString(function.takeError()).find("metaops_is_not_there"),
            std::string::npos);
}

TEST(Jit, AnEntryThatIsNotThereIsAnError) {
  auto jit = llvm::cantFail(Jit::create());
  llvm::LLVMContext context;
  llvm::Module module("empty", context);
  auto object = jit->compile(module);
  ASSERT_TRUE(static_cast<bool>(object));
  auto function = jit->link(std::move(*object), "k", "kernel_entry");
  ASSERT_FALSE(function);
  llvm::consumeError(function.takeError());
}

TEST(Jit, GarbageIsAnError) {
  auto jit = llvm::cantFail(Jit::create());
  auto function =
      jit->link(llvm::MemoryBuffer::getMemBufferCopy("this is no object file"),
                "k", "kernel_entry");
  ASSERT_FALSE(function);
  llvm::consumeError(function.takeError());
}

TEST(Jit, VectorsHaveAWidth) {
  auto jit = llvm::cantFail(Jit::create());
  EXPECT_GE(jit->getVectorBits(), 128u);
  EXPECT_LE(jit->getVectorBits(), 512u);
}

} // namespace
