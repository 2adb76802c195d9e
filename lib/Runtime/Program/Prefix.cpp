//===- Prefix.cpp - Each element combined with those before it ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A line is cut into blocks (Prefix.h of the dialect). What the elements of a
// block make from its first one on depends on the block alone; the result is
// that, combined with the last result of the block before, the carry.
//
// 1. The last element of each block, of all lines: in parallel.
// 2. The carries: one after another, a step for a block.
// 3. The results: each block again, from its carry; in parallel.
//
// A line of one block has no carries. Where there are lines for all threads, or
// one thread, the three steps are done for a few blocks of a line at a time,
// which stay in the caches.
//
// A step waits for the one before it, so several chains are computed side by
// side: where neighbours in memory belong to different lines, all of them, as
// vectors; where a line is contiguous, as many blocks.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Prefix.h"
#include "MetaOps/Runtime/Program/Routine.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

using namespace metaops;
using mlir::metaop::kPrefixBlock;
using mlir::metaop::PrefixKind;

/// Chains side by side, in a line and where lines are neighbours.
static constexpr int64_t kChains = 16;
static constexpr int64_t kColumns = 256;
/// So many are worth a thread of their own.
static constexpr int64_t kElementsPerThread = int64_t(1) << 14;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// An element in memory, and as what it is computed.
template <typename T> struct Plain {
  using Stored = T;
  using Computed = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};

struct Half {
  using Stored = _Float16;
  using Computed = float;
  static float load(_Float16 value) { return static_cast<float>(value); }
  static _Float16 store(float value) { return static_cast<_Float16>(value); }
};

