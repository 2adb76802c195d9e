//===- peak.cpp - What the machine can compute at best --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Multiplies and adds in registers, and reads nothing: no product of matrices
// can be faster. As many chains as hide an operation's latency on two units,
// each of whole vectors. kernels.py calls it beside each row, by roof.py, since
// the clock of a processor, and what a neighbour leaves of it, changes within
// minutes.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Threads/ThreadPool.h"

#include <cstdint>

#ifdef __AVX512F__
#define METAOPS_BITS 512
#else
#define METAOPS_BITS 256
#endif

using Vector = float __attribute__((vector_size(METAOPS_BITS / 8)));

static constexpr int64_t kLanes = sizeof(Vector) / sizeof(float);
static constexpr int64_t kChains = METAOPS_BITS == 512 ? 16 : 12;
static constexpr int64_t kSteps = 512;

/// What has been computed, so that it is not taken for dead code.
static volatile float sink;
static volatile float factor = 0.999F, summand = 1e-3F;

/// Takes every chain so many steps. Whole vectors, also where the compiler
/// prefers halves.
#if defined(__clang__) && defined(__x86_64__)
__attribute__((min_vector_width(METAOPS_BITS)))
#endif
static void multiplyAdd(int64_t steps) {
  Vector x = factor - Vector{}, y = summand - Vector{}, chains[kChains] = {};
  for (int64_t step = 0; step < steps; ++step)
#pragma unroll
    for (Vector &chain : chains)
      chain = chain * x + y;
  Vector total = {};
  for (const Vector &chain : chains)
    total += chain;
  sink = total[0];
}

extern "C" {

/// Computes on all threads of a pool; returns the number of multiplications
/// and additions. A block takes about a microsecond.
int64_t metaopsMultiplyAdd(void *pool, int64_t blocks) {
  static_cast<metaops::ThreadPool *>(pool)->parallelFor(
      blocks, 1,
      [](int64_t begin, int64_t end) { multiplyAdd((end - begin) * kSteps); });
  return blocks * kSteps * kChains * kLanes * 2;
}
}
