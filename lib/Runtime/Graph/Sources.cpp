//===- Sources.cpp - Sources of nodes -------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sources of a node are the nodes of the operation's operands and, of an
// operation with regions, of its captures (ControlFlow.h) behind them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Slice.h"

using namespace mlir;
using namespace metaops;

std::string metaops::formatName(Operation *op) {
  return ("'" + op->getName().getStringRef() + "'").str();
}

static bool isValueOfNode(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding() &&
         fromElementType(tensor.getElementType());
}

/// The results have to be such as nodes are made for.
static void checkResults(Operation *op) {
  if (op->getNumResults() == 0)
    fail(ErrorKind::Value,
         formatName(op) + " has no result; expected one or more");
  for (OpResult result : op->getResults()) {
    if (isValueOfNode(result.getType()))
      continue;
    std::string type;
    llvm::raw_string_ostream(type) << result.getType();
    fail(ErrorKind::Type, "result " + llvm::Twine(result.getResultNumber()) +
                              " of " + formatName(op) + " is " + type +
                              ", expected a tensor of a static shape");
  }
}

/// Values of two graphs meet, one of which is of a function that is, or was,
/// being recorded.
[[noreturn]] static void failForeign(Operation *op) {
  fail(ErrorKind::Runtime,
       formatName(op) +
           " takes a value of a function that is recorded beside "
           "one of another; give it to the function as an argument");
}

llvm::SmallVector<Node *, 4> Graph::findSources(Operation *op) const {
  llvm::SmallVector<Node *, 4> sources;
  for (Value operand : op->getOperands())
    sources.push_back(getNode(operand));
  if (op->getNumRegions() == 0) {
    if (llvm::is_contained(sources, nullptr))
      failForeign(op);
    return sources;
  }
  checkResults(op);
  for (Value capture : metaop::findCaptures(op))
    sources.push_back(getNode(capture));
  if (op->getBlock() != &block || llvm::is_contained(sources, nullptr))
    fail(ErrorKind::Value, formatName(op) + " takes a value that has not been "
                                            "recorded, or is not recorded "
                                            "itself");
  return sources;
}
