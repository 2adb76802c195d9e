//===- float_sums.cpp - What sums of scattered floats cost ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows that are added to others by index, as the backward pass of an embedding
// does it: in fixed point, which is the default, and by atomic additions of
// floats. The emulator counts what each of both executes and moves, for each
// element that is added; how long that takes, hardware says.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "MetaOps/Target/NVGPU/NvgpuTarget.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

using namespace mlir;
using namespace metaops;

namespace {

struct Case {
  int64_t rows, columns, places;
};

[[noreturn]] void fail(const std::string &message) {
  std::printf("%s\n", message.c_str());
  std::exit(1);
}

template <typename T> T take(llvm::Expected<T> value) {
  if (!value)
    fail(toString(value.takeError()));
  return std::move(*value);
}

/// The kernels that add `rows` rows to `places` others, in the phase nvvm.
OwningOpRef<ModuleOp> compile(MLIRContext &context, const Case &example,
                              bool floatAtomics) {
  std::string rows = std::to_string(example.rows);
  std::string columns = std::to_string(example.columns);
  std::string x = "tensor<" + rows + "x" + columns + "xf32>";
  std::string all = "tensor<" + rows + "x" + columns + "xi64>";
  std::string index = "tensor<" + rows + "xi64>";
  std::string y =
      "tensor<" + std::to_string(example.places) + "x" + columns + "xf32>";
  std::string text =
      "func.func @main(%x: " + x + ", %i: " + index + ") -> " + y +
      " {\n%k = metaop.broadcast %i dims = [0] : " + index + " -> " + all +
      "\n%y = metaop.scatter add %x[%k] map affine_map<(d0, d1)[s0] -> (s0, "
      "d1)> : (" +
      x + ", " + all + ") -> " + y + "\nreturn %y : " + y + "\n}\n";
  auto module = parseSourceString<ModuleOp>(text, &context);
  metaop::NvgpuTarget::Options facts;
  facts.floatAtomics = floatAtomics;
  metaop::NvgpuTarget target(facts);
  metaop::PipelineOptions options;
  options.target = &target;
  PassManager passes(&context);
  if (auto error = metaop::buildPipeline(passes, "nvvm", options))
    fail(toString(std::move(error)));
  if (!module || failed(passes.run(*module)))
    fail("the program could not be compiled");
  return module;
}

/// A kernel's module as text, without the attributes that the emulator does not
/// know.
std::string print(gpu::GPUModuleOp module) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc());
  gpu::GPUModuleOp only = module.clone();
  copy->push_back(only);
  only.setName("module");
  copy->walk([](LLVM::LLVMFuncOp kernel) {
    for (NamedAttribute attribute :
         llvm::to_vector(kernel->getDiscardableAttrs()))
      if (isa_and_nonnull<metaop::MetaOpDialect>(attribute.getNameDialect()))
        kernel->removeDiscardableAttr(attribute.getName());
  });
  std::string text;
  llvm::raw_string_ostream(text) << **copy;
  return text;
}

/// Runs all functions of a kernel, and prints what they cost for each value.
void measure(gpu::GPUModuleOp module, const Case &example, const char *name) {
  std::mt19937 generator(1);
  std::normal_distribution<float> draw;
  std::uniform_int_distribution<int64_t> drawPlace(0, example.places - 1);
  int64_t added = example.rows * example.columns;
  std::vector<float> x(added), y(example.places * example.columns);
  std::vector<int64_t> places(example.rows), words;
  std::generate(x.begin(), x.end(), [&] { return draw(generator); });
  std::generate(places.begin(), places.end(),
                [&] { return drawPlace(generator); });
  auto kernels = llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>());
  metaop::MetaOpDialect::EntryAttrHelper entryOf(module.getContext());
  metaop::MetaOpDialect::LaunchAttrHelper launchOf(module.getContext());
  for (LLVM::LLVMFuncOp kernel : kernels)
    if (metaop::EntryAttr entry = entryOf.getAttr(kernel);
        entry && !entry.getScratch().empty())
      words.resize(entry.getScratch().front());
  std::vector<Allocation> memory = {
      {"x", x.data(), x.size() * sizeof(float), /*isReadOnly=*/true},
      {"i", places.data(), places.size() * sizeof(int64_t), true},
      {"y", y.data(), y.size() * sizeof(float)}};
  // In the order in which the stage reads them; another one would be a fault.
  std::vector<KernelArgument> arguments = {places.data(), x.data(), y.data()};
  if (!words.empty()) {
    memory.push_back({"words", words.data(), words.size() * sizeof(int64_t)});
    arguments.emplace_back(words.data());
  }
  std::string text = print(module);
  uint64_t atomics = 0, instructions = 0, sectors = 0;
  for (LLVM::LLVMFuncOp kernel : kernels) {
    metaop::LaunchAttr launch = launchOf.getAttr(kernel);
    metaop::EntryAttr entry = entryOf.getAttr(kernel);
    if (!launch || !entry || !entry.getRange())
      continue;
    LaunchShape shape;
    shape.grid.x = *entry.getRange();
    shape.threads.x = launch.getThreads();
    auto compiled = take(EmulatedKernel::compile(text, kernel.getName()));
    auto report = take(compiled->launch(shape, arguments, memory));
    if (!report.isSound())
      fail(report.str());
    const LaunchCounts &counts = report.counts;
    atomics += counts[InstructionClass::Atomic];
    instructions += std::accumulate(counts.instructions.begin(),
                                    counts.instructions.end(), uint64_t(0));
    sectors += counts.getGlobal().moved;
  }
  constexpr double sectorBytes = 32;
  double each = static_cast<double>(added);
  std::printf("| %lld x %lld to %lld | %s | %.2f | %.0f | %.1f |\n",
              static_cast<long long>(example.rows),
              static_cast<long long>(example.columns),
              static_cast<long long>(example.places), name, atomics / each,
              instructions / each, sectorBytes * sectors / each);
}

} // namespace

int main() {
  DialectRegistry registry;
  metaop::registerSliceDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::printf("For each element that is added:\n\n"
              "| rows | sums | atomics | instructions | bytes of sectors |\n"
              "| --- | --- | --- | --- | --- |\n");
  for (const Case &example :
       {Case{4096, 64, 1000}, Case{1024, 256, 1024}, Case{65536, 2, 100}})
    for (bool floatAtomics : {false, true}) {
      auto module = compile(context, example, floatAtomics);
      for (auto kernel : module->getOps<gpu::GPUModuleOp>())
        measure(kernel, example, floatAtomics ? "floats" : "fixed point");
    }
}
