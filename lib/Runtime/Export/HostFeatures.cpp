//===- HostFeatures.cpp - What the processor has --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Export/HostFeatures.h"
#include "llvm/ADT/STLExtras.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

using namespace metaops;

#if defined(__x86_64__)

// The compilers' function takes literals alone. It looks at what the system
// saves of the registers, too.
std::vector<std::string> metaops::getHostFeatures() {
  std::vector<std::string> features = {"x86-64"};
#define METAOPS_FEATURE(name)                                                  \
  if (__builtin_cpu_supports(name))                                            \
    features.emplace_back(name);
  METAOPS_FEATURE("sse3")
  METAOPS_FEATURE("ssse3")
  METAOPS_FEATURE("sse4.1")
  METAOPS_FEATURE("sse4.2")
  METAOPS_FEATURE("popcnt")
  METAOPS_FEATURE("avx")
  METAOPS_FEATURE("avx2")
  METAOPS_FEATURE("bmi")
  METAOPS_FEATURE("bmi2")
  METAOPS_FEATURE("f16c")
  METAOPS_FEATURE("fma")
  METAOPS_FEATURE("lzcnt")
  METAOPS_FEATURE("movbe")
  METAOPS_FEATURE("avx512f")
  METAOPS_FEATURE("avx512bw")
  METAOPS_FEATURE("avx512cd")
  METAOPS_FEATURE("avx512dq")
  METAOPS_FEATURE("avx512vl")
  METAOPS_FEATURE("avx512vbmi")
  METAOPS_FEATURE("avx512vbmi2")
  METAOPS_FEATURE("avx512vnni")
  METAOPS_FEATURE("avx512bitalg")
  METAOPS_FEATURE("avx512vpopcntdq")
  METAOPS_FEATURE("avx512bf16")
#undef METAOPS_FEATURE
  return features;
}

#elif defined(__aarch64__)

std::vector<std::string> metaops::getHostFeatures() {
  std::vector<std::string> features = {"aarch64"};
  // The bits of Linux's <asm/hwcap.h>.
  unsigned long bits = getauxval(AT_HWCAP);
  auto add = [&](unsigned bit, const char *name) {
    if (bits >> bit & 1)
      features.emplace_back(name);
  };
  add(1, "neon");
  add(8, "lse");
  add(10, "fullfp16");
  add(20, "dotprod");
  add(22, "sve");
  return features;
}

#else

std::vector<std::string> metaops::getHostFeatures() { return {}; }

#endif

std::string metaops::findHostTarget() {
  std::vector<std::string> host = getHostFeatures();
  for (const char *name : {"x86-64-v4", "x86-64-v3", "aarch64"})
    if (llvm::all_of(getTargetFeatures(name), [&](const std::string &feature) {
          return llvm::is_contained(host, feature);
        }))
      return name;
  return "";
}

std::vector<std::string> metaops::getTargetFeatures(llvm::StringRef target) {
  if (target == "aarch64")
    return {"aarch64", "neon"};
  std::vector<std::string> features = {"x86-64", "sse3",   "ssse3",
                                       "sse4.1", "sse4.2", "popcnt"};
  if (target == "x86-64-v2")
    return features;
  for (const char *name :
       {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"})
    features.emplace_back(name);
  if (target == "x86-64-v3")
    return features;
  for (const char *name :
       {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
    features.emplace_back(name);
  if (target == "x86-64-v4")
    return features;
  return {};
}
