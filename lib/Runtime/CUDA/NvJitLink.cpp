//===- NvJitLink.cpp - The assembler as a library -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each piece of PTX is a link of its own, so that threads share nothing. A link
// whose PTX was refused can still be completed, into a file without kernels, so
// each result counts.
//
//===----------------------------------------------------------------------===//

#include "NvJitLink.h"
#include "AssemblerMessages.h"
#include "MetaOps/Runtime/Cache/BuildIdentity.h"
#include "llvm/ADT/ScopeExit.h"

using namespace metaops;
using llvm::StringRef;

/// NVJITLINK_INPUT_PTX.
static constexpr int kInputPtx = 2;

llvm::Expected<std::shared_ptr<NvJitLink>>
NvJitLink::open(const std::string &name) {
  auto library = SharedLibrary::open(name);
  if (!library)
    return library.takeError();
  std::shared_ptr<NvJitLink> link(new NvJitLink(std::move(*library)));
  if (llvm::Error error = link->load())
    return std::move(error);
  return link;
}

llvm::Error NvJitLink::load() {
  int (*getVersion)(unsigned *, unsigned *) = nullptr;
  llvm::Error error = llvm::Error::success();
  auto find = [&](const char *symbol, auto *&function) {
    if (!error)
      error = library.find(symbol, function);
  };
  find("nvJitLinkVersion", getVersion);
  find("nvJitLinkCreate", createLink);
  find("nvJitLinkDestroy", destroyLink);
  find("nvJitLinkAddData", addData);
  find("nvJitLinkComplete", completeLink);
  find("nvJitLinkGetLinkedCubinSize", getCubinSize);
  find("nvJitLinkGetLinkedCubin", getCubin);
  find("nvJitLinkGetErrorLogSize", getErrorSize);
  find("nvJitLinkGetErrorLog", getErrors);
  find("nvJitLinkGetInfoLogSize", getInfoSize);
  find("nvJitLinkGetInfoLog", getInfo);
  if (error)
    return error;
  unsigned major = 0, minor = 0;
  if (getVersion(&major, &minor) != 0)
    return llvm::createStringError("nvJitLink does not tell its version");
  version = static_cast<int>(1000 * major + 10 * minor);
  return llvm::Error::success();
}

std::string NvJitLink::getDescription() const {
  return "nvJitLink " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

std::string NvJitLink::getBuild() const {
  std::string buildId = getBuildId(reinterpret_cast<const void *>(createLink));
  return buildId.empty() ? "" : getDescription() + " " + buildId;
}

static std::string readText(void *handle, int (*getSize)(void *, size_t *),
                            int (*get)(void *, char *)) {
  size_t size = 0;
  if (getSize(handle, &size) != 0 || size == 0)
    return std::string();
  std::string text(size, '\0');
  if (get(handle, text.data()) != 0)
    return std::string();
  return text.c_str();
}

llvm::Expected<Cubin> NvJitLink::assemble(StringRef ptx,
                                          const mlir::metaop::Chip &chip) {
  std::string arch = ("-arch=" + chip.name).str();
  const char *options[] = {arch.c_str(), "-O3", "-Xptxas=-v"};
  Handle handle = nullptr;
  llvm::scope_exit destroy([&] {
    if (handle)
      destroyLink(&handle);
  });
  std::string text = ptx.str();
  int result = createLink(&handle, std::size(options), options);
  if (result == 0)
    result = addData(handle, kInputPtx, text.c_str(), text.size() + 1, "ptx");
  if (result == 0)
    result = completeLink(handle);
  Cubin cubin;
  size_t size = 0;
  if (result == 0)
    result = getCubinSize(handle, &size);
  if (result == 0) {
    cubin.code.resize(size);
    result = getCubin(handle, cubin.code.data());
  }
  if (result != 0) {
    std::string errors =
        handle ? selectErrors(readText(handle, getErrorSize, getErrors)) : "";
    return llvm::createStringError(
        getDescription() + " refuses the PTX: " +
        (errors.empty() ? "error " + std::to_string(result) : errors));
  }
  cubin.kernels = parseResources(readText(handle, getInfoSize, getInfo));
  return cubin;
}
