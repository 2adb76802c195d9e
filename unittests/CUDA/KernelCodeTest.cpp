//===- KernelCodeTest.cpp - A GPU's code of a kernel ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CUDA/KernelCode.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <thread>

using namespace metaops;
using namespace mlir;
using mlir::metaop::PtxOptions;

namespace {

/// Writes down what it is given, and makes code of it.
class CountingAssembler : public Assembler {
public:
  std::string getDescription() const override { return description; }
  llvm::Expected<Cubin> assemble(llvm::StringRef ptx,
                                 const mlir::metaop::Chip &chip) override {
    if (refuses)
      return llvm::createStringError("it refuses line 12");
    ++count;
    return Cubin{(chip.name + ptx).str(), {{"a", 1, 2, 3, 4, 5, 6}, {"b"}}};
  }

  std::string description = "an assembler";
  bool refuses = false;
  int count = 0;
};

class CubinCacheTest : public ::testing::Test {
protected:
  CubinCacheTest() {
    llvm::SmallString<128> path;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("metaops-cubins", path));
    folder = std::string(path);
    store = std::make_shared<DiskStore>(folder + "/cache");
  }
  ~CubinCacheTest() override {
    (void)llvm::sys::fs::remove_directories(folder);
  }
  Cubin get(const char *ptx, const char *chip = "sm_80") {
    CubinCache cache(assembler, store);
    return llvm::cantFail(
        cache.get(ptx, *llvm::cantFail(mlir::metaop::Chip::find(chip))));
  }
  DiskKey keyOf(llvm::StringRef ptx) {
    return DiskKeyBuilder()
        .add(ptx)
        .add(llvm::StringRef("sm_80"))
        .add(llvm::StringRef(assembler->description))
        .finish();
  }

  std::string folder;
  std::shared_ptr<DiskStore> store;
  std::shared_ptr<CountingAssembler> assembler =
      std::make_shared<CountingAssembler>();
};

TEST_F(CubinCacheTest, assemblesOnce) {
  Cubin first = get("text"), second = get("text");
  EXPECT_EQ(assembler->count, 1);
  EXPECT_EQ(second.code, "sm_80text");
  EXPECT_EQ(second.code, first.code);
  EXPECT_EQ(second.kernels, first.kernels);
  EXPECT_EQ(second.kernels[0].barriers, 6);
  EXPECT_EQ(second.kernels[1].name, "b");
  EXPECT_EQ(llvm::cantFail(store->getUsage()).kernels, 1);
}

TEST_F(CubinCacheTest, tellsTextsChipsAndAssemblersApart) {
  get("text");
  get("texts");
  get("text", "sm_90a");
  assembler->description = "another";
  get("text");
  EXPECT_EQ(assembler->count, 4);
}

TEST_F(CubinCacheTest, entriesThatAreNoneAreReplaced) {
  for (std::string payload :
       {std::string(), std::string(7, 'x'),
        // One kernel, whose name has 2^56 bytes and more.
        std::string("\1\0\0\0\0\0\0\0", 8) + std::string(8, '\1') + "abc",
        std::string(200, '\xff')}) {
    store->store(DiskEntryKind::Cubin, keyOf("text"), payload);
    assembler->count = 0;
    EXPECT_EQ(get("text").code, "sm_80text");
    EXPECT_EQ(assembler->count, 1);
    EXPECT_EQ(get("text").code, "sm_80text");
    EXPECT_EQ(assembler->count, 1);
  }
}

TEST_F(CubinCacheTest, whatIsRefusedIsNotKept) {
  assembler->refuses = true;
  CubinCache cache(assembler, store);
  const auto *chip = mlir::metaop::Chip::getDefault();
  EXPECT_EQ(toString(cache.get("text", *chip).takeError()),
            "it refuses line 12");
  assembler->refuses = false;
  EXPECT_EQ(llvm::cantFail(cache.get("text", *chip)).code.substr(0, 5),
            "sm_90");
}

TEST_F(CubinCacheTest, withoutAStoreCubinsAreInMemory) {
  CubinCache cache(assembler, nullptr);
  const auto *chip = mlir::metaop::Chip::getDefault();
  for (const char *ptx : {"text", "other", "text"})
    EXPECT_EQ(llvm::cantFail(cache.get(ptx, *chip)).code,
              "sm_90a" + std::string(ptx));
  EXPECT_EQ(assembler->count, 2);
  cache.setStore(store);
  llvm::cantFail(cache.get("text", *chip));
  EXPECT_EQ(assembler->count, 3);
  EXPECT_EQ(llvm::cantFail(store->getUsage()).kernels, 1);
}

