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
#include "MetaOps/Runtime/Session/Session.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <limits>

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

std::vector<Var> Session::recordRegions(
    llvm::ArrayRef<const Var *> given,
    llvm::function_ref<Operation *(OpBuilder &, Location, ValueRange)> build) {
  context.loadDialect<scf::SCFDialect, tensor::TensorDialect>();
  auto values = llvm::map_to_vector(
      given, [](const Var *var) { return var->node->value(); });
  Operation *op = build(at(), line, values);
  if (!op || op->getNumRegions() == 0)
    fail(ErrorKind::Value, (op ? formatName(op) : std::string("nothing")) +
                               " was built to be recorded, expected an "
                               "operation with regions");
  return wrapResults(adopt(op));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

Node *Graph::findRegions(Node *root, llvm::ArrayRef<Node *> targets) {
  // What is older than all targets depends on none of them.
  uint64_t first = std::numeric_limits<uint64_t>::max();
  llvm::SmallPtrSet<Node *, 16> isTarget;
  for (Node *target : targets) {
    first = std::min(first, target->order);
    isTarget.insert(target);
  }
  struct Frame {
    Node *node;
    unsigned next;
  };
  std::vector<Frame> stack;
  uint32_t mark = startTraversal();
  // The position says whether the value depends on a target.
  auto enter = [&](Node *node) {
    if (node->epoch == mark)
      return;
    node->epoch = mark;
    node->position = isTarget.contains(node);
    if (node->order >= first && isFlowing(node))
      stack.push_back({node, 0});
  };
  enter(root);
  while (!stack.empty()) {
    Node *node = stack.back().node;
    if (stack.back().next < node->operands.size()) {
      enter(node->operands[stack.back().next++]);
      continue;
    }
    stack.pop_back();
    bool depends = llvm::any_of(
        node->operands, [](Node *operand) { return operand->position != 0; });
    if (depends && getInfo(node).hasRegions)
      return node;
    node->position |= depends;
  }
  return nullptr;
}

void Session::checkDifferentiable(llvm::StringRef function,
                                  llvm::ArrayRef<const Var *> outputs,
                                  llvm::ArrayRef<const Var *> targets) {
  if (!graph.hasRegions())
    return;
  auto nodes = llvm::map_to_vector(
      targets, [](const Var *target) { return target->node; });
  for (const Var *output : outputs)
    if (Node *node = graph.findRegions(output->node, nodes))
      fail(ErrorKind::Runtime,
           function + ": there is no derivative of " + formatName(node->op) +
               ", recorded at " + formatLine(node->op->getLoc()) +
               ", through which " +
               (function == "grad" ? "the loss depends on a target"
                                   : "an output depends on an input") +
               "; detach its results, if no gradient is to flow through them");
}
