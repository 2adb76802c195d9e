//===- SingleLaneStores.h - Stores of one lane ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_JIT_SINGLELANESTORES_H
#define METAOPS_LIB_RUNTIME_JIT_SINGLELANESTORES_H

#include "llvm/IR/PassManager.h"

namespace metaops {

/// Makes masked stores of one lane, which is known, stores of an element. For
/// x86, LLVM 22 does so itself, but where the vector was truncated it stores
/// the element as wide as it was before: 8 bytes of an i64 that is cast to i32,
/// the last 4 of them over what comes next.
class StoreSingleLanesPass : public llvm::PassInfoMixin<StoreSingleLanesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_JIT_SINGLELANESTORES_H
