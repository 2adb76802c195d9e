//===- Lapack.cpp - A library of linear algebra ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Libraries of 64-bit integers have names of their own: `scipy_dpotrf_64_` in
// the one of NumPy's wheels, `dpotrf_64_` in those of distributions. Those of
// 32-bit integers are `dpotrf_`.
//
//===----------------------------------------------------------------------===//

#include "Lapack.h"
#include "MetaOps/Runtime/Routines/MatrixLibrary.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <dlfcn.h>
#include <link.h>

using namespace metaops;

void *Lapack::lookUp(llvm::StringRef name, DType dtype) const {
  std::string symbol =
      (prefix + (dtype == DType::F32 ? "s" : "d") + name + suffix).str();
  return dlsym(library, symbol.c_str());
}

/// Returns whether the library has functions of one of the kinds of names.
bool Lapack::chooseNames() {
  struct Names {
    const char *prefix, *suffix;
    bool isWide;
  };
  for (Names names : {Names{"scipy_", "_64_", true}, Names{"", "_64_", true},
                      Names{"scipy_", "_", false}, Names{"", "_", false}}) {
    prefix = names.prefix;
    suffix = names.suffix;
    isWide = names.isWide;
    if (lookUp("potrf", DType::F64) && lookUp("trsm", DType::F32))
      return true;
  }
  return false;
}

/// Returns the paths of libraries of the process that may have LAPACK.
static std::vector<std::string> listLoaded() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        llvm::StringRef name = info->dlpi_name;
        if (name.contains("openblas") || name.contains("lapack") ||
            name.contains("mkl_rt"))
          static_cast<std::vector<std::string> *>(data)->push_back(name.str());
        return 0;
      },
      &paths);
  return paths;
}

llvm::Expected<std::shared_ptr<const Lapack>> Lapack::find() {
  std::vector<std::string> paths = listLoaded();
  for (const char *name : {"libopenblas64_.so.0", "libopenblas.so.0",
                           "liblapack64.so.3", "liblapack.so.3"})
    paths.push_back(name);
  for (const std::string &path : paths) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      continue;
    std::shared_ptr<Lapack> lapack(new Lapack(library, path));
    if (lapack->chooseNames())
      return lapack;
    dlclose(library);
  }
  return llvm::createStringError(
      "there is no LAPACK: neither NumPy's library nor any of the system has "
      "been found; looked for " +
      llvm::join(paths, ", "));
}

llvm::Expected<MatrixLibrary> metaops::findMatrixLibrary() {
  auto lapack = Lapack::find();
  if (!lapack)
    return lapack.takeError();
  return MatrixLibrary{(*lapack)->getPath(), (*lapack)->hasWideIntegers()};
}

llvm::Expected<const Lapack &> LazyLapack::get() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!found) {
    auto lapack = Lapack::find();
    if (!lapack)
      return lapack.takeError();
    found = std::move(*lapack);
  }
  return *found;
}
