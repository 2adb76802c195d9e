//===- SharedLibrary.h - A library that is loaded at run time ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CUDA_SHAREDLIBRARY_H
#define METAOPS_LIB_RUNTIME_CUDA_SHAREDLIBRARY_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <dlfcn.h>
#include <string>

namespace metaops {

/// Stays loaded: libraries of NVIDIA start threads and leave handlers behind.
class SharedLibrary {
public:
  /// A path, or a name that the loader looks for.
  static llvm::Expected<SharedLibrary> open(const std::string &name) {
    if (void *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return SharedLibrary(name, handle);
    const char *reason = dlerror();
    return llvm::createStringError(reason ? reason : "it does not load");
  }

  /// Sets `function` to what the library has under a name.
  template <typename FunctionT>
  llvm::Error find(const char *symbol, FunctionT *&function) const {
    if (!has(symbol, function))
      return llvm::createStringError(llvm::Twine(name) + " has no function " +
                                     symbol);
    return llvm::Error::success();
  }
  /// The same of one that may be missing.
  template <typename FunctionT>
  bool has(const char *symbol, FunctionT *&function) const {
    function = reinterpret_cast<FunctionT *>(dlsym(handle, symbol));
    return function != nullptr;
  }
  const void *getAddress(const char *symbol) const {
    return dlsym(handle, symbol);
  }

private:
  SharedLibrary(std::string name, void *handle)
      : name(std::move(name)), handle(handle) {}

  std::string name;
  void *handle;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CUDA_SHAREDLIBRARY_H
