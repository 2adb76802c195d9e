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

  // The sum of the loss's elements is differentiated.
  Node *seed =
      recordSplat(loss.shape(), fillOf(Number::ofInt(1), loss.dtype()));
  auto values = llvm::map_to_vector(nodes, [](Node *n) { return n->value(); });
  auto isStopped = [&](Operation *op) { return graph.getNode(op)->isStopped; };
  llvm::SmallVector<Value> gradients = check(metaop::differentiate(
      at(), loss.node->value(), seed->value(), values, isStopped));
  graph.adoptAfter(seed->op);
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
