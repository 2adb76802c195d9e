//===- GpuKernelsTest.cpp - Kernels for GPUs compute what they should -----===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function of the files in Kernels/ holds one kernel with schedules for a
// GPU. It is lowered, and runs on the emulator in several orders of execution:
// without a fault, and with the interpreter's results, on random operands. A
// function may say how far floats may be off (`test.tolerance`), the extents of
// its dynamic dimensions (`test.extents`) and how many blocks these make
// (`test.grid`), and that integers of its operands are below a number
// (`test.below`).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Interpreter/Interpreter.h"
#include "MetaOps/Interpreter/RandomTensor.h"
#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <cmath>
#include <deque>

using namespace mlir;
using namespace mlir::metaop;
using namespace metaops;

namespace {

/// What a kernel is called with, and what it should make.
struct Case {
  Tensors operands, expected;
  double tolerance;
  std::string name;
};

class GpuKernels : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    context.disableMultithreading();
    context
        .loadDialect<MetaOpDialect, func::FuncDialect, arith::ArithDialect>();
  }

  OwningOpRef<ModuleOp> parse() {
    std::string path =
        std::string(METAOPS_GPU_KERNELS) + "/" + GetParam() + ".mlir";
    return parseSourceFile<ModuleOp>(path, &context);
  }
  static double getTolerance(func::FuncOp function);
  Tensor makeOperand(func::FuncOp function, Type type, SplitMix64 &generator,
                     ArrayRef<int64_t> &extents);
  Case makeCase(func::FuncOp function, uint64_t seed);
  void lower(ModuleOp module);
  void run(gpu::GPUModuleOp module, const Case &example, int64_t grid,
           uint64_t seed);

  MLIRContext context;
};

double GpuKernels::getTolerance(func::FuncOp function) {
  if (auto given = function->getAttrOfType<FloatAttr>("test.tolerance"))
    return given.getValueAsDouble();
  double tolerance = 0;
  auto widen = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    if (element.isBF16())
      tolerance = std::max(tolerance, 1e-2);
    else if (element.isF16())
      tolerance = std::max(tolerance, 2e-3);
    else if (isa<FloatType>(element))
      tolerance = std::max(tolerance, 2e-6);
  };
  for (Type type : function.getArgumentTypes())
    widen(type);
  for (Type type : function.getResultTypes())
    widen(type);
  return tolerance;
}

Tensor GpuKernels::makeOperand(func::FuncOp function, Type type,
                               SplitMix64 &generator,
                               ArrayRef<int64_t> &extents) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  for (int64_t &extent : shape)
    if (ShapedType::isDynamic(extent)) {
      extent = extents.front();
      extents = extents.drop_front();
    }
  Tensor operand =
      cantFail(makeRandomTensor(tensor.getElementType(), shape, generator));
  if (auto below = function->getAttrOfType<IntegerAttr>("test.below");
      below && tensor.getElementType().isInteger(64))
    for (int64_t i = 0; i < operand.getNumElements(); ++i)
      operand.set(i, Scalar::ofSigned(generator.next() % below.getInt()));
  return operand;
}

Case GpuKernels::makeCase(func::FuncOp function, uint64_t seed) {
  Case example;
  example.name = function.getName().str();
  example.tolerance = getTolerance(function);
  SplitMix64 generator(seed);
  SmallVector<int64_t> extents;
  if (auto given = function->getAttrOfType<DenseI64ArrayAttr>("test.extents"))
    extents.assign(given.asArrayRef().begin(), given.asArrayRef().end());
  ArrayRef<int64_t> rest = extents;
  for (Type type : function.getArgumentTypes())
    example.operands.push_back(makeOperand(function, type, generator, rest));
  example.expected = cantFail(Interpreter().run(function, example.operands));
  return example;
}

void GpuKernels::lower(ModuleOp module) {
  PassManager passes(&context);
  passes.addPass(createConvertMetaOpToGPUPass());
  passes.addPass(createVerifyGpuKernelsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createFormFmaPass());
  buildGPUToNVVMPipeline(passes);
  ASSERT_TRUE(succeeded(passes.run(module)));
}

/// Returns whether two elements are as near as asked for.
bool isNear(Scalar actual, Scalar expected, bool isFloat, double tolerance) {
  if (!isFloat)
    return actual.getBits() == expected.getBits();
  double x = actual.getFloat(), y = expected.getFloat();
  if (std::isnan(y) || std::isinf(y))
    return std::isnan(y) ? std::isnan(x) : x == y;
  return std::abs(x - y) <= tolerance * std::max(1.0, std::abs(y));
}

