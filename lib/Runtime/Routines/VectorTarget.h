//===- VectorTarget.h - Sets of vector instructions -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Highway includes sources of vector code once for each set of instructions.
// They include this file first, which says of which, and choose by it the
// functions of the set that the processor has.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_VECTORTARGET_H
#define METAOPS_LIB_RUNTIME_ROUTINES_VECTORTARGET_H

// SSE4 is what a processor has that has the former, and AVX3 does for the
// latter.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
// Its assertions, also in builds with sanitizers, need its library.
#undef HWY_IS_DEBUG_BUILD
#define HWY_IS_DEBUG_BUILD 0
#include "hwy/detect_targets.h"

namespace metaops {

/// Sets of vector instructions, each of which has those of the former ones.
enum class VectorTarget { Baseline, Sse4, Avx2, Avx512 };

/// Returns the best set that this processor has.
VectorTarget findVectorTarget();

} // namespace metaops

#if HWY_TARGETS & HWY_AVX3
#define METAOPS_RETURN_AVX512(use)                                             \
  if (::metaops::findVectorTarget() >= ::metaops::VectorTarget::Avx512)        \
    return use(N_AVX3);
#else
#define METAOPS_RETURN_AVX512(use)
#endif
#if HWY_TARGETS & HWY_AVX2
#define METAOPS_RETURN_AVX2(use)                                               \
  if (::metaops::findVectorTarget() >= ::metaops::VectorTarget::Avx2)          \
    return use(N_AVX2);
#else
#define METAOPS_RETURN_AVX2(use)
#endif
#if HWY_TARGETS & HWY_SSE4
#define METAOPS_RETURN_SSE4(use)                                               \
  if (::metaops::findVectorTarget() >= ::metaops::VectorTarget::Sse4)          \
    return use(N_SSE4);
#else
#define METAOPS_RETURN_SSE4(use)
#endif

/// Returns use(namespace) of the namespace of the best set that there is.
#define METAOPS_RETURN_BEST(use)                                               \
  METAOPS_RETURN_AVX512(use)                                                   \
  METAOPS_RETURN_AVX2(use)                                                     \
  METAOPS_RETURN_SSE4(use) return use(HWY_NAMESPACE)

#endif // METAOPS_LIB_RUNTIME_ROUTINES_VECTORTARGET_H
