//===- EmulatedKernel.cpp - Kernels of GPUs on the host -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "Instructions.h"
#include "KernelCode.h"
#include "Launch.h"
#include "Worker.h"

#include <system_error>
#include <thread>

using namespace metaops;
using namespace metaops::emulator;

/// Size of a cluster that every GPU from sm_90 on has; larger ones need to be
/// asked for.
static constexpr uint64_t mostBlocksOfCluster = 16;
static constexpr uint64_t mostThreadsOfBlock = 1024;

struct EmulatedKernel::Code : KernelCode {
  explicit Code(KernelCode code) : KernelCode(std::move(code)) {}
};

EmulatedKernel::EmulatedKernel() = default;
EmulatedKernel::~EmulatedKernel() = default;

llvm::Expected<std::map<std::string, std::unique_ptr<EmulatedKernel>>>
EmulatedKernel::compileAll(llvm::StringRef source, mlir::MLIRContext &context) {
  auto module = parseKernels(source, context);
  if (!module)
    return module.takeError();
  std::map<std::string, std::unique_ptr<EmulatedKernel>> kernels;
  for (const std::string &name : listKernels(**module)) {
    auto kernel = compile(**module, name);
    if (!kernel)
      return kernel.takeError();
    kernels[name] = std::move(*kernel);
  }
  return kernels;
}

llvm::Expected<std::unique_ptr<EmulatedKernel>>
EmulatedKernel::compile(llvm::StringRef source, llvm::StringRef name) {
  mlir::DialectRegistry registry;
  registerEmulatorDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = parseKernels(source, context);
  if (!module)
    return module.takeError();
  return compile(**module, name);
}

llvm::Expected<std::unique_ptr<EmulatedKernel>>
EmulatedKernel::compile(mlir::ModuleOp module, llvm::StringRef name) {
  auto code = compileKernel(module, name);
  if (!code)
    return code.takeError();
  auto kernel = std::unique_ptr<EmulatedKernel>(new EmulatedKernel());
  kernel->code = std::make_unique<Code>(std::move(*code));
  return kernel;
}

const std::string &EmulatedKernel::getName() const { return code->name; }

llvm::ArrayRef<uint32_t> EmulatedKernel::getParameters() const {
  return code->parameters;
}

Extent3 EmulatedKernel::getCluster() const {
  return code->clusterShape.x ? code->clusterShape : Extent3();
}

//===----------------------------------------------------------------------===//
// What can be launched
//===----------------------------------------------------------------------===//

static bool isEqual(const Extent3 &a, const Extent3 &b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

static llvm::Error checkShape(const KernelCode &code, const LaunchShape &shape,
                              const EmulatorOptions &options) {
  auto fail = [&](const std::string &message) {
    return llvm::createStringError("kernel " + code.name + ": " + message);
  };
  const Extent3 &grid = shape.grid, &cluster = shape.cluster;
  if (!grid.count() || !shape.threads.count() || !cluster.count())
    return fail("a launch of no threads");
  if (shape.threads.count() > mostThreadsOfBlock)
    return fail("a block of " + shape.threads.str() + " threads, where " +
                std::to_string(mostThreadsOfBlock) + " are possible");
  if (cluster.count() > mostBlocksOfCluster)
    return fail("a cluster of " + cluster.str() + " blocks, where " +
                std::to_string(mostBlocksOfCluster) + " are possible");
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return fail("clusters of " + cluster.str() +
                " blocks do not divide a grid of " + grid.str());
  if (grid.count() / cluster.count() > UINT32_MAX / mostBlocksOfCluster / 32)
    return fail("a grid of " + grid.str() + " blocks is too large");
  if (code.requiredThreads.x && !isEqual(code.requiredThreads, shape.threads))
    return fail("it takes blocks of " + code.requiredThreads.str() +
                " threads, not of " + shape.threads.str());
  if (code.maxThreads.x && shape.threads.count() > code.maxThreads.count())
    return fail("it takes blocks of at most " +
                std::to_string(code.maxThreads.count()) + " threads, not of " +
                shape.threads.str());
  if (code.clusterShape.x && !isEqual(code.clusterShape, cluster))
    return fail("it takes clusters of " + code.clusterShape.str() +
                " blocks, not of " + cluster.str());
  uint64_t shared = 0;
  bool isDynamic = false;
  for (const SharedVariable &variable : code.sharedVariables) {
    shared += variable.bytes.value_or(0);
    isDynamic |= !variable.bytes;
  }
  shared += isDynamic ? shape.dynamicSharedBytes : 0;
  if (shared > options.sharedLimit)
    return fail("a block needs " + std::to_string(shared) +
                " bytes of shared memory, where " +
                std::to_string(options.sharedLimit) + " are possible");
  return llvm::Error::success();
}

static llvm::Error checkLaunch(const KernelCode &code, const LaunchShape &shape,
                               llvm::ArrayRef<KernelArgument> arguments,
                               llvm::ArrayRef<Allocation> allocations,
                               const EmulatorOptions &options) {
  if (arguments.size() != code.parameters.size())
    return llvm::createStringError("kernel " + code.name + " takes " +
                                   std::to_string(code.parameters.size()) +
                                   " arguments, not " +
                                   std::to_string(arguments.size()));
  if (options.threads > 1)
    for (const Allocation &allocation : allocations)
      if (allocation.written)
        return llvm::createStringError(
            "allocation " + allocation.name +
            ", of which it is kept what is written, needs a launch on one "
            "thread");
  return checkShape(code, shape, options);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Adds the counts of all workers.
static LaunchCounts addCounts(const KernelCode &code,
                              llvm::ArrayRef<std::unique_ptr<Worker>> workers) {
  LaunchCounts counts;
  for (auto [number, site] : llvm::enumerate(code.sites)) {
    if (!site.bytes || site.instruction->name == "local")
      continue;
    AccessCounts access;
    access.operation = site.operation;
    access.location = site.location;
    access.isShared =
        site.space == Space::Shared || site.space == Space::Cluster;
    for (const auto &worker : workers) {
      const AccessTotals &totals = worker->totals[number];
      access.requests += totals.requests;
      access.bytes += totals.bytes;
      access.moved += totals.moved;
      access.least += totals.least;
    }
    counts.accesses.push_back(std::move(access));
  }
  for (auto [block, classes] : llvm::enumerate(code.blockCounts))
    for (auto [kind, count] : llvm::enumerate(classes))
      for (const auto &worker : workers)
        counts.instructions[kind] += worker->executions[block] * count;
  return counts;
}

llvm::Expected<EmulatorReport>
EmulatedKernel::launch(const LaunchShape &shape,
                       llvm::ArrayRef<KernelArgument> arguments,
                       llvm::ArrayRef<Allocation> allocations,
                       const EmulatorOptions &options) const {
  if (llvm::Error error =
          checkLaunch(*code, shape, arguments, allocations, options))
    return std::move(error);
  Launch launch(*code, shape, arguments, allocations, options);
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < std::max(1u, options.threads); ++i)
    workers.push_back(std::make_unique<Worker>(launch, i));
  std::vector<std::thread> others;
  try {
    for (size_t i = 1; i < workers.size(); ++i)
      others.emplace_back([&worker = *workers[i]] { worker.run(); });
  } catch (const std::system_error &) {
    // The process may have no more threads; those there are do all the work.
  }
  workers.front()->run();
  for (std::thread &thread : others)
    thread.join();
  EmulatorReport report;
  report.counts = addCounts(*code, workers);
  report.faults = launch.faults.take();
  return report;
}
