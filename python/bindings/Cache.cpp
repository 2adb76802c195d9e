//===- Cache.cpp - The folder of compiled code ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the command line: these need no session, so they work on a folder that a
// session would not use, and say why.
//
//===----------------------------------------------------------------------===//

#include "Function.h"
#include "MetaOps/Runtime/Cache/DiskStore.h"

using namespace metaops;
using namespace metaops::python;

/// Calls `work` on the store of a folder, which may take long, without the GIL.
static py::dict
report(const std::string &folder,
       llvm::function_ref<llvm::Expected<DiskUsage>(DiskStore &)> work) {
  DiskUsage usage;
  {
    ReleasedGIL release;
    DiskStore store(folder);
    usage = check(work(store));
  }
  py::dict result;
  result["kernels"] = usage.kernels;
  result["programs"] = usage.programs;
  result["temporaries"] = usage.temporaries;
  result["bytes"] = usage.bytes;
  return result;
}

void metaops::python::bindCache(py::module_ &module) {
  module.attr("cache_max_bytes") = DiskStore::kDefaultMaxBytes;
  define(
      module, "cache_info(folder)",
      [](const std::string &folder) {
        return report(folder,
                      [](DiskStore &store) { return store.getUsage(); });
      },
      "What a folder of compiled code holds.");
  define(
      module, "cache_clear(folder)",
      [](const std::string &folder) {
        return report(folder, [](DiskStore &store) { return store.clear(); });
      },
      "Removes everything, and returns what it was.");
  define(
      module, "cache_prune(folder, max_bytes)",
      [](const std::string &folder, int64_t maxBytes) {
        if (maxBytes < 0)
          fail(ErrorKind::Value, "cache_prune: given " + llvm::Twine(maxBytes) +
                                     " bytes, expected 0 or more");
        return report(folder,
                      [&](DiskStore &store) { return store.prune(maxBytes); });
      },
      "Removes what was used least recently, and returns what it was.");
}
