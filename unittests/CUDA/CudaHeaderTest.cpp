//===- CudaHeaderTest.cpp - Our declarations beside cuda.h ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built where a toolkit's cuda.h is. Opaque things are pointers there and here,
// and numbers of enumerations are integers here.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CUDA/GraphNodes.h"
#include "gtest/gtest.h"

#include <cuda.h>

using namespace metaops;

namespace {

template <typename OursT, typename TheirsT> constexpr bool isLike() {
  if constexpr (std::is_pointer_v<OursT> && std::is_pointer_v<TheirsT>) {
    using Ours = std::remove_pointer_t<OursT>;
    using Theirs = std::remove_pointer_t<TheirsT>;
    if (std::is_const_v<Ours> != std::is_const_v<Theirs>)
      return false;
    // An opaque thing may be any.
    if constexpr (std::is_void_v<Ours>)
      return !std::is_pointer_v<Theirs>;
    else if constexpr (std::is_class_v<Ours>)
      return sizeof(Ours) == sizeof(Theirs);
    else
      return isLike<std::remove_const_t<Ours>, std::remove_const_t<Theirs>>();
  } else if constexpr (std::is_arithmetic_v<OursT> && std::is_enum_v<TheirsT>) {
    return std::is_integral_v<OursT> && sizeof(OursT) == sizeof(TheirsT);
  } else if constexpr (std::is_integral_v<OursT> &&
                       std::is_integral_v<TheirsT>) {
    return sizeof(OursT) == sizeof(TheirsT) &&
           std::is_signed_v<OursT> == std::is_signed_v<TheirsT>;
  } else {
    return std::is_same_v<OursT, TheirsT>;
  }
}

template <typename... OursT, typename... TheirsT>
constexpr bool areLike(DriverResult (*)(OursT...), CUresult (*)(TheirsT...)) {
  if constexpr (sizeof...(OursT) == sizeof...(TheirsT))
    return (isLike<OursT, TheirsT>() && ...);
  else
    return false;
}

#define METAOPS_TEXT_OF(text) #text
#define METAOPS_TEXT(macro) METAOPS_TEXT_OF(macro)

struct Declaration {
  const char *ours;
  /// With the macros of cuda.h expanded.
  const char *theirs;
  bool isLike;
};

// Parameters are a list in parentheses, and names are those of functions.
// NOLINTBEGIN(bugprone-macro-parentheses)
constexpr Declaration kDeclarations[] = {
#define METAOPS_CHECK(member, name, version, parameters)                       \
  {#name version, METAOPS_TEXT(name),                                          \
   areLike(static_cast<DriverResult(*) parameters>(nullptr),                   \
           static_cast<decltype(&name)>(nullptr))},
    METAOPS_DRIVER_FUNCTIONS(METAOPS_CHECK)
        METAOPS_OPTIONAL_DRIVER_FUNCTIONS(METAOPS_CHECK)
#undef METAOPS_CHECK
};
// NOLINTEND(bugprone-macro-parentheses)

TEST(CudaHeaderTest, declarationsAreThoseOfTheHeader) {
  for (const Declaration &declaration : kDeclarations) {
    EXPECT_TRUE(declaration.isLike) << declaration.ours;
    // CUDA 13 has another one, which older drivers lack.
    if (std::string(declaration.ours) != "cuEventElapsedTime")
      EXPECT_STREQ(declaration.ours, declaration.theirs);
  }
}

template <typename OursT, typename TheirsT> constexpr bool isLikeStructure() {
  return sizeof(OursT) == sizeof(TheirsT) &&
         std::is_standard_layout_v<OursT> == std::is_standard_layout_v<TheirsT>;
}

TEST(CudaHeaderTest, structuresAreThoseOfTheHeader) {
  static_assert(isLikeStructure<KernelNode, CUDA_KERNEL_NODE_PARAMS_v2>());
  static_assert(offsetof(KernelNode, sharedBytes) ==
                offsetof(CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes));
  static_assert(offsetof(KernelNode, arguments) ==
                offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kernelParams));
  static_assert(offsetof(KernelNode, context) ==
                offsetof(CUDA_KERNEL_NODE_PARAMS_v2, ctx));
  static_assert(isLikeStructure<CopyNode, CUDA_MEMCPY3D>());
  static_assert(offsetof(CopyEnd, device) ==
                offsetof(CUDA_MEMCPY3D, srcDevice));
  static_assert(offsetof(CopyEnd, pitch) == offsetof(CUDA_MEMCPY3D, srcPitch));
  static_assert(offsetof(CopyNode, to) == offsetof(CUDA_MEMCPY3D, dstXInBytes));
  static_assert(offsetof(CopyNode, bytes) ==
                offsetof(CUDA_MEMCPY3D, WidthInBytes));
  static_assert(CopyEnd::kHost == CU_MEMORYTYPE_HOST &&
                CopyEnd::kDevice == CU_MEMORYTYPE_DEVICE);
  static_assert(isLikeStructure<FillNode, CUDA_MEMSET_NODE_PARAMS>());
  static_assert(offsetof(FillNode, elementBytes) ==
                offsetof(CUDA_MEMSET_NODE_PARAMS, elementSize));
  static_assert(offsetof(FillNode, height) ==
                offsetof(CUDA_MEMSET_NODE_PARAMS, height));
}

TEST(CudaHeaderTest, othersAreFound) {
  static_assert(isLike<DriverHandle, CUstream>());
  static_assert(isLike<DriverHandle *, CUcontext *>());
  static_assert(isLike<DevicePointer, CUdeviceptr>());
  static_assert(!isLike<DriverHandle, CUstream *>());
  static_assert(!isLike<int, unsigned>());
  static_assert(!isLike<int, size_t>());
  static_assert(!isLike<void *, const void *>());
  static_assert(!isLike<DevicePointer, CUdeviceptr *>());
}

} // namespace
