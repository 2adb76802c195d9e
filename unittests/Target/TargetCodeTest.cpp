//===- TargetCodeTest.cpp - Text of phases and of workers -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline prints, in the phase of a target's code, the same text that
// workers give to the emitter, for each kernel of some programs.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/Kernels/KernelCache.h"
#include "MetaOps/Target/AllTargets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <mutex>
#include <set>

using namespace mlir;
using namespace metaops;

namespace {

/// The functions of a module, without names and without what passes leave for
/// each other.
std::set<std::string> readFunctions(ModuleOp module) {
  std::set<std::string> texts;
  module.walk([&](FunctionOpInterface function) {
    // Entries call a kernel by its name, and say nothing else.
    if (function.isDeclaration() || function.getName().ends_with("_entry"))
      return;
    Operation *copy = function->clone();
    llvm::SmallVector<StringAttr> names;
    for (NamedAttribute attr : copy->getAttrs())
      if (attr.getName().strref().starts_with("metaop."))
        names.push_back(attr.getName());
    for (StringAttr name : names)
      copy->removeAttr(name);
    // Shared memory of a GPU's kernel is named after it.
    std::string name = function.getName().str(), text;
    llvm::raw_string_ostream stream(text);
    copy->print(stream, OpPrintingFlags().useLocalScope());
    copy->erase();
    constexpr StringLiteral common = "kernel";
    for (size_t at = 0; (at = text.find(name, at)) != text.npos;
         at += common.size())
      text.replace(at, name.size(), common);
    texts.insert(text);
  });
  return texts;
}

/// Keeps what it is to emit.
class RecordingBackend : public KernelBackend {
public:
  explicit RecordingBackend(std::shared_ptr<const metaop::Target> target)
      : KernelBackend(std::move(target)) {}

  llvm::Expected<std::unique_ptr<CodeEmitter>> createEmitter() const override;
  llvm::Expected<Kernel> load(StringRef name,
                              std::unique_ptr<llvm::MemoryBuffer>) override {
    return Kernel{nullptr, name.str()};
  }

  mutable std::mutex mutex;
  mutable std::set<std::string> functions;
};

class RecordingEmitter : public CodeEmitter {
public:
  explicit RecordingEmitter(const RecordingBackend &backend)
      : backend(backend) {}

  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> emit(ModuleOp module,
                                                           StopCheck) override {
    std::lock_guard lock(backend.mutex);
    std::set<std::string> found = readFunctions(module);
    backend.functions.insert(found.begin(), found.end());
    return llvm::MemoryBuffer::getMemBufferCopy("code");
  }

private:
  const RecordingBackend &backend;
};

llvm::Expected<std::unique_ptr<CodeEmitter>>
RecordingBackend::createEmitter() const {
  return std::make_unique<RecordingEmitter>(*this);
}

/// A product, a softmax, a scatter, and arithmetic of integers and halves.
constexpr StringLiteral kProgram = R"(
func.func @main(%x: tensor<37x64xf32>, %y: tensor<64x96xf32>,
                %i: tensor<37xi32>, %h: tensor<50xf16>)
    -> (tensor<37x96xf32>, tensor<37x64xf32>, tensor<9x64xf32>, tensor<50xf16>) {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<37x64xf32> -> tensor<37x64x96xf32>
  %1 = metaop.broadcast %y dims = [1, 2] : tensor<64x96xf32> -> tensor<37x64x96xf32>
  %2 = metaop.mul %0, %1 : tensor<37x64x96xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<37x64x96xf32> -> tensor<37x96xf32>
  %4 = metaop.reduce max %x dims = [1] : tensor<37x64xf32> -> tensor<37xf32>
  %5 = metaop.broadcast %4 dims = [0] : tensor<37xf32> -> tensor<37x64xf32>
  %6 = metaop.sub %x, %5 : tensor<37x64xf32>
  %7 = metaop.exp %6 : tensor<37x64xf32>
  %8 = metaop.reindex_reduce add %7 map affine_map<(d0, d1) -> (d0 floordiv 5, d1)>
      : tensor<37x64xf32> -> tensor<9x64xf32>
  %9 = metaop.tanh %h : tensor<50xf16>
  return %3, %7, %8, %9
      : tensor<37x96xf32>, tensor<37x64xf32>, tensor<9x64xf32>, tensor<50xf16>
}
)";

class TargetCodeTest : public ::testing::TestWithParam<const char *> {
protected:
  TargetCodeTest() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    metaop::TargetRegistry registry;
    metaop::registerAllTargets(registry);
    target = cantFail(registry.create(GetParam()));
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    metaop::registerSliceDialects(registry);
    return registry;
  }

  OwningOpRef<ModuleOp> compileTo(StringRef phase) {
    auto module = parseSourceString<ModuleOp>(kProgram, &context);
    PassManager passes(&context);
    metaop::PipelineOptions options;
    options.target = target.get();
    cantFail(metaop::buildPipeline(passes, phase, options));
    EXPECT_TRUE(succeeded(passes.run(*module)));
    return module;
  }

  MLIRContext context;
  std::shared_ptr<const metaop::Target> target;
};

TEST_P(TargetCodeTest, IsWhatWorkersEmit) {
  std::set<std::string> expected =
      readFunctions(*compileTo(target->getPhases()[1]));
  ASSERT_GE(expected.size(), 4u);

  auto kernels = compileTo(metaop::kKernelsPhase);
  std::vector<func::FuncOp> functions;
  for (auto function : kernels->getOps<func::FuncOp>())
    if (function.isPrivate())
      functions.push_back(function);
  auto backend = std::make_shared<RecordingBackend>(target);
  KernelCache cache(backend);
  unsigned compiled = 0;
  cantFail(cache.getAll(functions, compiled));
  // The texts are long; a difference is looked for by hand.
  EXPECT_TRUE(backend->functions == expected);
}

INSTANTIATE_TEST_SUITE_P(All, TargetCodeTest,
                         ::testing::Values("cpu", "cpu processor=sse",
                                           "cpu processor=scalar", "cuda",
                                           "cuda chip=sm_80"));

} // namespace
