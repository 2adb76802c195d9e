//===- VectorTarget.cpp - Sets of vector instructions ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorTarget.h"

using namespace metaops;

static VectorTarget detectVectorTarget() {
#if HWY_ARCH_X86
  bool hasSse4 = __builtin_cpu_supports("sse4.2") &&
                 __builtin_cpu_supports("pclmul") &&
                 __builtin_cpu_supports("aes");
  bool hasAvx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes") &&
      __builtin_cpu_supports("f16c");
  bool hasAvx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (hasAvx2)
    return hasAvx512 ? VectorTarget::Avx512 : VectorTarget::Avx2;
  if (hasSse4)
    return VectorTarget::Sse4;
#endif
  return VectorTarget::Baseline;
}

VectorTarget metaops::findVectorTarget() {
  static const VectorTarget target = detectVectorTarget();
  return target;
}