struct BFloat {
  using Stored = uint16_t;
  using Computed = float;
  static float load(uint16_t value) {
    return llvm::bit_cast<float>(static_cast<uint32_t>(value) << 16);
  }
  /// To nearest even; a NaN stays one.
  static uint16_t store(float value) {
    uint32_t bits = llvm::bit_cast<uint32_t>(value);
    if (std::isnan(value))
      return static_cast<uint16_t>(bits >> 16 | 0x40);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Integers wrap.
template <typename T> static T addWrapping(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  else
    return x + y;
}
template <typename T> static T multiplyWrapping(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  else
    return x * y;
}
template <typename T> static bool isNaN(T x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return std::isnan(x);
}

template <PrefixKind kind, typename T>
static T combine(T before, T x, T factor) {
  if constexpr (kind == PrefixKind::Add) {
    return addWrapping(before, x);
  } else if constexpr (kind == PrefixKind::Mul) {
    return multiplyWrapping(before, x);
  } else if constexpr (kind == PrefixKind::Max) {
    return isNaN(before) || !(before < x || isNaN(x)) ? before : x;
  } else if constexpr (kind == PrefixKind::Min) {
    return isNaN(before) || !(x < before || isNaN(x)) ? before : x;
  } else if constexpr (kind == PrefixKind::Linear) {
    if constexpr (std::is_integral_v<T>)
      return addWrapping(multiplyWrapping(factor, before), x);
    else
      return std::fma(factor, before, x);
  } else {
    // Infinities of one sign have no difference.
    if (before == x)
      return before + static_cast<T>(0.69314718055994530942);
    T high = before < x ? x : before, low = before < x ? before : x;
    return high + std::log1p(std::exp(low - high));
  }
}

template <PrefixKind kind, typename T> static T getIdentity() {
  using Limits = std::numeric_limits<T>;
  if constexpr (kind == PrefixKind::Mul)
    return 1;
  else if constexpr (kind == PrefixKind::Max)
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  else if constexpr (kind == PrefixKind::Min)
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  else if constexpr (kind == PrefixKind::LogAddExp)
    return -Limits::infinity();
  else
    return 0;
}

//===----------------------------------------------------------------------===//
// Bundles of chains
//===----------------------------------------------------------------------===//

namespace {
/// Chains of one length that are computed side by side: parts of a line, of
/// neighbouring lines or of lines that follow each other.
struct Bundle {
  /// Where the first element of the first chain is; from one chain to the next;
  /// and from one element to the next.
  int64_t first, distance, step;
  int64_t chains, length;
  /// The number of the first chain among the blocks of all lines.
  int64_t block;
  /// How many chains, from the first on, begin their lines, and have no carry.
  int64_t numFirst;
  /// How many chains, up to the last, may come to the ends of their lines, and
  /// with which element.
  int64_t numLast, lastElement;
};

template <PrefixKind kind, typename Element> class Prefix {
public:
  using Stored = typename Element::Stored;
  using Computed = typename Element::Computed;

  Prefix(const Routine &routine, const void *source, const void *factors,
         void *result);
  void run(ThreadPool &threads);

private:
  static constexpr bool hasFactors = kind == PrefixKind::Linear;

  Bundle getBundle(int64_t line, int64_t number) const;
  /// With `numChains` known, where they fit registers; 0 where it is not.
  template <bool areNeighbours, int64_t numChains>
  void addUp(const Bundle &bundle);
  template <bool areNeighbours, int64_t numChains>
  void write(const Bundle &bundle);
  void addUp(const Bundle &bundle) {
    if (bundle.distance == 1)
      addUp<true, 0>(bundle);
    else if (bundle.chains == kChains)
      addUp<false, kChains>(bundle);
    else
      addUp<false, 0>(bundle);
  }
  void write(const Bundle &bundle) {
    if (bundle.distance == 1)
      write<true, 0>(bundle);
    else if (bundle.chains == kChains)
      write<false, kChains>(bundle);
    else
      write<false, 0>(bundle);
  }
  void passOn(const Bundle &bundle);

  /// A number for each chain.
  template <int64_t numChains>
  using Chains = std::array<Computed, numChains ? numChains : kColumns>;

  /// The first elements of the chains, and each next ones; `place` is that of
  /// the first chain.
  template <typename ChainsT>
  void begin(int64_t place, int64_t distance, int64_t chains, ChainsT &local,
             ChainsT &product) const {
    for (int64_t c = 0; c < chains; ++c) {
      local[c] = getX(place + c * distance);
      product[c] = getFactor(place + c * distance);
    }
  }
  template <typename ChainsT>
  void step(int64_t place, int64_t distance, int64_t chains, ChainsT &local,
            ChainsT &product) const {
    for (int64_t c = 0; c < chains; ++c) {
      Computed factor = getFactor(place + c * distance);
      local[c] = combine<kind>(local[c], getX(place + c * distance), factor);
      if constexpr (hasFactors)
        product[c] = multiplyWrapping(product[c], factor);
    }
  }
  /// Notes what all elements of each chain make.
  template <typename ChainsT>
  void note(const Bundle &bundle, int64_t chains, const ChainsT &local,
            const ChainsT &product) {
    std::copy_n(local.begin(), chains, totals.begin() + bundle.block);
    if constexpr (hasFactors)
      std::copy_n(product.begin(), chains, products.begin() + bundle.block);
  }

  Computed getX(int64_t place) const { return Element::load(source[place]); }
  Computed getFactor(int64_t place) const {
    if constexpr (hasFactors)
      return Element::load(factors[place]);
    else
      return Computed();
  }

  const Routine &routine;
  const Stored *source;
  const Stored *factors;
  Stored *result;
  /// Blocks of a line, and bundles of them.
  int64_t numBlocks, numBundles;
  /// Lines, or sets of lines, that are computed apart from each other.
  int64_t numLines;
  /// Of all blocks: what their elements make, with the product of their
  /// factors, and what comes before them.
  std::vector<Computed> totals, products, carries;
};
} // namespace

template <PrefixKind kind, typename Element>
Prefix<kind, Element>::Prefix(const Routine &routine, const void *source,
                              const void *factors, void *result)
    : routine(routine), source(static_cast<const Stored *>(source)),
      factors(static_cast<const Stored *>(factors)),
      result(static_cast<Stored *>(result)),
      numBlocks(llvm::divideCeil(routine.extent, kPrefixBlock)) {
  if (routine.inner > 1) {
    numBundles = numBlocks;
    numLines = routine.outer * llvm::divideCeil(routine.inner, kColumns);
  } else if (numBlocks > 1) {
    int64_t numWhole = routine.extent / kPrefixBlock;
    numBundles = llvm::divideCeil(numWhole, kChains) + (numBlocks - numWhole);
    numLines = routine.outer;
  } else {
    numBundles = 1;
    numLines = llvm::divideCeil(routine.outer, kChains);
  }
  if (numBlocks > 1) {
    size_t count = routine.outer * numBlocks * routine.inner;
    totals.resize(count);
    carries.resize(count);
    if (hasFactors)
      products.resize(count);
  }
}

template <PrefixKind kind, typename Element>
Bundle Prefix<kind, Element>::getBundle(int64_t line, int64_t number) const {
  int64_t extent = routine.extent, inner = routine.inner;
  int64_t direction = routine.isReverse ? -1 : 1;
  auto locate = [&](int64_t outer, int64_t k, int64_t column) {
    int64_t place = routine.isReverse ? extent - 1 - k : k;
    return (outer * extent + place) * inner + column;
  };
  if (inner > 1) {
    int64_t perOuter = llvm::divideCeil(inner, kColumns);
    int64_t outer = line / perOuter, column = line % perOuter * kColumns;
    int64_t begin = number * kPrefixBlock;
    int64_t chains = std::min(kColumns, inner - column);
    return {locate(outer, begin, column),
            1,
            direction * inner,
            chains,
            std::min(kPrefixBlock, extent - begin),
            (outer * numBlocks + number) * inner + column,
            number == 0 ? chains : 0,
            chains,
            extent - 1 - begin};
  }
  if (numBlocks == 1) {
    int64_t outer = line * kChains;
    int64_t chains = std::min(kChains, routine.outer - outer);
    return {locate(outer, 0, 0),
            extent,
            direction,
            chains,
            extent,
            0,
            chains,
            chains,
            extent - 1};
  }
  // The last block may be shorter than the others, and is alone then.
  int64_t numWhole = extent / kPrefixBlock;
  int64_t block = std::min(number * kChains, numWhole);
  bool isRest = block == numWhole;
  int64_t begin = block * kPrefixBlock;
  int64_t chains = isRest ? 1 : std::min(kChains, numWhole - block);
  return {locate(line, begin, 0),
          direction * kPrefixBlock,
          direction,
          chains,
          isRest ? extent - begin : kPrefixBlock,
          line * numBlocks + block,
          number == 0 ? 1 : 0,
          1,
          extent - 1 - (begin + (chains - 1) * kPrefixBlock)};
}

/// What all elements of each chain make.
template <PrefixKind kind, typename Element>
template <bool areNeighbours, int64_t numChains>
void Prefix<kind, Element>::addUp(const Bundle &bundle) {
  const int64_t distance = areNeighbours ? 1 : bundle.distance;
  const int64_t chains = numChains ? numChains : bundle.chains;
  Chains<numChains> local, product;
  begin(bundle.first, distance, chains, local, product);
  for (int64_t k = 1; k < bundle.length; ++k)
    step(bundle.first + k * bundle.step, distance, chains, local, product);
  note(bundle, chains, local, product);
}

/// The carries of the blocks that follow those of the bundle in their lines.
template <PrefixKind kind, typename Element>
void Prefix<kind, Element>::passOn(const Bundle &bundle) {
  int64_t inner = routine.inner;
  int64_t end = bundle.block + bundle.chains;
  for (int64_t block = bundle.block; block < end; ++block) {
    // Along a line of its own, a chain is followed by the next one.
    if (block / inner % numBlocks == numBlocks - 1)
      continue;
    bool isFirst = block - bundle.block < bundle.numFirst;
    carries[block + inner] =
        isFirst ? totals[block]
                : combine<kind>(carries[block], totals[block],
                                hasFactors ? products[block] : Computed());
  }
}

/// Also notes what the elements make: of neighbours, whose blocks come one
/// after another, it is not known before.
template <PrefixKind kind, typename Element>
template <bool areNeighbours, int64_t numChains>
void Prefix<kind, Element>::write(const Bundle &bundle) {
  const int64_t distance = areNeighbours ? 1 : bundle.distance;
  const int64_t chains = numChains ? numChains : bundle.chains;
  Chains<numChains> local, product, carry;
  if (bundle.numFirst < chains)
    std::copy_n(carries.begin() + bundle.block, chains, carry.begin());
  // An exclusive result lies one element on; the last one is nobody's.
  const int64_t shift = routine.isExclusive ? bundle.step : 0;
  auto store = [&](int64_t k) {
    int64_t written = chains;
    if (routine.isExclusive && k == bundle.lastElement)
      written -= bundle.numLast;
    int64_t plain = std::min(bundle.numFirst, written);
    Stored *to = result + bundle.first + k * bundle.step + shift;
    for (int64_t c = 0; c < plain; ++c)
      to[c * distance] = Element::store(local[c]);
    for (int64_t c = plain; c < written; ++c)
      to[c * distance] =
          Element::store(combine<kind>(carry[c], local[c], product[c]));
  };
  begin(bundle.first, distance, chains, local, product);
  store(0);
  for (int64_t k = 1; k < bundle.length; ++k) {
    step(bundle.first + k * bundle.step, distance, chains, local, product);
    store(k);
  }
  if (numBlocks > 1)
    note(bundle, chains, local, product);
  if (routine.isExclusive)
    for (int64_t c = 0; c < bundle.numFirst; ++c)
      result[bundle.first + c * distance] =
          Element::store(getIdentity<kind, Computed>());
}

template <PrefixKind kind, typename Element>
void Prefix<kind, Element>::run(ThreadPool &threads) {
  int64_t perLine = std::max<int64_t>(routine.countElements() / numLines, 1);
  int64_t grain = llvm::divideCeil(kElementsPerThread, perLine);
  bool hasFewLines = numLines / grain < int64_t(threads.getThreads());
  if (numBlocks == 1 || threads.getThreads() == 1 || !hasFewLines) {
    threads.parallelFor(numLines, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line)
        for (int64_t number = 0; number < numBundles; ++number) {
          Bundle bundle = getBundle(line, number);
          // Neighbours' carries come from the bundle before, which is written.
          bool needsTotals = numBlocks > 1 && routine.inner == 1;
          if (needsTotals) {
            addUp(bundle);
            passOn(bundle);
          }
          write(bundle);
          if (numBlocks > 1 && !needsTotals)
            passOn(bundle);
        }
    });
    return;
  }
  auto forEachBundle = [&](llvm::function_ref<void(const Bundle &)> visit) {
    int64_t perBundle = std::max<int64_t>(perLine / numBundles, 1);
    threads.parallelFor(numLines * numBundles,
                        llvm::divideCeil(kElementsPerThread, perBundle),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i)
                            visit(getBundle(i / numBundles, i % numBundles));
                        });
  };
  forEachBundle([&](const Bundle &bundle) { addUp(bundle); });
  for (int64_t line = 0; line < numLines; ++line)
    for (int64_t number = 0; number < numBundles; ++number)
      passOn(getBundle(line, number));
  forEachBundle([&](const Bundle &bundle) { write(bundle); });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

