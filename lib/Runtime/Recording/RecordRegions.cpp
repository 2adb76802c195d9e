//===- RecordRegions.cpp - Recording operations with regions --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Control flow is recorded as an operation with regions, built whole by the
// caller. Its captures (Captures.h) are operands of its nodes, behind the
// operation's own: so whatever goes by operands (walks, keys, what lives) goes
// by captures, too.
//
// All values of the session's block are tensors. A condition or a bound is read
// from one inside of a region: an scf.while reads it in its first region, and
// an scf.if or scf.for stands in an scf.execute_region.
//
// There are no derivatives of operations with regions. Their nodes keep their
// history nevertheless, and asking for a gradient through one is an error.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Compiler/Captures.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Runtime/Recording/Recorder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Adopting
//===----------------------------------------------------------------------===//

static std::string formatName(Operation *op) {
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

llvm::SmallVector<Node *, 4> Graph::findSources(Operation *op) const {
  llvm::SmallVector<Node *, 4> sources;
  for (Value operand : op->getOperands())
    sources.push_back(getNode(operand));
  if (op->getNumRegions() == 0)
    return sources;
  checkResults(op);
  for (Value capture : findCaptures(op))
    sources.push_back(getNode(capture));
  if (op->getBlock() != &block || llvm::is_contained(sources, nullptr))
    fail(ErrorKind::Value, formatName(op) + " takes a value that has not been "
                                            "recorded, or is not recorded "
                                            "itself");
  return sources;
}

Node *Recorder::recordRegions(
    llvm::ArrayRef<Node *> given,
    llvm::function_ref<Operation *(OpBuilder &, Location, ValueRange)> build) {
  context->loadDialect<scf::SCFDialect, tensor::TensorDialect>();
  auto values =
      llvm::map_to_vector(given, [](Node *node) { return node->value(); });
  Operation *op = build(at(), line, values);
  if (!op || op->getNumRegions() == 0)
    fail(ErrorKind::Value, (op ? formatName(op) : std::string("nothing")) +
                               " was built to be recorded, expected an "
                               "operation with regions");
  return adopt(op);
}
