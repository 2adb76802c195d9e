//===- ExternOps.cpp - Calls of code of the user's own --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"

using namespace mlir;
using namespace mlir::metaop;

/// Makes all: the code is given places for its outputs.
bool ExternOp::makes(OpResult) { return true; }

bool ExternOp::mayFail() { return true; }

LogicalResult ExternOp::verify() {
  // (C1)
  if (getOutputs().empty())
    return emitOpError("expects an output");
  // (C2)
  auto first = cast<RankedTensorType>(getOutputs().front().getType());
  if (static_cast<int64_t>(getParallel()) > first.getRank())
    return emitOpError("expects a first output of ")
           << getParallel() << " dimensions to be shared, given " << first;
  return success();
}