template <typename Element>
static void runOf(const Routine &routine, const void *source,
                  const void *factors, void *result, ThreadPool &threads) {
  auto run = [&](auto kind) {
    Prefix<decltype(kind)::value, Element>(routine, source, factors, result)
        .run(threads);
  };
  switch (routine.prefix) {
  case PrefixKind::Add:
    return run(std::integral_constant<PrefixKind, PrefixKind::Add>());
  case PrefixKind::Mul:
    return run(std::integral_constant<PrefixKind, PrefixKind::Mul>());
  case PrefixKind::Max:
    return run(std::integral_constant<PrefixKind, PrefixKind::Max>());
  case PrefixKind::Min:
    return run(std::integral_constant<PrefixKind, PrefixKind::Min>());
  case PrefixKind::Linear:
    return run(std::integral_constant<PrefixKind, PrefixKind::Linear>());
  case PrefixKind::LogAddExp:
    if constexpr (!std::is_integral_v<typename Element::Computed>)
      run(std::integral_constant<PrefixKind, PrefixKind::LogAddExp>());
    return;
  }
}

void metaops::runPrefix(const Routine &routine, const void *source,
                        const void *factors, void *result,
                        ThreadPool &threads) {
  auto run = [&](auto element) {
    runOf<decltype(element)>(routine, source, factors, result, threads);
  };
  switch (routine.dtype) {
  case DType::Bool: // not a number
    return;
  case DType::I8:
    return run(Plain<int8_t>());
  case DType::I16:
    return run(Plain<int16_t>());
  case DType::I32:
    return run(Plain<int32_t>());
  case DType::I64:
    return run(Plain<int64_t>());
  case DType::U8:
    return run(Plain<uint8_t>());
  case DType::U16:
    return run(Plain<uint16_t>());
  case DType::U32:
    return run(Plain<uint32_t>());
  case DType::U64:
    return run(Plain<uint64_t>());
  case DType::F16:
    return run(Half());
  case DType::BF16:
    return run(BFloat());
  case DType::F32:
    return run(Plain<float>());
  case DType::F64:
    return run(Plain<double>());
  }
}
