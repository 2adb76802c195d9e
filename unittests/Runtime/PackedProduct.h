//===- PackedProduct.h - A program that packs a factor ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_PACKEDPRODUCT_H
#define METAOPS_UNITTESTS_RUNTIME_PACKEDPRODUCT_H

#include "llvm/ADT/StringRef.h"

namespace metaops {

/// A product by the rows of w, which are packed as columns.
inline constexpr llvm::StringLiteral packedProduct =
    "func.func @main(%x: tensor<256x512xf32>, %w: tensor<128x512xf32>) -> "
    "tensor<256x128xf32> {\n"
    "  %0 = metaop.broadcast %x dims = [0, 2] : tensor<256x512xf32> -> "
    "tensor<256x128x512xf32>\n"
    "  %1 = metaop.broadcast %w dims = [1, 2] : tensor<128x512xf32> -> "
    "tensor<256x128x512xf32>\n"
    "  %2 = metaop.mul %0, %1 : tensor<256x128x512xf32>\n"
    "  %3 = metaop.reduce add %2 dims = [2] : tensor<256x128x512xf32> -> "
    "tensor<256x128xf32>\n"
    "  return %3 : tensor<256x128xf32>\n}\n";

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_PACKEDPRODUCT_H