/// The module as text without attributes of our own dialect, which the emulator
/// does not know, under a name that no kernel has.
std::string print(gpu::GPUModuleOp module) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc());
  gpu::GPUModuleOp only = module.clone();
  copy->push_back(only);
  only.setName("module");
  copy->walk([](LLVM::LLVMFuncOp kernel) {
    for (NamedAttribute attribute :
         llvm::to_vector(kernel->getDiscardableAttrs()))
      if (isa_and_nonnull<MetaOpDialect>(attribute.getNameDialect()))
        kernel->removeDiscardableAttr(attribute.getName());
  });
  std::string text;
  llvm::raw_string_ostream(text) << **copy;
  return text;
}

void GpuKernels::run(gpu::GPUModuleOp module, const Case &example, int64_t grid,
                     uint64_t seed) {
  std::string text = print(module);
  Tensors buffers = example.operands;
  std::deque<WrittenBytes> written;
  std::vector<Allocation> allocations;
  // Memory of its own that a kernel asks for.
  std::vector<std::vector<int64_t>> scratch;
  for (const Tensor &expected : example.expected)
    buffers.push_back(cantFail(
        Tensor::create(expected.getElementType(), expected.getShape())));
  std::vector<KernelArgument> arguments;
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    MutableArrayRef<char> data = buffer.getMutableData();
    bool isResult = i >= example.operands.size();
    Allocation allocation{isResult ? "result" : "operand", data.data(),
                          data.size(), !isResult};
    allocation.name += std::to_string(i);
    if (isResult)
      allocation.written = &written.emplace_back(data.size());
    allocations.push_back(allocation);
    arguments.push_back(data.data());
  }
  MetaOpDialect::EntryAttrHelper entryOf(module.getContext());
  MetaOpDialect::LaunchAttrHelper launchOf(module.getContext());
  module.walk([&](LLVM::LLVMFuncOp kernel) {
    EntryAttr entry = entryOf.getAttr(kernel);
    if (entry && scratch.empty())
      for (int64_t count : entry.getScratch())
        scratch.emplace_back(count);
  });
  std::deque<WrittenBytes> writtenWords;
  for (std::vector<int64_t> &words : scratch) {
    uint64_t bytes = words.size() * sizeof(int64_t);
    Allocation allocation{"scratch", words.data(), bytes};
    allocation.written = &writtenWords.emplace_back(bytes);
    allocations.push_back(allocation);
    arguments.push_back(words.data());
  }
  for (const Tensor &operand : example.operands)
    for (auto [dim, extent] : llvm::enumerate(operand.getShape()))
      if (grid != 0)
        arguments.push_back(extent);

  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>()) {
    LaunchAttr launch = launchOf.getAttr(kernel);
    if (!launch)
      continue;
    auto compiled = EmulatedKernel::compile(text, kernel.getName());
    ASSERT_TRUE(bool(compiled)) << toString(compiled.takeError());
    LaunchShape shape;
    EntryAttr entry = entryOf.getAttr(kernel);
    shape.grid.x = entry && entry.getRange() ? *entry.getRange() : grid;
    shape.threads.x = launch.getThreads();
    shape.cluster.x = launch.getCluster();
    EmulatorOptions options;
    options.seed = seed;
    auto report = (*compiled)->launch(shape, arguments, allocations, options);
    ASSERT_TRUE(bool(report)) << toString(report.takeError());
    ASSERT_TRUE(report->isSound()) << report->str();
  }
  for (auto [result, expected] :
       llvm::zip_equal(ArrayRef(buffers).take_back(example.expected.size()),
                       example.expected))
    for (int64_t i = 0; i < expected.getNumElements(); ++i)
      ASSERT_TRUE(isNear(result.get(i), expected.get(i),
                         isa<FloatType>(expected.getElementType()),
                         example.tolerance))
          << example.name << ", element " << i << " is another one";
}

TEST_P(GpuKernels, ComputeWhatTheInterpreterDoes) {
  OwningOpRef<ModuleOp> module = parse();
  ASSERT_TRUE(module);
  std::vector<Case> cases;
  std::vector<int64_t> grids;
  for (auto function : module->getOps<func::FuncOp>()) {
    cases.push_back(makeCase(function, /*seed=*/7 + cases.size()));
    auto grid = function->getAttrOfType<IntegerAttr>("test.grid");
    grids.push_back(grid ? grid.getInt() : 0);
  }
  lower(*module);
  auto modules = llvm::to_vector(module->getOps<gpu::GPUModuleOp>());
  ASSERT_EQ(modules.size(), cases.size());
  for (auto [lowered, example, grid] : llvm::zip_equal(modules, cases, grids))
    for (uint64_t seed : {1, 2}) {
      SCOPED_TRACE(example.name + ", seed " + std::to_string(seed));
      run(lowered, example, grid, seed);
    }
}

/// The names of the files, without endings.
std::vector<std::string> listFiles() {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(METAOPS_GPU_KERNELS, error), end;
       file != end && !error; file.increment(error))
    names.push_back(llvm::sys::path::stem(file->path()).str());
  llvm::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, GpuKernels, testing::ValuesIn(listFiles()),
                         [](const auto &info) { return info.param; });

} // namespace
