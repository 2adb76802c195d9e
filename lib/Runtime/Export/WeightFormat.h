//===- WeightFormat.h - Weights as bytes ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EXPORT_WEIGHTFORMAT_H
#define METAOPS_LIB_RUNTIME_EXPORT_WEIGHTFORMAT_H

#include "MetaOps/Runtime/Export/ProgramSignature.h"

namespace metaops {

/// Alignment of tensors of a section of weights, and of what follows them.
inline constexpr uint64_t kWeightAlignment = 64;

/// A tensor of a section of weights.
struct PlacedTensor {
  TensorSpec tensor;
  /// From the end of the header.
  uint64_t begin = 0;
};

/// The front of a section of weights, its size included, that holds the given
/// tensors one after the other, each at the next multiple of kWeightAlignment.
/// Its own size is such a multiple.
std::string writeWeightHeader(llvm::ArrayRef<TensorSpec> tensors);

/// Returns whether the name is one of those that gaps have.
bool isGapName(llvm::StringRef name);

/// Reads the JSON of a section of weights whose data has so many bytes. Tensors
/// are inside of the data, in the order of their names.
llvm::Expected<std::vector<PlacedTensor>> readWeightHeader(llvm::StringRef json,
                                                           uint64_t dataBytes);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_EXPORT_WEIGHTFORMAT_H
