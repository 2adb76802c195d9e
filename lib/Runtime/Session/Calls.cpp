//===- Calls.cpp - Calls of recorded functions ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call is launched if it can be (RepeatedCall.cpp). Else its operations are
// recorded, and it is run at once where nothing else is in its program, which
// later calls may then launch (CallNotes.cpp).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/RepeatedCall.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"

using namespace mlir;
using namespace metaops;

using Source = RepeatedCall::Source;

/// Records a call, and runs it where nothing else is in its program.
void SessionImpl::recordCall(Session &session, RepeatedCall &call,
                             const CallRequest &request,
                             std::optional<std::vector<Var>> &results) {
  const RecordedFunction &function = request.function;
  Device &on = findDevice(request.arguments);
  bool mayRepeat = isAlone(request.arguments, on);
  Device &current = devices.getCurrent();
  devices.setCurrent(on);
  std::vector<Var> numbers = function.makeNumbers(session, request.numbers);
  devices.setCurrent(current);
  llvm::SmallVector<Var *, 32> arguments(request.arguments);
  CallValues values;
  for (auto [index, number] : llvm::enumerate(numbers)) {
    arguments.push_back(&number);
    values.numbers[number.getNode()] = {Source::Kind::Number, unsigned(index)};
  }
  values.arguments = request.arguments;
  for (const Var *argument : request.arguments)
    values.before.push_back(argument->getNode());
  for (unsigned number : request.donated)
    values.given.emplace_back(request.arguments[number]->getNode());
  results = function.replay(
      session, arguments, RecordedFunction::Mode::Call,
      [&](const Node *node, const RecordedFunction::Step &step) {
        values.addNumber(node, step);
      });
  for (unsigned number : request.donated)
    session.giveAway(*request.arguments[number]);
  for (const StepOfCall &step : request.steps) {
    if (step.outcome->mayChangeNumbers())
      for (auto [index, number] : llvm::enumerate(numbers))
        if (std::optional<unsigned> own = step.find(index))
          step.outcome->setPlace(NodeRef(number.getNode()),
                                 {*own, number.dtype()});
    updates.watch(step.outcome);
  }
  values.results = *results;
  if (!mayRepeat)
    return;
  try {
    endCall(call, function, values);
  } catch (...) {
    // The caller has no results, and keeps what they would be made of.
    for (auto [number, value] : llvm::zip_equal(request.donated, values.given))
      if (Node *node = value.get(); node && !node->isDonated)
        *request.arguments[number] = session.wrap(node);
    throw;
  }
}

void SessionImpl::finishCall() { runner.waitUnlessAsynchronous(); }

/// Returns the values of the arguments that a call rebinds.
static llvm::SmallVector<Node *, 16> findRebound(const CallRequest &request) {
  return llvm::map_to_vector<16>(
      request.function.getRebound(),
      [&](unsigned number) { return request.arguments[number]->getNode(); });
}

/// Returns whether all that a call reads is in memory, or will be when updates
/// that are pending have been run.
static bool areThere(const CallRequest &request) {
  llvm::SmallVector<bool, 32> isThere =
      llvm::map_to_vector<32>(request.arguments, [](const Var *argument) {
        return argument->getNode()->isLeaf();
      });
  for (unsigned number : request.function.getRebound())
    isThere[number] = true;
  return llvm::all_of(isThere, [](bool is) { return is; });
}

/// Throws where an argument that is given away is another shape of a value that
/// is not.
void SessionImpl::checkDonated(const CallRequest &request) {
  for (unsigned number : request.donated) {
    const Node *node = request.arguments[number]->getNode();
    if (!graph.getInfo(node).isView || node->operands.empty())
      continue;
    const Node *source = node->viewed();
    if (source->vars > 0 && source->type() != node->type())
      fail(ErrorKind::Value,
           "a call is to write over an argument of shape " +
               formatShape(node->shape()) +
               " that is a view of another tensor, of shape " +
               formatShape(source->shape()) +
               "; expected that one, or one with memory of its own");
  }
}

/// Throws where the function differentiates by an argument of which it uses
/// another one that is made of it.
void SessionImpl::checkHistories(const CallRequest &request,
                                 OutsidePaths &paths) {
  auto ofNumbers = [&](llvm::ArrayRef<unsigned> numbers) {
    return llvm::map_to_vector(numbers, [&](unsigned number) -> const Var * {
      return request.arguments[number];
    });
  };
  for (const InsideDerivatives &each : request.function.getDifferentiated()) {
    // As a rule nothing that is given has a history.
    llvm::SmallVector<Node *> used;
    for (unsigned number : each.used)
      if (Node *node = request.arguments[number]->getNode();
          !node->operands.empty())
        used.push_back(node);
    if (used.empty())
      continue;
    if (const Node *target = paths.find(graph, used, ofNumbers(each.by),
                                        ofNumbers(each.byFormer)))
      fail(ErrorKind::OutsideHistory,
           "a recorded function differentiates by a value from " +
               formatLine(target->op->getLoc()) +
               ", of which another one that it uses is made outside");
  }
}

void Session::call(const CallRequest &request, RepeatedCall &repeated,
                   std::optional<std::vector<Var>> &results) {
  checkOwn(request.arguments);
  impl->checkHistories(request, getOutsidePaths());
  impl->checkDonated(request);
  if (auto found = impl->repeatCall(repeated, request)) {
    results = wrapAll(*found);
    for (unsigned number : request.donated)
      giveAway(*request.arguments[number]);
    return;
  }
  // Rebinding would run it.
  impl->prepareUpdates(findRebound(request));
  impl->recordCall(*this, repeated, request, results);
}

void Session::finishCall() { impl->finishCall(); }

bool Session::callAlone(const CallRequest &request, RepeatedCall &repeated,
                        std::optional<std::vector<Var>> &results) {
  checkOwn(request.arguments);
  if (auto found = impl->repeatCall(repeated, request)) {
    results = wrapAll(*found);
    return true;
  }
  if (!isLazy() || !areThere(request))
    return false;
  impl->prepareUpdates(findRebound(request));
  if (!impl->isAlone(request.arguments, impl->findDevice(request.arguments)))
    return false;
  impl->recordCall(*this, repeated, request, results);
  return true;
}