TEST_F(CubinCacheTest, takesCubinsOfAssemblersThatAreNamed) {
  get("text");
  auto here = std::make_shared<CountingAssembler>();
  here->description = "another";
  const auto &chip = *llvm::cantFail(mlir::metaop::Chip::find("sm_80"));
  CubinCache cache(here, store, {"a third", assembler->description});
  EXPECT_EQ(llvm::cantFail(cache.get("text", chip)).code, "sm_80text");
  EXPECT_EQ(here->count, 0);
  // What they have not made, nor for that chip.
  llvm::cantFail(cache.get("other", chip));
  llvm::cantFail(cache.get("text", *mlir::metaop::Chip::getDefault()));
  EXPECT_EQ(here->count, 2);
}

constexpr const char *kModule = R"(
gpu.module @adds {
  llvm.func @adds(%x: !llvm.ptr<1>, %n: i64) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32 loc("conv.py":7:0)
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32 loc("conv.py":8:0)
    %s = llvm.fadd %v, %v : f32 loc(fused["conv.py":8:0, "nn.py":20:0])
    llvm.store %s, %p : f32, !llvm.ptr<1>
    llvm.return
  } loc("conv.py":7:0)
} loc("conv.py":7:0)
)";

/// A kernel of its own, in a context of its own.
struct ParsedKernel {
  explicit ParsedKernel(const char *text) {
    DialectRegistry registry;
    mlir::metaop::registerPtxDialects(registry);
    registry.insert<mlir::metaop::MetaOpDialect>();
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(text, &context);
    kernel = *module->getOps<gpu::GPUModuleOp>().begin();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  gpu::GPUModuleOp kernel;
};

TEST(KernelCodeTest, isOfTheKernel) {
  ParsedKernel parsed(kModule);
  CubinCache cache(std::make_shared<CountingAssembler>(), nullptr);
  KernelCode code =
      llvm::cantFail(makeCode(parsed.kernel, PtxOptions(), cache));
  EXPECT_NE(code.ptx.find(".visible .entry adds("), std::string::npos);
  EXPECT_NE(code.ptx.find(".target sm_90a"), std::string::npos);
  EXPECT_EQ(code.cubin.code, "sm_90a" + code.ptx);
  // The module is still what it was.
  EXPECT_EQ(llvm::cantFail(emitPtx(parsed.kernel, PtxOptions())), code.ptx);
}

TEST(KernelCodeTest, errorsNameTheKernelAndItsLines) {
  ParsedKernel parsed(kModule);
  auto assembler = std::make_shared<CountingAssembler>();
  assembler->refuses = true;
  CubinCache cache(assembler, nullptr);
  std::string message =
      toString(makeCode(parsed.kernel, PtxOptions(), cache).takeError());
  EXPECT_EQ(message.substr(0, 52),
            "kernel 'adds' has no code: it refuses line 12\nit is ");
  EXPECT_NE(message.find("conv.py:7"), std::string::npos) << message;
  EXPECT_NE(message.find("conv.py:8"), std::string::npos) << message;
  EXPECT_NE(message.find("nn.py:20"), std::string::npos) << message;
}

TEST(KernelCodeTest, libdeviceThatIsMissingIsAnError) {
  ParsedKernel parsed(R"(
gpu.module @exps {
  llvm.func @__nv_exp(f64) -> f64
  llvm.func @exps(%x: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %v = llvm.load %x : !llvm.ptr<1> -> f64
    %e = llvm.call @__nv_exp(%v) : (f64) -> f64
    llvm.store %e, %x : f64, !llvm.ptr<1>
    llvm.return
  }
}
)");
  PtxOptions options;
  options.whyNoLibdevice = "; it was looked for in vain";
  EXPECT_EQ(toString(emitPtx(parsed.kernel, options).takeError()),
            "the kernel calls __nv_exp, a function of libdevice, and there is "
            "no libdevice; it was looked for in vain");
  auto libdevice =
      Toolkits::detect(Toolkits::listPackages(METAOPS_PYTHON_PACKAGES))
          .findLibdevice();
  if (!libdevice)
    GTEST_SKIP() << toString(libdevice.takeError());
  options.libdevice = *libdevice;
  std::string ptx = llvm::cantFail(emitPtx(parsed.kernel, options));
  EXPECT_NE(ptx.find("fma.rn.f64"), std::string::npos);
  EXPECT_EQ(ptx.find("__nv_"), std::string::npos);
}

TEST(KernelCodeTest, severalThreadsWritePtx) {
  ParsedKernel parsed(kModule);
  std::string expected = llvm::cantFail(emitPtx(parsed.kernel, PtxOptions()));
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string &text : texts)
    threads.emplace_back([&] {
      ParsedKernel own(kModule);
      text = llvm::cantFail(emitPtx(own.kernel, PtxOptions()));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &text : texts)
    EXPECT_EQ(text, expected);
}

} // namespace
