//===- GpuLauncher.h - Calls of kernels on a GPU ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_GPU_GPULAUNCHER_H
#define METAOPS_LIB_RUNTIME_GPU_GPULAUNCHER_H

#include "LaunchPlan.h"
#include "MetaOps/Runtime/CUDA/GpuRunner.h"

#include <mutex>

namespace metaops {

/// A GPU, or one that is emulated, which is opened when it is first needed.
/// Threads may use one at once.
class LaunchTarget {
public:
  virtual ~LaunchTarget() = default;

  virtual llvm::Expected<const GpuRunner *> getRunner() = 0;
  /// Loads a kernel's code, and has its functions ready for launches like
  /// these.
  virtual llvm::Expected<std::unique_ptr<GpuModule>>
  load(llvm::StringRef code, llvm::ArrayRef<GpuLaunch> functions) = 0;
};

/// Runs calls of a kernel through the driver's table, whoever fills it.
class GpuLauncher : public KernelLauncher {
public:
  GpuLauncher(std::shared_ptr<LaunchTarget> gpu, std::string code,
              LaunchPlan plan)
      : gpu(std::move(gpu)), code(std::move(code)), plan(std::move(plan)) {}

  /// Loads the code, if it is not; a call does so as well.
  llvm::Expected<const GpuModule *> load() const;

  llvm::Error launch(const KernelCall &call,
                     llvm::ArrayRef<KernelBuffer> buffers, unsigned numInputs,
                     ThreadPool &, LaunchMeasures *measures) const override;

private:
  llvm::Expected<float> runFunctions(const GpuRunner &runner,
                                     const GpuModule &module,
                                     llvm::ArrayRef<int64_t> grids,
                                     llvm::ArrayRef<uint64_t> arguments) const;

  std::shared_ptr<LaunchTarget> gpu;
  std::string code;
  LaunchPlan plan;
  mutable std::mutex mutex;
  mutable std::unique_ptr<GpuModule> module;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_GPU_GPULAUNCHER_H
