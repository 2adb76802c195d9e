//===- FunctionSweep.cpp - Asking functions for derivatives ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. What the sweep has emitted gets nodes, and what it goes on to read is
//    pinned: each value once, so that n functions cost n times what one does.
// 2. The session is left, so that the function may use it, as others may.
// 3. What the function has returned is pinned, and the sweep goes on with it.
//
// If the function throws, the sweep ends, and nobody holds what it has made.
//
//===----------------------------------------------------------------------===//

#include "FunctionSweep.h"

#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Recording/RecordingSession.h"

using namespace mlir;
using namespace metaops;

FunctionSweep::FunctionSweep(RecordingSession *session, Graph &graph,
                             llvm::StringRef function,
                             llvm::ArrayRef<Node *> outputs,
                             llvm::ArrayRef<Node *> targets, Operation *last,
                             std::function<void(Operation *)> adoptAfter,
                             std::vector<NodeRef> *given)
    : session(session), graph(graph), function(function.str()),
      outputs(outputs), targets(targets), last(last),
      adoptAfter(std::move(adoptAfter)), given(given) {}

FunctionSweep::~FunctionSweep() {
  graph.leaveSweep(visited);
  graph.leaveSweep(made);
  llvm::for_each(made, [&](Node *node) { graph.unpin(node); });
}

bool FunctionSweep::knows(metaop::CustomDerivativeOp op) {
  return session && graph.getCall(op);
}

void FunctionSweep::begin(llvm::ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    llvm::append_range(visited, resultsOf(graph.getNode(op)));
  for (Node *output : outputs)
    llvm::append_range(visited, resultsOf(output));
  for (Node *target : targets)
    llvm::append_range(visited, resultsOf(target));
  graph.enterSweep(visited);
}

void FunctionSweep::keep(Node *node) {
  graph.pin(node);
  graph.enterSweep(node);
  made.push_back(node);
}

llvm::Expected<llvm::SmallVector<Value>>
FunctionSweep::ask(Method method, metaop::CustomDerivativeOp op,
                   llvm::ArrayRef<Value> values,
                   llvm::ArrayRef<Value> stillRead) {
  try {
    adoptAfter(last);
    for (Value value : stillRead)
      keep(graph.getNode(value));
    std::vector<Var> vars;
    for (Value value : values) {
      Node *node = value ? graph.getNode(value) : nullptr;
      if (node && given)
        given->emplace_back(node);
      vars.push_back(node ? session->wrap(node) : Var());
    }
    std::shared_ptr<FunctionCall> call = graph.getCall(op);
    std::vector<Var> results;
    session->leaveWhile(*call,
                        [&] { results = ((*call).*method)(std::move(vars)); });
    llvm::SmallVector<Value> returned;
    for (Var &result : results) {
      Node *node = result ? session->getNode(result) : nullptr;
      if (node)
        keep(node);
      returned.push_back(node ? node->value() : Value());
    }
    last = &graph.getBlock().back();
    return returned;
  } catch (...) {
    exception = std::current_exception();
    return llvm::createStringError("a function has thrown");
  }
}

llvm::Expected<llvm::SmallVector<Value>>
FunctionSweep::pullBack(metaop::CustomDerivativeOp op,
                        llvm::ArrayRef<Value> cotangents,
                        llvm::ArrayRef<Value> stillRead) {
  return ask(&FunctionCall::pullBack, op, cotangents, stillRead);
}

llvm::Expected<llvm::SmallVector<Value>>
FunctionSweep::pushForward(metaop::CustomDerivativeOp op,
                           llvm::ArrayRef<Value> tangents,
                           llvm::ArrayRef<Value> stillRead) {
  return ask(&FunctionCall::pushForward, op, tangents, stillRead);
}

llvm::Error FunctionSweep::describeCapture(metaop::CustomDerivativeOp op,
                                           Value capture) {
  const Node *node = graph.getNode(capture);
  return llvm::createStringError(
      (function + ": " + op.getFunction() + " at " + formatLine(op->getLoc()) +
       " reads a value of shape " + formatShape(node->shape()) + " from " +
       formatLine(node->op->getLoc()) +
       " that depends on a target, and that is no argument of it, so that its "
       "derivatives say nothing of that; give it to the function as an "
       "argument, or detach it")
          .str());
}

void FunctionSweep::failMissing(llvm::StringRef function,
                                metaop::CustomDerivativeOp op) {
  bool isForward = function == "jvp";
  std::string which =
      (op.getFunction() + ", recorded at " + formatLine(op->getLoc())).str();
  if (isForward ? op.getTangentRule() : op.getGradientRule())
    fail(ErrorKind::Runtime,
         function + ": " + which +
             ", reads what depends on a target, and is no argument of it; give "
             "it to the function as an argument, or detach it");
  if (isForward && op.getGradientRule())
    fail(ErrorKind::NoForwardMode,
         function + ": " + which +
             ", has no jvp, which forward mode needs; give it one, or ask for "
             "gradients (mo.vjp)");
  fail(ErrorKind::Runtime,
       function + ": the derivatives of " + which +
           ", are not known behind the recorded function: it has no grad, or "
           "is called by a grad that is called by a grad; ask for these "
           "derivatives in the recorded function");
}

llvm::Error FunctionSweep::describeMissing(metaop::CustomDerivativeOp op) {
  try {
    failMissing(function, op);
  } catch (const SessionError &error) {
    exception = std::current_exception();
    return llvm::createStringError(error.what());
  }
}

llvm::SmallVector<Value>
FunctionSweep::expect(llvm::Expected<llvm::SmallVector<Value>> values) {
  if (!values && exception) {
    llvm::consumeError(values.takeError());
    std::rethrow_exception(exception);
  }
  return check(std::move(values));
}
