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

using namespace mlir;
using namespace metaops;

Node *Session::recordStop(Node *x, bool gradient) {
  if (gradient)
    return adopt(metaop::StopGradOp::create(at(), line, x->type(), x->value()));
  return adopt(metaop::StopFuseOp::create(at(), line, x->type(), x->value()));
}

Var Session::stopGrad(const Var &x) {
  return wrap(recordStop(x.node, /*gradient=*/true));
}

Var Session::stopFuse(const Var &x) {
  return wrap(recordStop(x.node, /*gradient=*/false));
}

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
    OpBuilder::InsertionGuard guard(at());
    at().setInsertionPoint(&op);
    auto scalar =
        metaop::ScalarOp::create(at(), op.getLoc(), constant.getType());
    numbers.emplace_back(scalar,
                         value.getSplatValue<llvm::APInt>().getSExtValue());
    constant.replaceAllUsesWith(scalar.getResult());
    op.erase();
  }
  graph.adoptAfter(last);
  for (auto [op, number] : numbers)
    graph.getNode(op)->scalar = number;
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

std::vector<Var> Session::grad(const Var &loss,
                               llvm::ArrayRef<const Var *> targets) {
  auto checkFloat = [](const Var &var, llvm::StringRef what) {
    if (!isFloat(var.dtype()))
      fail(ErrorKind::Type, "grad: " + what + " is " + nameOf(var.dtype()) +
                                ", expected floats");
  };
  checkFloat(loss, "the loss");
  llvm::SmallVector<Node *> nodes;
  for (const Var *target : targets) {
    checkFloat(*target, "a target");
    nodes.push_back(target->node);
  }
  // Fresh parameters have to be there for the first iteration to be the same
  // program as the next ones.
  computeInitialValues(nodes);
  computeReplacements(nodes);
  if (const Node *ended = graph.findEnded(loss.node, nodes))
    failEnded(ended, historyDepth);
  for (Node *target : nodes)
    target->isTarget = true;
  loss.node->isDifferentiated = true;

  // The sum of the loss's elements is differentiated.
  Node *seed =
      recordSplat(loss.shape(), fillOf(Number::ofInt(1), loss.dtype()));
  auto values = llvm::map_to_vector(nodes, [](Node *n) { return n->value(); });
  // What is older than all targets depends on none of them: the steps before of
  // a loop, of whose values the targets are the last.
  uint64_t first = loss.node->order;
  for (Node *target : nodes)
    first = std::min(first, target->order);
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
  llvm::SmallVector<Value> gradients = check(metaop::differentiate(
      at(), loss.node->value(), seed->value(), values, isStopped, getNumber));
  adoptDerivatives(seed->op);
  llvm::SmallVector<Node *> results;
  for (Value gradient : gradients)
    results.push_back(graph.getNode(gradient));
  if (graph.getNumDonated() > 0)
    if (Node *overwritten = findOverwritten(graph, results))
      failOverwritten(overwritten);

  std::vector<Var> vars;
  for (Node *result : results)
    vars.push_back(wrap(result));
  // The seed, where nothing depends on the loss.
  graph.release(seed);
  return vars;
}
