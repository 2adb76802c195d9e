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
#include "llvm/ADT/StringExtras.h"

using namespace metaops;

/// The first that loads.
static std::shared_ptr<NvJitLink> findNvJitLink(const AssemblerSearch &search) {
  std::vector<std::string> names;
  for (const std::string &library : search.nvJitLinks)
    llvm::append_range(names, search.toolkits.findLibraries(library));
  llvm::append_range(names, search.nvJitLinks);
  for (const std::string &name : names) {
    auto link = NvJitLink::open(name);
    if (link)
      return *link;
    llvm::consumeError(link.takeError());
  }
  return nullptr;
}

llvm::Expected<std::shared_ptr<Assembler>>
metaops::useDriverAsAssembler(std::shared_ptr<const Driver> driver) {
  auto context = DriverContext::create(std::move(driver), 0);
  if (!context)
    return context.takeError();
  return std::make_shared<DriverLinker>(std::move(*context));
}

llvm::Expected<std::shared_ptr<Assembler>>
metaops::findAssembler(const AssemblerSearch &search) {
  std::shared_ptr<NvJitLink> link = findNvJitLink(search);
  auto driver = Driver::open(search.driver);
  bool isTaken =
      link && (!driver || link->getVersion() <= (*driver)->getCudaVersion());
  if (driver && !isTaken)
    return useDriverAsAssembler(std::move(*driver));
  std::string reason = driver ? "" : toString(driver.takeError());
  if (link)
    return link;
  std::string ptxas = "there is none";
  if (auto path = search.toolkits.findProgram(search.ptxas)) {
    auto program = PtxasProgram::open(std::move(*path));
    if (program)
      return *program;
    ptxas = toString(program.takeError());
  }
  return llvm::createStringError(
      "there is no assembler for GPUs. Looked for, with what brings it:\n  " +
      llvm::join(search.nvJitLinks, ", ") +
      ": the Python package nvidia-nvjitlink, or the CUDA toolkit\n  " +
      search.driver + ": NVIDIA's driver; " + reason + "\n  " + search.ptxas +
      ": the Python package nvidia-cuda-nvcc, or the CUDA toolkit; " + ptxas +
      "\nin " + search.toolkits.str() +
      ", and where the system looks for libraries and programs");
}
