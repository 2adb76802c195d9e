//===- FindAssembler.cpp - Which assembler is used ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverLinker.h"
#include "MetaOps/Runtime/CUDA/Assembler.h"
#include "NvJitLink.h"
#include "PtxasProgram.h"

using namespace metaops;

/// The libraries of nvJitLink by version, the newest first.
static constexpr llvm::StringLiteral kLibraries[] = {"libnvJitLink.so.13",
                                                     "libnvJitLink.so.12"};

/// The first that loads of those in the roots and the loader's own.
static std::shared_ptr<NvJitLink> findNvJitLink(const Toolkits &toolkits) {
  std::vector<std::string> names;
  for (llvm::StringRef library : kLibraries)
    llvm::append_range(names, toolkits.findLibraries(library));
  for (llvm::StringRef library : kLibraries)
    names.push_back(library.str());
  for (const std::string &name : names) {
    auto link = NvJitLink::open(name);
    if (link)
      return *link;
    llvm::consumeError(link.takeError());
  }
  return nullptr;
}

static llvm::Expected<std::shared_ptr<Assembler>>
useDriver(std::shared_ptr<const Driver> driver) {
  auto context = DriverContext::create(std::move(driver), 0);
  if (!context)
    return context.takeError();
  return std::make_shared<DriverLinker>(std::move(*context));
}

llvm::Expected<std::shared_ptr<Assembler>>
metaops::findAssembler(const AssemblerSearch &search) {
  std::shared_ptr<NvJitLink> link = findNvJitLink(search.toolkits);
  auto driver = Driver::open(search.driver);
  bool isTaken =
      link && (!driver || link->getVersion() <= (*driver)->getCudaVersion());
  if (driver && !isTaken)
    return useDriver(std::move(*driver));
  std::string reason = driver ? "" : toString(driver.takeError());
  if (link)
    return link;
  std::string ptxas = "there is none";
  if (auto path = search.toolkits.findProgram("ptxas")) {
    auto program = PtxasProgram::open(std::move(*path));
    if (program)
      return *program;
    ptxas = toString(program.takeError());
  }
  return llvm::createStringError(
      "there is no assembler for GPUs. Looked for, with what brings it:\n"
      "  libnvJitLink.so.13 or .12: the Python package nvidia-nvjitlink, or "
      "the "
      "CUDA toolkit\n"
      "  libcuda.so.1: NVIDIA's driver; " +
      reason +
      "\n  ptxas: the Python package nvidia-cuda-nvcc, or the CUDA toolkit; " +
      ptxas + "\nin " + search.toolkits.str() +
      ", and where the system looks for libraries and programs");
}
