//===- KernelImports.cpp - What kernels call ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of a file are looked up in a table, never in the process: what a
// file can ask for is known here, and is the same wherever the library is
// linked into. The table has what LLVM makes calls of when it lowers kernels:
// functions of `math` that have no instructions, loops that fill or copy
// memory, and the conversions of f16 and bf16 that a processor lacks. Functions
// of vectors have a library of their own, which is loaded when the first one is
// asked for: other C libraries and older ones have none.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Export/KernelImports.h"
#include "MetaOps/Support/BFloat16.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <iterator>

#ifdef __x86_64__
extern "C" {
void metaopsTruncateDoubleToHalf() asm("__truncdfhf2");
void metaopsTruncateSingleToHalf() asm("__truncsfhf2");
void metaopsExtendHalfToSingle() asm("__extendhfsf2");
}
#endif

namespace {
struct Import {
  llvm::StringLiteral name;
  void *address;
};
} // namespace

// Overloads for float have no names of their own in C++; C's have.
#define METAOPS_UNARY(name)                                                    \
  {#name, reinterpret_cast<void *>(static_cast<double (*)(double)>(::name))},  \
      {#name "f",                                                              \
       reinterpret_cast<void *>(static_cast<float (*)(float)>(::name##f))},
#define METAOPS_BINARY(name)                                                   \
  {#name,                                                                      \
   reinterpret_cast<void *>(static_cast<double (*)(double, double)>(::name))}, \
      {#name "f", reinterpret_cast<void *>(                                    \
                      static_cast<float (*)(float, float)>(::name##f))},

void *metaops::findKernelImport(llvm::StringRef name) {
  // Not static: addresses of other libraries are no constants, and this is not
  // asked often.
  const Import imports[] = {
      {"memcpy", reinterpret_cast<void *>(::memcpy)},
      {"memmove", reinterpret_cast<void *>(::memmove)},
      {"memset", reinterpret_cast<void *>(::memset)},
      // clang-format off
      METAOPS_UNARY(acos) METAOPS_UNARY(acosh) METAOPS_UNARY(asin)
      METAOPS_UNARY(asinh) METAOPS_UNARY(atan) METAOPS_UNARY(atanh)
      METAOPS_UNARY(cbrt) METAOPS_UNARY(ceil) METAOPS_UNARY(cos)
      METAOPS_UNARY(cosh) METAOPS_UNARY(erf) METAOPS_UNARY(erfc)
      METAOPS_UNARY(exp) METAOPS_UNARY(exp2) METAOPS_UNARY(expm1)
      METAOPS_UNARY(fabs) METAOPS_UNARY(floor) METAOPS_UNARY(lgamma)
      METAOPS_UNARY(log) METAOPS_UNARY(log10) METAOPS_UNARY(log1p)
      METAOPS_UNARY(log2) METAOPS_UNARY(nearbyint) METAOPS_UNARY(rint)
      METAOPS_UNARY(round) METAOPS_UNARY(roundeven) METAOPS_UNARY(sin)
      METAOPS_UNARY(sinh) METAOPS_UNARY(sqrt) METAOPS_UNARY(tan)
      METAOPS_UNARY(tanh) METAOPS_UNARY(tgamma) METAOPS_UNARY(trunc)
      METAOPS_BINARY(atan2) METAOPS_BINARY(copysign) METAOPS_BINARY(fmax)
      METAOPS_BINARY(fmin) METAOPS_BINARY(fmod) METAOPS_BINARY(hypot)
      METAOPS_BINARY(pow)
      // clang-format on
      {"fma", reinterpret_cast<void *>(
                  static_cast<double (*)(double, double, double)>(::fma))},
      {"fmaf", reinterpret_cast<void *>(
                   static_cast<float (*)(float, float, float)>(::fmaf))},
      {"ldexp",
       reinterpret_cast<void *>(static_cast<double (*)(double, int)>(::ldexp))},
      {"ldexpf",
       reinterpret_cast<void *>(static_cast<float (*)(float, int)>(::ldexpf))},
      // A sine and a cosine of one number.
      {"sincos",
       reinterpret_cast<void *>(
           static_cast<void (*)(double, double *, double *)>(::sincos))},
      {"sincosf",
       reinterpret_cast<void *>(
           static_cast<void (*)(float, float *, float *)>(::sincosf))},
      {"__truncsfbf2", reinterpret_cast<void *>(
                           static_cast<float (*)(float)>(truncateToBFloat16))},
#ifdef __x86_64__
      {"__extendhfsf2", reinterpret_cast<void *>(metaopsExtendHalfToSingle)},
      {"__truncdfhf2", reinterpret_cast<void *>(metaopsTruncateDoubleToHalf)},
      {"__truncsfhf2", reinterpret_cast<void *>(metaopsTruncateSingleToHalf)},
#endif
  };
  for (const Import &import : imports)
    if (import.name == name)
      return import.address;
  return findVectorFunction(name);
}

void *metaops::findVectorFunction(llvm::StringRef name) {
  if (!name.starts_with("_ZGV"))
    return nullptr;
  // It stays open: code that is in memory calls it.
  static void *const library = ::dlopen(kVectorMathLibrary, RTLD_NOW);
  return library ? ::dlsym(library, name.str().c_str()) : nullptr;
}
