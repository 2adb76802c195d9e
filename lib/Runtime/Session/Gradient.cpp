//===- Gradient.cpp - Derivatives of the block ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Runtime/Session/Session.h"
#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <limits>

using namespace mlir;
using namespace metaops;

/// Gives nodes to what differentiation has emitted after `last`. Where slices
/// start is a number beside the program, as in what the user records.
void Session::adoptDerivatives(Operation *last) {
  std::vector<std::pair<Operation *, int64_t>> numbers;
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
           std::next(Block::iterator(last)), graph.getBlock().end()))) {
    auto constant = dyn_cast<metaop::ConstantOp>(op);
    auto value = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue())
                          : DenseIntElementsAttr();
    if (!value || constant.getType().getRank() != 0 ||
        value.getSplatValue<llvm::APInt>().isZero() ||
        !llvm::all_of(op.getUsers(), llvm::IsaPred<metaop::SliceOp>))
      continue;
    OpBuilder::InsertionGuard guard(graph.getBuilder());
    graph.getBuilder().setInsertionPoint(&op);
    auto scalar = metaop::ScalarOp::create(graph.getBuilder(), op.getLoc(),
                                           constant.getType());
    numbers.emplace_back(scalar,
                         value.getSplatValue<llvm::APInt>().getSExtValue());
    constant.replaceAllUsesWith(scalar.getResult());
    op.erase();
  }
  graph.adoptAfter(last);
  for (auto [op, number] : numbers)
    graph.getNode(op)->scalar = number;
}

//===----------------------------------------------------------------------===//
// What has no derivatives
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
           function + ": there is no derivative of '" +
               node->op->getName().getStringRef() + "', recorded at " +
               formatLine(node->op->getLoc()) + ", through which " +
               (function == "grad" ? "the loss depends on a target"
                                   : "an output depends on an input") +
               "; detach its results, if no gradient is to flow through them");
}

[[noreturn]] static void failEnded(const Node *node, int64_t depth) {
  fail(ErrorKind::Runtime,
       "grad: the loss depends on a target through a value of shape " +
           formatShape(node->shape()) + " from " +
           formatLine(node->op->getLoc()) +
           ", of whose history only the last " + llvm::Twine(depth) +
           " programs are kept; keep Vars of the values between, ask for less "
           "on the way, or set mo.flags.history_depth; or detach the value, if "
           "no gradient is to flow through it");
}

static void checkFloat(llvm::StringRef function, const Var &var,
                       llvm::StringRef what) {
  if (!isFloat(var.dtype()))
    fail(ErrorKind::Type, function + ": " + what + " is " +
                              nameOf(var.dtype()) + ", expected floats");
}

llvm::SmallVector<Node *>
Session::prepareDerivatives(llvm::ArrayRef<const Var *> outputs,
                            llvm::ArrayRef<const Var *> targets) {
  llvm::SmallVector<Node *> nodes;
  for (const Var *target : targets)
    nodes.push_back(target->node);
  // Fresh parameters have to be there for the first iteration to be the same
  // program as the next ones.
  computeInitialValues(nodes);
  computeReplacements(nodes);
  for (const Var *output : outputs)
    if (const Node *ended = graph.findEnded(output->node, nodes))
      failEnded(ended, settings.historyDepth);
  for (Node *target : nodes)
    target->isTarget = true;
  for (const Var *output : outputs)
    output->node->isDifferentiated = true;
  return nodes;
}

/// What is older than all targets depends on none of them: the steps before of
/// a loop, of whose values the targets are the last.
static uint64_t getFirstOrder(llvm::ArrayRef<Node *> targets) {
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (Node *target : targets)
    first = std::min(first, target->order);
  return first;
}

std::vector<Var> Session::adoptResults(Operation *last,
                                       llvm::ArrayRef<Value> values,
                                       llvm::ArrayRef<Node *> like) {
  adoptDerivatives(last);
  auto results = llvm::map_to_vector(
      values, [&](Value value) { return graph.getNode(value); });
  // Zeros, where nothing depends on a target.
  for (auto [result, node] : llvm::zip_equal(results, like))
    if (!result->device)
      result->device = node->device;
  if (graph.getNumDonated() > 0)
    if (Node *overwritten = findOverwritten(graph, results))
      failOverwritten(overwritten);
  std::vector<Var> vars;
  for (Node *result : results)
    vars.push_back(wrap(result));
  return vars;
}

