//===- ProgramSizes.h - Functions of several sizes --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EXPORT_PROGRAMSIZES_H
#define METAOPS_LIB_RUNTIME_EXPORT_PROGRAMSIZES_H

#include "MetaOps/Runtime/Export/ProgramSignature.h"
#include "llvm/Support/JSON.h"

namespace metaops {

/// More than any memory; sums of a few do not overflow.
inline constexpr int64_t kMaxTensorBytes =
    std::numeric_limits<int64_t>::max() / 8;

/// Fails unless extents and programs agree with the inputs, the outputs and the
/// number of the file's weights.
llvm::Error verifySizes(const FunctionSignature &function, size_t numWeights);

/// Fails unless the arguments are so many inputs, and weights that there are.
llvm::Error verifyArguments(llvm::StringRef function,
                            llvm::ArrayRef<std::optional<unsigned>> arguments,
                            size_t numInputs, size_t numWeights);

/// Writes extents and programs as members of the function's object.
void writeSizes(llvm::json::OStream &stream, const FunctionSignature &function);

/// Reads what `writeSizes` writes, but for the dimensions of the extents.
llvm::Error readSizes(const llvm::json::Object &object,
                      FunctionSignature &function);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_EXPORT_PROGRAMSIZES_H
