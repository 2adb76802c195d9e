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
    function = reinterpret_cast<FunctionT *>(dlsym(handle, symbol));
    if (!function)
      return llvm::createStringError(llvm::Twine(name) + " has no function " +
                                     symbol);
    return llvm::Error::success();
  }

private:
  SharedLibrary(std::string name, void *handle)
      : name(std::move(name)), handle(handle) {}

  std::string name;
  void *handle;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CUDA_SHAREDLIBRARY_H