std::vector<Var> Session::grad(const Var &loss,
                               llvm::ArrayRef<const Var *> targets) {
  checkFloat("grad", loss, "the loss");
  for (const Var *target : targets)
    checkFloat("grad", *target, "a target");
  checkDifferentiable("grad", &loss, targets);
  llvm::SmallVector<Node *> nodes = prepareDerivatives(&loss, targets);

  // The sum of the loss's elements is differentiated.
  Node *seed = recorder.constant(loss.shape(), Number::ofInt(1), loss.dtype());
  seed->device = loss.node->device;
  auto values = llvm::map_to_vector(nodes, [](Node *n) { return n->value(); });
  uint64_t first = getFirstOrder(nodes);
  auto isStopped = [&](Operation *op) {
    const Node *node = graph.getNode(op);
    return node->isStopped || node->order < first;
  };
  auto getNumber = [&](Value value) -> std::optional<int64_t> {
    Node *node = graph.getNode(value);
    if (!node || !node->isScalar || node->dtype != DType::I64)
      return std::nullopt;
    return static_cast<int64_t>(node->scalar);
  };
  llvm::SmallVector<Value> gradients =
      check(metaop::differentiate(graph.getBuilder(), loss.node->value(),
                                  seed->value(), values, isStopped, getNumber));
  std::vector<Var> vars = adoptResults(seed->op, gradients, nodes);
  // The seed, where nothing depends on the loss.
  graph.release(seed);
  return vars;
}

std::vector<Var> Session::jvp(llvm::ArrayRef<const Var *> outputs,
                              llvm::ArrayRef<const Var *> inputs,
                              llvm::ArrayRef<const Var *> tangents) {
  if (inputs.size() != tangents.size())
    fail(ErrorKind::Value, "jvp: " + llvm::Twine(inputs.size()) +
                               " inputs and " + llvm::Twine(tangents.size()) +
                               " tangents given");
  for (const Var *output : outputs)
    checkFloat("jvp", *output, "an output");
  for (auto [input, tangent] : llvm::zip(inputs, tangents)) {
    checkFloat("jvp", *input, "an input");
    checkFloat("jvp", *tangent, "a tangent");
    if (input->shape() != tangent->shape())
      fail(ErrorKind::Value,
           "jvp: an input has shape " + formatShape(input->shape()) +
               ", its tangent " + formatShape(tangent->shape()));
  }
  checkDifferentiable("jvp", outputs, inputs);
  llvm::SmallVector<Node *> nodes = prepareDerivatives(outputs, inputs);
  llvm::SmallVector<Value> ofOutputs, ofInputs, ofTangents;
  llvm::SmallVector<Node *> casts;
  for (const Var *output : outputs)
    ofOutputs.push_back(output->node->value());
  for (auto [node, tangent] : llvm::zip(nodes, tangents)) {
    Node *direction = recorder.cast(tangent->node, node->dtype);
    if (direction != tangent->node)
      casts.push_back(direction);
    ofInputs.push_back(node->value());
    ofTangents.push_back(direction->value());
  }
  uint64_t first = getFirstOrder(nodes);
  auto isStopped = [&](Operation *op) {
    const Node *node = graph.getNode(op);
    return node->isStopped || node->order < first;
  };
  Operation *last = &graph.getBlock().back();
  llvm::SmallVector<Value> moved = check(metaop::pushForward(
      graph.getBuilder(), ofOutputs, ofInputs, ofTangents, isStopped));
  std::vector<Var> vars = adoptResults(
      last, moved, llvm::map_to_vector(outputs, [](const Var *output) {
        return output->node;
      }));
  // Of tangents of what no output depends on.
  for (Node *cast : casts)
    graph.release(cast);
  return vars;
}
